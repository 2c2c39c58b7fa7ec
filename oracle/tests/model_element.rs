//! Whole modelled elements: on small integers (T0) every declared arithmetic gives the exact sum, whatever its unit, its
//! reduction or its epilogue; and the choices that the model pins beyond that.

use proptest::prelude::*;
use sparse_oracle::arithmetic::{Arithmetic, Epilogue, Flush, Init, Order, Reduction};
use sparse_oracle::exact::{Value, dot_reference};
use sparse_oracle::model::chain;
use sparse_oracle::model::tensor_core::table::ROWS;
use sparse_oracle::model::tensor_core::{TensorCore, chain_padded};
use sparse_oracle::op::scale;
use sparse_oracle::scalar::{decode, encode};
use sparse_oracle::{Precision, Rounding};

const CHAINS: [Reduction; 2] = [Reduction::FmaChain, Reduction::MulAddChain];
const UNITS: [(Precision, Precision); 6] = [
    (Precision::F64, Precision::F64),
    (Precision::F32, Precision::F32),
    (Precision::F32, Precision::F16),
    (Precision::F32, Precision::Bf16),
    (Precision::F16, Precision::F16),
    (Precision::F64, Precision::F32),
];
const EPILOGUES: [Epilogue; 4] =
    [Epilogue::MulThenFma, Epilogue::MulThenAdd, Epilogue::AlphaIntoA, Epilogue::None];

fn small() -> impl Strategy<Value = f64> {
    (-4i32..=4).prop_map(f64::from)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn small_integers_give_the_exact_sum_in_every_arithmetic(
        terms in prop::collection::vec((small(), small()), 0..8),
        alpha in small(),
        beta in small(),
        c in small(),
    ) {
        let (a, b): (Vec<f64>, Vec<f64>) = terms.iter().copied().unzip();
        let sum = dot_reference(&a, &b);
        for (acc, out) in UNITS {
            for reduction in CHAINS {
                for epilogue in EPILOGUES {
                    let mut arithmetic = Arithmetic::chain(reduction, acc, out).epilogue(epilogue);
                    let (mut alpha, mut beta) = (alpha, beta);
                    if epilogue == Epilogue::None {
                        arithmetic.part_mut().init = Init::C;
                        alpha = 1.0;
                        beta = if beta > 0.0 { 1.0 } else { 0.0 };
                    }
                    let exact = scale(&sum, alpha, beta, c);
                    let bits = chain::element(&arithmetic, terms.iter().copied(), (alpha, beta), c, false);
                    let bits = bits.expect("a chain fixes its bits");
                    // -16 * 28 * 4 and the like: within 8 bits of significand only below 256.
                    let total = exact.gauge.approx() + sum.gauge.approx();
                    if total > 256.0 && out == Precision::Bf16 {
                        continue;
                    }
                    let found = sparse_oracle::scalar::decode(bits, out);
                    prop_assert_eq!(Value::from_f64(found), exact.value.clone(), "{:?}", arithmetic);
                    if !exact.value.is_zero() {
                        prop_assert_eq!(bits, exact.value.round(out, Rounding::NearestEven));
                    }
                }
            }
        }
    }
}

fn bits(arithmetic: &Arithmetic, terms: &[(f64, f64)], scaling: (f64, f64), c: f64) -> Option<f64> {
    let bits = chain::element(arithmetic, terms.iter().copied(), scaling, c, false)?;
    Some(sparse_oracle::scalar::decode(bits, arithmetic.out))
}

#[test]
fn undeclared_orders_have_no_model() {
    let terms = [(1.0, 2.0)];
    assert_eq!(bits(&Arithmetic::any(Precision::F32, Precision::F32), &terms, (1.0, 0.0), 0.0), None);
    let mut free = Arithmetic::chain(Reduction::FmaChain, Precision::F32, Precision::F32);
    free.part_mut().order = Order::Free;
    assert_eq!(bits(&free, &terms, (1.0, 0.0), 0.0), None);
    let mut flushing = Arithmetic::chain(Reduction::FmaChain, Precision::F32, Precision::F32);
    flushing.flush = Flush::both(Precision::F32);
    assert_eq!(bits(&flushing, &terms, (1.0, 0.0), 0.0), None);
}

#[test]
fn alpha_zero_gives_beta_c_and_reads_nothing() {
    for epilogue in [Epilogue::MulThenFma, Epilogue::MulThenAdd, Epilogue::AlphaIntoA] {
        let chain = Arithmetic::chain(Reduction::FmaChain, Precision::F32, Precision::F32).epilogue(epilogue);
        let unread = [(f64::NAN, 1.0), (f64::INFINITY, 0.0)];
        for (beta, c, expected) in
            [(2.0, 3.0, 6.0), (1.0, -0.0, -0.0), (-1.0, 0.0, -0.0), (0.0, f64::NAN, 0.0)]
        {
            let found = bits(&chain, &unread, (0.0, beta), c).expect("a chain");
            assert_eq!(found.to_bits(), f64::to_bits(expected), "{epilogue:?} beta {beta} c {c}");
        }
    }
}

#[test]
fn a_chain_starts_from_plus_zero_and_zeros_have_their_signs() {
    let fma = Arithmetic::chain(Reduction::FmaChain, Precision::F32, Precision::F32);
    let sign = |arithmetic: &Arithmetic, terms: &[(f64, f64)], scaling, c| {
        bits(arithmetic, terms, scaling, c).map(f64::to_bits)
    };
    assert_eq!(sign(&fma, &[], (1.0, 0.0), 0.0), Some(0), "an empty row is +0");
    assert_eq!(sign(&fma, &[(-1.0, 0.0)], (1.0, 0.0), 0.0), Some(0), "+0 + -0 is +0");
    let minus_zero = Some((-0.0f64).to_bits());
    assert_eq!(sign(&fma, &[(-1.0, 0.0)], (-1.0, 0.0), 0.0), minus_zero, "-1 * +0");
    let tiny = 2.0f64.powi(-100);
    assert_eq!(sign(&fma, &[(-tiny, tiny)], (1.0, 0.0), 0.0), minus_zero, "a fused step underflows to -0");
    let separate = Arithmetic::chain(Reduction::MulAddChain, Precision::F32, Precision::F32);
    assert_eq!(sign(&separate, &[(-tiny, tiny)], (1.0, 0.0), 0.0), Some(0), "a separate one adds it to +0");
}

#[test]
fn fused_and_separate_chains_differ_where_a_product_is_inexact() {
    let x = 1.0 + 2.0f64.powi(-23);
    let terms = [(-1.0, 1.0 + 2.0f64.powi(-22)), (x, x)];
    let fma = Arithmetic::chain(Reduction::FmaChain, Precision::F32, Precision::F32);
    let separate = Arithmetic::chain(Reduction::MulAddChain, Precision::F32, Precision::F32);
    assert_eq!(bits(&fma, &terms, (1.0, 0.0), 0.0), Some(2.0f64.powi(-46)));
    assert_eq!(bits(&separate, &terms, (1.0, 0.0), 0.0), Some(0.0));
}

/// A term of a padded row: mostly a zero of either sign on one side, else two numbers of every type (e5m2 has 3 bits).
fn padded() -> impl Strategy<Value = (f64, f64)> {
    let number = (-7i32..=7, -6i32..=3).prop_map(|(n, e)| f64::from(n) * f64::from(e).exp2());
    let zero = prop::sample::select(vec![0.0, -0.0]);
    prop_oneof![
        3 => (zero, number.clone()),
        1 => (number.clone(), prop::sample::select(vec![0.0, -0.0])),
        2 => (number.clone(), number),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// The model leaves out products with a zero, and steps of zeros alone but for one. Here the instructions are run one by one, on
    /// every slot, zeros and their signs as they are: the bits must be the same, from an initial C too. Most show only where no
    /// product is left to hide them, so that half of the elements are zeros alone.
    #[test]
    fn zeros_that_the_model_leaves_out_change_no_bits(
        zeros in prop::sample::select(vec![0usize, 1, 8, 17, 40]),
        numbers in prop_oneof![Just(Vec::new()), prop::collection::vec(padded(), 1..80)],
        start in prop::sample::select(vec![0.0, -0.0, 1.0, -3.0, 1.0 + 2.0f64.powi(-20), 2049.5, -0.1]),
    ) {
        let mut terms = vec![(-0.0, 1.0); zeros];
        terms.extend(numbers);
        prop_assume!(!terms.is_empty());
        for row in ROWS {
            let Some(&architecture) = row.architectures.first() else { continue };
            for instruction in row.instructions() {
                let core = TensorCore::new(architecture, instruction).expect("in the table");
                let (input, acc) = (instruction.input, instruction.acc);
                let to = |v: f64, p: Precision| encode(v, p, Rounding::NearestEven);
                let c = decode(to(start, acc), acc);
                let (a, b): (Vec<u64>, Vec<u64>) = terms.iter().map(|&(a, b)| (to(a, input), to(b, input))).unzip();
                let expected = chain_padded(&core, to(c, acc), &a, &b).expect("equal lengths");
                let declared = Arithmetic::mma(Some(architecture), instruction, acc).from_c();
                let found = chain::element(&declared, terms.iter().copied(), (1.0, 1.0), c, false);
                prop_assert_eq!(found, Some(expected), "{} on {}", instruction, architecture.name());
            }
        }
    }
}

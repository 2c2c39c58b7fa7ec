//! Whole products by a tensor-core model: bit for bit the one-element model, whatever the operands are.

use proptest::prelude::{ProptestConfig, Strategy, any, prop, proptest};
use proptest::{prop_assert_eq, prop_oneof};
use sparse_oracle::arithmetic::{Architecture, Engine, Instruction};
use sparse_oracle::format::{Csr, CsrParts, Dense};
use sparse_oracle::model::ModelError;
use sparse_oracle::model::tensor_core::table::ROWS;
use sparse_oracle::model::tensor_core::{ModelSpmm, PAD, TensorCore, chain_padded};
use sparse_oracle::prelude::*;
use sparse_oracle::{F16, Precision, Scalar, with_scalar};

/// Every instruction of the table on every architecture that has it.
fn cores() -> Vec<TensorCore> {
    let mut cores = Vec::new();
    for row in ROWS {
        for instruction in row.instructions() {
            let all = row.architectures.iter();
            cores.extend(all.map(|&a| TensorCore::new(a, instruction).expect("in the table")));
        }
    }
    cores
}

/// Bit patterns that collide in exponent, and those that do not: a fraction of them special.
fn element(precision: Precision) -> impl Strategy<Value = u64> + Clone {
    let spec = precision.spec();
    let storage = u64::MAX >> (64 - spec.storage_bits);
    let fraction = match precision {
        Precision::Tf32 => 23,
        _ => spec.significand - 1,
    };
    let bias = (1 - spec.emin) as u64;
    let sign = spec.storage_bits - 1;
    let near = (any::<u64>(), 0..8u64).prop_map(move |(bits, step)| {
        let field = (bias + step).saturating_sub(4);
        (bits & 1) << sign | field << fraction | (bits >> 1 & ((1 << fraction) - 1))
    });
    prop_oneof![
        12 => near,
        2 => any::<u64>().prop_map(move |bits| bits & storage & !(1 << (sign - 1))),
        1 => any::<u64>().prop_map(move |bits| bits & (1 << sign | ((1 << fraction) - 1))),
        1 => any::<u64>().prop_map(move |bits| bits & storage),
        1 => any::<bool>().prop_map(move |negative| u64::from(negative) << sign),
    ]
}

const B_ROWS: usize = 9;

/// One instruction, B, and for some rows of C the accumulators and terms.
#[derive(Clone, Debug)]
struct Product {
    core: TensorCore,
    cols: usize,
    b: Vec<u64>,
    acc: Vec<u64>,
    terms: Vec<(u32, u64)>,
}

fn product() -> impl Strategy<Value = Product> {
    let cores = cores();
    (prop::sample::select(cores), 1..40usize).prop_flat_map(|(core, cols)| {
        let input = element(core.instruction().input);
        let row = prop_oneof![9 => 0..B_ROWS as u32, 1 => proptest::prelude::Just(PAD)];
        (
            prop::collection::vec(input.clone(), B_ROWS * cols),
            prop::collection::vec(element(core.instruction().acc), cols),
            prop::collection::vec((row, input), 0..70),
        )
            .prop_map(move |(b, acc, terms)| Product { core, cols, b, acc, terms })
    })
}

fn panel<T: Scalar>(product: &Product) -> Vec<u64> {
    let b = Dense::from_fn(B_ROWS, product.cols, |i, j| T::from_bits64(product.b[i * product.cols + j]));
    let model = ModelSpmm::new(product.core, &b).expect("the type fits");
    let mut acc = product.acc.clone();
    model.accumulate(&product.terms, &mut acc).expect("the shape fits");
    acc
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn panels_are_bit_identical_to_single_elements(product in product()) {
        let input = product.core.instruction().input;
        let found = with_scalar!(input, T => panel::<T>(&product));
        for (col, &found) in found.iter().enumerate() {
            let of = |&(row, a): &(u32, u64)| match row {
                PAD => (0, 0),
                row => (a, product.b[row as usize * product.cols + col]),
            };
            let (a, b): (Vec<u64>, Vec<u64>) = product.terms.iter().map(of).unzip();
            let expected = chain_padded(&product.core, product.acc[col], &a, &b).expect("equal lengths");
            prop_assert_eq!(found, expected, "column {}", col);
        }
    }
}

fn hopper() -> TensorCore {
    let f16 = Instruction::mma((16, 8, 16), Precision::F32, Precision::F16);
    TensorCore::new(Architecture::Sm90, f16).expect("in the table")
}

/// A row of 20 ones against 20 rows of B: two instructions, 20 exactly.
#[test]
fn rows_of_a_csr_matrix_are_cut_into_instructions() {
    let one = F16::from_f64(1.0);
    let a = Csr::try_new(CsrParts {
        rows: 3,
        cols: 20,
        row_ptr: vec![0, 20, 20, 21],
        col_idx: (0..20).chain([3]).collect(),
        values: vec![one; 21],
    })
    .expect("canonical");
    let b = Dense::from_fn(20, 33, |_, j| F16::from_f64(1.0 + j as f64));
    let mut rows = Vec::new();
    ModelSpmm::new(hopper(), &b)
        .expect("f16")
        .for_each_row(&a, |row, bits| rows.push((row, bits.to_vec())))
        .expect("the shape fits");
    let line = |factor: f64| {
        (0..33).map(|j| u64::from((((1.0 + f64::from(j)) * factor) as f32).to_bits())).collect::<Vec<_>>()
    };
    assert_eq!(rows, [(0, line(20.0)), (1, line(0.0)), (2, line(1.0))]);
}

#[test]
fn what_does_not_fit_is_refused() {
    let b = Dense::from_fn(4, 2, |_, _| F16::from_f64(1.0));
    let model = ModelSpmm::new(hopper(), &b).expect("f16");
    let mut acc = [0; 2];
    assert_eq!(model.accumulate(&[(4, 0)], &mut acc), Err(ModelError::Row { row: 4, rows: 4 }));
    assert!(matches!(
        model.accumulate(&[], &mut [0; 3]),
        Err(ModelError::Shape { expected: 2, found: 3, .. })
    ));
    let wide = Dense::from_fn(4, 2, |_, _| 1.0f32);
    assert!(matches!(ModelSpmm::new(hopper(), &wide), Err(ModelError::Input { found: Precision::F32, .. })));
    let empty = Csr::<F16>::try_new(CsrParts {
        rows: 1,
        cols: 3,
        row_ptr: vec![0, 0],
        col_idx: vec![],
        values: vec![],
    })
    .expect("canonical");
    assert!(matches!(model.for_each_row(&empty, |_, _| {}), Err(ModelError::Shape { .. })));
    // f32 words are taken as tf32: the low bits are not read.
    let tf32 = hopper().instruction();
    let tf32 = Instruction { k: 8, input: Precision::Tf32, engine: Engine::Mma, ..tf32 };
    let tf32 = TensorCore::new(Architecture::Sm90, tf32).expect("in the table");
    let mut low = [0u64; 2];
    let words = Dense::from_fn(1, 2, |_, j| f32::from_bits(0x3f80_0000 + j as u32 * 0x1fff));
    ModelSpmm::new(tf32, &words).expect("f32").accumulate(&[(0, 0x3f80_1fff)], &mut low).expect("fits");
    assert_eq!(low, [0x3f80_0000; 2]);
}

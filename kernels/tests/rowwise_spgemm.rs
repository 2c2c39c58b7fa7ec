//! Row-wise SpGEMM against the plain portable kernel: the same pattern, order and bits, whatever accumulator a row gets and
//! however many threads there are.

use crate::support;
use sparse_oracle::prelude::*;

use proptest::prelude::*;
use rayon::ThreadPoolBuilder;
use sparse_kernels::registry::kernel;
use sparse_kernels::{Engine, Kernel, KernelName, all_kernels};
use sparse_oracle::Precision;
use sparse_oracle::contract::Op;
use sparse_oracle::format::{AnySparse, Entries, Entry, FormatKind, FormatParams};
use sparse_oracle::scalar::decode;
use sparse_oracle::task::{Answer, Task};
use std::collections::BTreeSet;
use support::{Rng, entries};

fn rowwise() -> impl Iterator<Item = &'static Kernel> {
    all_kernels().iter().filter(|k| k.name.ends_with("__portable_rowwise"))
}

fn plain(of: &Kernel) -> &'static Kernel {
    kernel(&KernelName::plain(of.contract, Engine::Portable).to_string()).expect("the plain kernel")
}

fn encode(kernel: &Kernel, e: &Entries<f64>) -> AnySparse {
    let (precision, format) = (kernel.contract.types.a, kernel.contract.format);
    AnySparse::from_f64(precision, format, FormatParams::default(), e).expect("encodes")
}

type Found = (usize, usize, Vec<u32>, Vec<u32>, Vec<u64>);

/// The product's arrays; every NaN alike.
fn product(kernel: &Kernel, a: &AnySparse, b: &AnySparse) -> Found {
    let Ok(Answer::Sparse(raw)) = (kernel.run)(Task::Spgemm { a, b }) else {
        panic!("{} refused", kernel.name)
    };
    let values = raw.values.as_slice();
    let bits = |at| match values.bits(at) {
        nan if decode(nan, kernel.contract.types.out).is_nan() => u64::MAX,
        bits => bits,
    };
    let bits = (0..raw.indices.len()).map(bits).collect();
    raw.clone().check().expect("offsets ascend, indices ascend in each lane");
    (raw.rows, raw.cols, raw.offsets.clone(), raw.indices.clone(), bits)
}

/// Numbers, and now and then what is special.
fn value(rng: &mut Rng) -> f64 {
    match rng.below(40) {
        0 => -0.0,
        1 => f64::INFINITY,
        2 => f64::NAN,
        3 | 4 => 1.0,
        5 | 6 => -1.0,
        _ => rng.real(),
    }
}

/// `lengths` entries in each row, columns below `cols`, every `stride`-th only.
fn wide(rng: &mut Rng, lengths: &[u64], cols: usize, stride: u64) -> Entries<f64> {
    let mut list = Vec::new();
    for (row, &length) in (0u32..).zip(lengths) {
        let columns: BTreeSet<u32> =
            (0..length).map(|_| (rng.below(cols as u64 / stride) * stride) as u32).collect();
        list.extend(columns.into_iter().map(|col| Entry { row, col, value: value(rng) }));
    }
    Entries { rows: lengths.len(), cols, list }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn small_products(
        m in 0usize..9, k in 0usize..12, n in 0usize..40, density in 0u64..100, seed: u64,
    ) {
        let mut rng = Rng(seed);
        for kernel in rowwise() {
            let a = encode(kernel, &entries(&mut rng, m, k, density, value));
            let b = encode(kernel, &entries(&mut rng, k, n, 100 - density / 2, value));
            prop_assert_eq!(product(kernel, &a, &b), product(plain(kernel), &a, &b), "{}", kernel.name);
        }
    }
}

/// Rows of A with no, one, a few and many entries, so that each accumulator has its turn: copies and sorts for short rows,
/// one slot per column where the matrix is narrow, hashing where it is wide, and tables that grow.
#[test]
fn every_accumulator_gives_the_same_bits() {
    let mut rng = Rng(3);
    let lengths_a = [0, 1, 2, 3, 9, 40, 1, 200, 0, 60, 4, 150];
    for kernel in rowwise().filter(|k| k.contract.format == FormatKind::Csr) {
        for (cols, stride) in [(600, 1), (5_000, 3), (3_000_000, 1), (u32::MAX as usize, 4_000_001)] {
            let a = encode(kernel, &wide(&mut rng, &lengths_a, 250, 1));
            let lengths_b: Vec<u64> = (0..250).map(|_| rng.below(30)).collect();
            let b = encode(kernel, &wide(&mut rng, &lengths_b, cols, stride));
            let wanted = product(plain(kernel), &a, &b);
            assert!(wanted.3.len() > 300, "too few entries to tell: {}", wanted.3.len());
            assert_eq!(product(kernel, &a, &b), wanted, "{} {cols}", kernel.name);
        }
    }
}

/// Lanes of 2 to 60 products, around the widths of blocks that are ranked at the same time and the longest lane that is ranked: all
/// columns distinct, a few equal, all equal; the last column among them, next to what blocks are filled up with.
#[test]
fn short_lanes_with_distinct_and_with_equal_columns() {
    let mut rng = Rng(9);
    let mut compared = 0;
    for kernel in rowwise().filter(|k| [Precision::F64, Precision::F16].contains(&k.contract.types.a)) {
        for cols in [1u64, 7, 90, u64::from(u32::MAX)] {
            // Lane i of A picks lanes 0..i of B, which have one or two entries.
            let picks: Vec<Entry<f64>> = (0..40u32)
                .flat_map(|row| (0..row).map(move |col| (row, col)))
                .map(|(row, col)| Entry { row, col, value: value(&mut rng) })
                .collect();
            let a = Entries { rows: 40, cols: 40, list: picks };
            let mut list = Vec::new();
            for row in 0..40u32 {
                let (first, last) = (rng.below(cols.min(1 << 30)) as u32, (cols - 1) as u32);
                let columns = BTreeSet::from([first, if row % 3 == 0 { last } else { first }]);
                list.extend(columns.into_iter().map(|col| (row, col)));
            }
            let list = list.into_iter().map(|(row, col)| Entry { row, col, value: value(&mut rng) });
            let b = Entries { rows: 40, cols: cols as usize, list: list.collect() };
            // Columns of a CSC product pick: there the product is that of the transposes.
            let (a, b) = match kernel.contract.format {
                FormatKind::Csr => (a, b),
                _ => (b.transpose(), a.transpose()),
            };
            let (a, b) = (encode(kernel, &a), encode(kernel, &b));
            let wanted = product(plain(kernel), &a, &b);
            assert_eq!(product(kernel, &a, &b), wanted, "{} {cols}", kernel.name);
            compared += wanted.4.len();
        }
    }
    assert!(compared > 1000, "{compared} entries compared");
}

#[test]
fn threads_change_nothing() {
    let mut rng = Rng(4);
    let lengths: Vec<u64> = (0..2_000).map(|row| if row % 97 == 5 { 300 } else { rng.below(12) }).collect();
    for kernel in rowwise().filter(|k| [Precision::F64, Precision::F16].contains(&k.contract.types.a)) {
        let a = encode(kernel, &wide(&mut rng, &lengths, 2_000, 1));
        let wanted = product(plain(kernel), &a, &a);
        for threads in [1, 2, 3, 7] {
            let pool = ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
            let found = pool.install(|| product(kernel, &a, &a));
            assert_eq!(found, wanted, "{} {threads}", kernel.name);
        }
    }
}

#[test]
fn there_is_one_for_each_contract() {
    let contracts: BTreeSet<_> = all_kernels()
        .iter()
        .filter(|k| k.contract.op == Op::Spgemm && k.name.ends_with("__portable"))
        .map(|k| k.contract)
        .collect();
    assert_eq!(rowwise().map(|k| k.contract).collect::<BTreeSet<_>>(), contracts);
}

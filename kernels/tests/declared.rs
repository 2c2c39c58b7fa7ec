//! The declarations are true: on operands where every rounding shows, each arithmetic kernel returns the very bits that
//! the oracle's model of its declared chain gives. SDDMM and SpGEMM have their shapes and patterns tested here too.

use crate::support;
use sparse_oracle::prelude::*;

use sparse_kernels::{Kernel, kernels_here};
use sparse_oracle::arithmetic::{Arithmetic, Pads, Reduction, Slot};
use sparse_oracle::contract::Op;
use sparse_oracle::each_sparse;
use sparse_oracle::format::{AnySparse, Entries, Entry, FormatKind, FormatParams, PAD, Sparse};
use sparse_oracle::model::chain;
use sparse_oracle::model::reduction::Model;
use sparse_oracle::op::input;
use sparse_oracle::scalar::{Precision, Scalar, Values, decode};
use sparse_oracle::task::{Answer, SddmmMode, Task};
use std::collections::BTreeMap;
use support::{Dense, LAYOUTS, Rng, coo, encode, entries, kept_slots};

/// alpha and beta; exact in every accumulator type.
const FACTORS: [(f64, f64); 4] = [(1.0, 0.0), (-0.75, 0.0), (1.0, 1.0), (1.625, -0.3125)];
const BLOCKS: FormatParams = FormatParams::blocks(3, 2);

/// Columns and values of each row of op(A), multiplied pads included.
type Rows = Vec<BTreeMap<usize, f64>>;

fn rows_of(kernel: &Kernel, a: &AnySparse, transpose: bool) -> Rows {
    let e = a.entries_f64();
    let (rows, cols) = if transpose { (e.cols, e.rows) } else { (e.rows, e.cols) };
    let mut table: Rows = vec![BTreeMap::new(); rows];
    let mut put = |i: usize, j: usize, value: f64| {
        let (i, j) = if transpose { (j, i) } else { (i, j) };
        assert!(i < rows && j < cols);
        table[i].insert(j, value);
    };
    let (height, breadth) = (BLOCKS.block_rows as usize, BLOCKS.block_cols as usize);
    let multiplied = kernel.arithmetic.part().pads == Pads::Multiplied;
    if multiplied && matches!(a.kind(), FormatKind::Nm | FormatKind::TwoFour) {
        // Found on a GPU: a matrix unit's blocks hold the kept slots without an entry too, which blocks of BCSR are not.
        for (row, col) in kept_slots(a) {
            put(row as usize, col as usize, 0.0);
        }
    } else if multiplied {
        for entry in &e.list {
            let (top, left) = (entry.row as usize / height * height, entry.col as usize / breadth * breadth);
            for i in top..(top + height).min(e.rows) {
                (left..(left + breadth).min(e.cols)).for_each(|j| put(i, j, 0.0));
            }
        }
    }
    let rounding = kernel.arithmetic.part().input;
    for entry in &e.list {
        put(entry.row as usize, entry.col as usize, input(entry.value, rounding));
    }
    table
}

/// The terms of each row of a hybrid's matrix with their places, pads of tiles included: what its model asks for.
fn placed_rows(a: &AnySparse) -> Vec<Vec<(usize, f64, Slot)>> {
    each_sparse!(a, m => match m {
        Sparse::Loops(m) => (0..m.rows).map(|row| {
            let Some(below) = row.checked_sub(m.boundary) else {
                let entries = m.row_ptr[row] as usize..m.row_ptr[row + 1] as usize;
                return entries.zip(0..).map(|(e, at)| {
                    (m.col_idx[e] as usize, m.csr_values[e].to_f64(), Slot { in_tile: false, at })
                }).collect();
            };
            let (block, r) = (below / m.br, below % m.br);
            let tiles = m.block_ptr[block] as usize..m.block_ptr[block + 1] as usize;
            tiles.zip(0..).map(|(t, at)| {
                (m.block_col[t] as usize, m.values[t * m.br + r].to_f64(), Slot { in_tile: true, at })
            }).collect()
        }).collect(),
        Sparse::RsTile(m) => {
            let mut rows = Placed::new(a);
            for (window, ends) in m.window_block_ptr.windows(2).enumerate() {
                let cols = &m.block_col[8 * ends[0] as usize..8 * ends[1] as usize];
                (0..8).for_each(|r| rows.put(m.window_row[window] as usize + r, true, cols));
            }
            for (at, &row) in m.residual_row.iter().enumerate() {
                let slots = at * m.residual_width..(at + 1) * m.residual_width;
                rows.put(row as usize, false, &m.residual_col[slots]);
            }
            rows.list
        }
        Sparse::LibraSpmm(m) => {
            let mut rows = Placed::new(a);
            for row in 0..m.rows {
                rows.put(row, false, &m.col_idx[m.row_ptr[row] as usize..m.row_ptr[row + 1] as usize]);
                let ends = &m.window_block_ptr[row / 8..];
                rows.put(row, true, &m.block_col[m.kb * ends[0] as usize..m.kb * ends[1] as usize]);
            }
            rows.list
        }
        other => panic!("no hybrid is known for {}", other.kind().name()),
    })
}

/// Rows whose terms are given by the columns of a part, in the order of their places.
struct Placed {
    values: BTreeMap<(usize, u32), f64>,
    list: Vec<Vec<(usize, f64, Slot)>>,
}

impl Placed {
    fn new(a: &AnySparse) -> Placed {
        let e = a.entries_f64();
        Placed {
            values: e.list.iter().map(|e| ((e.row as usize, e.col), e.value)).collect(),
            list: vec![Vec::new(); e.rows],
        }
    }

    /// A slot of a tile without an entry is a pad; an entry of the rest is not one of the tile as well.
    fn put(&mut self, row: usize, in_tile: bool, cols: &[u32]) {
        let Some(list) = self.list.get_mut(row) else {
            return;
        };
        for (at, &col) in (0u32..).zip(cols).filter(|(_, col)| **col != PAD) {
            if list.iter().all(|term| term.0 != col as usize) {
                let value = self.values.get(&(row, col)).copied().unwrap_or(0.0);
                list.push((col as usize, value, Slot { in_tile, at }));
            }
        }
    }
}

/// What a hybrid gives for terms with places.
fn modelled_parts(
    kernel: &Kernel,
    row: &[(usize, f64, Slot)],
    right: impl Fn(usize) -> f64,
    factors: (f64, f64),
    c: f64,
) -> u64 {
    let slots: Vec<Slot> = row.iter().map(|term| term.2).collect();
    let rounding = kernel.arithmetic.part().input;
    let terms = row.iter().map(|&(k, value, _)| (input(value, rounding), right(k)));
    let model = Model::new(&kernel.arithmetic);
    let bits = model.and_then(|mut model| model.element(terms, Some(&slots), factors, c, false));
    bits.expect("a deterministic declaration")
}

/// The kernels of this machine whose declarations fix bits: all but those on a matrix unit of an unknown architecture.
fn with_bits() -> impl Iterator<Item = &'static Kernel> {
    let (fixed, free): (Vec<&Kernel>, Vec<&Kernel>) =
        kernels_here().partition(|k| k.arithmetic.is_deterministic());
    if !free.is_empty() {
        eprintln!("SKIPPED: {} kernels whose declarations fix no bits here", free.len());
    }
    fixed.into_iter()
}

fn modelled(kernel: &Kernel, terms: &[(f64, f64)], factors: (f64, f64), c: f64) -> u64 {
    modelled_with(kernel, terms, factors, c, false)
}

/// SDDMM that scales by S multiplies by an explicit zero too: `computes_zero`.
fn modelled_with(
    kernel: &Kernel,
    terms: &[(f64, f64)],
    factors: (f64, f64),
    c: f64,
    computes_zero: bool,
) -> u64 {
    chain::element(&kernel.arithmetic, terms.iter().copied(), factors, c, computes_zero)
        .expect("a deterministic declaration")
}

#[track_caller]
fn assert_bits(kernel: &Kernel, found: u64, wanted: u64, what: &str) {
    let out = kernel.contract.types.out;
    let both_nan = decode(found, out).is_nan() && decode(wanted, out).is_nan();
    assert!(found == wanted || both_nan, "{} {what}: found 0x{found:x}, modelled 0x{wanted:x}", kernel.name);
}

/// A matrix whose COO form repeats positions.
fn operand(rng: &mut Rng, kernel: &Kernel, rows: usize, cols: usize) -> AnySparse {
    let (types, format) = (kernel.contract.types, kernel.contract.format);
    let mut e = entries(rng, rows, cols, 45, Rng::real);
    if format == FormatKind::Coo {
        let repeated: Vec<Entry<f64>> =
            e.list.iter().step_by(3).map(|e| Entry { value: e.value / 3.0, ..*e }).collect();
        e.list.extend(repeated);
    }
    encode(rng, types.a, format, BLOCKS, &e)
}

#[test]
fn spmm_and_spmv_round_as_declared() {
    let mut rng = Rng(11);
    let (rows, cols, n) = (11, 13, 9);
    for kernel in with_bits().filter(|k| matches!(k.contract.op, Op::Spmm | Op::Spmv)) {
        let types = kernel.contract.types;
        for transpose_a in [false, true] {
            // A transposed hybrid has no tiles along its rows, and its bits are not declared.
            let hybrid = kernel.arithmetic.parts.second().is_some();
            if hybrid && transpose_a {
                continue;
            }
            let a = operand(&mut rng, kernel, rows, cols);
            let table = rows_of(kernel, &a, transpose_a);
            let placed = if hybrid { placed_rows(&a) } else { Vec::new() };
            let (m, k) = if transpose_a { (cols, rows) } else { (rows, cols) };
            let n = if kernel.contract.op == Op::Spmv { 1 } else { n };
            for (alpha, beta) in FACTORS {
                let b = Dense::new(types.b, (k, n), LAYOUTS[0], 0, || rng.real());
                let mut c = Dense::new(types.out, (m, n), LAYOUTS[0], 0, || rng.real());
                let before = c.clone();
                let task = match kernel.contract.op {
                    Op::Spmm => Task::Spmm {
                        a: &a,
                        transpose_a,
                        b: b.as_ref(),
                        transpose_b: false,
                        alpha,
                        beta,
                        c: c.as_mut(),
                    },
                    _ => {
                        let (x, y) = (b.data.as_slice(), c.data.as_mut_slice());
                        Task::Spmv { a: &a, transpose_a, x, alpha, beta, y }
                    }
                };
                assert_eq!((kernel.run)(task), Ok(Answer::Written));
                for (i, j) in (0..m).flat_map(|i| (0..n).map(move |j| (i, j))) {
                    let right = |k: usize| input(b.at(k, j), kernel.arithmetic.part().input);
                    let terms: Vec<(f64, f64)> = table[i].iter().map(|(&k, &a)| (a, right(k))).collect();
                    let wanted = match placed.get(i) {
                        Some(row) => modelled_parts(kernel, row, right, (alpha, beta), before.at(i, j)),
                        None => modelled(kernel, &terms, (alpha, beta), before.at(i, j)),
                    };
                    assert_bits(
                        kernel,
                        c.bits(i, j),
                        wanted,
                        &format!("{transpose_a} {alpha} {beta} ({i}, {j})"),
                    );
                }
            }
        }
    }
}

#[test]
fn fused_and_separate_steps_differ_here() {
    // Without this, the test above could not tell the two declarations apart.
    let mut rng = Rng(12);
    let differs = (0..200).filter(|_| {
        let terms: Vec<(f64, f64)> =
            (0..6).map(|_| (f64::from(rng.real() as f32), f64::from(rng.real() as f32))).collect();
        let bits = |reduction| {
            let arithmetic = Arithmetic::chain(reduction, Precision::F32, Precision::F32);
            chain::element(&arithmetic, terms.iter().copied(), (1.0, 0.0), 0.0, false)
        };
        bits(Reduction::FmaChain) != bits(Reduction::MulAddChain)
    });
    let share = differs.count();
    assert!(share > 50, "only {share} of 200 chains tell the two apart");
}

/// Stored positions and values of S, in order.
fn stored(s: &AnySparse) -> Vec<(usize, usize, f64)> {
    each_sparse!(s, m => match m {
        Sparse::Coo(m) => (0..m.nnz()).map(|p| (m.row_idx[p] as usize, m.col_idx[p] as usize, m.values[p].to_f64())).collect(),
        other => other.entries().list.iter().map(|e| (e.row as usize, e.col as usize, e.value.to_f64())).collect(),
    })
}

#[test]
fn sddmm_rounds_as_declared() {
    let mut rng = Rng(13);
    // Which outputs of a hybrid SDDMM are in tiles, its format says and CSR does not: `cuda_rsh_libra` has it.
    for (kernel, k) in with_bits()
        .filter(|k| k.contract.op == Op::Sddmm && k.arithmetic.parts.second().is_none())
        .flat_map(|kernel| [(kernel, 9), (kernel, 0)])
    {
        let types = kernel.contract.types;
        let mut e = entries(&mut rng, 6, 8, 40, Rng::real);
        if kernel.contract.format == FormatKind::Coo {
            e.list.extend_from_within(..3);
        }
        // Explicit zeros of both signs are factors like any other.
        e.list.iter_mut().zip([0.0, -0.0]).for_each(|(e, zero)| e.value = zero);
        let s = encode(&mut rng, types.out, kernel.contract.format, BLOCKS, &e);
        let positions = stored(&s);
        for (round, mode) in [SddmmMode::Pattern, SddmmMode::Scale, SddmmMode::AddS].into_iter().enumerate() {
            for (alpha, beta) in FACTORS {
                let alpha = if mode == SddmmMode::Scale { 1.0 } else { alpha };
                let x = Dense::new(types.a, (6, k), LAYOUTS[round % 2], round, || rng.real());
                let y = Dense::new(types.b, (8, k), LAYOUTS[(round + 1) % 2], 2 - round, || rng.real());
                let mut out = Values::from_f64(types.out, &vec![f64::NAN; positions.len()]);
                let task = Task::Sddmm {
                    s: &s,
                    x: x.as_ref(),
                    y: y.as_ref(),
                    alpha,
                    beta,
                    mode,
                    out: out.as_mut_slice(),
                };
                assert_eq!((kernel.run)(task), Ok(Answer::Written));
                for (p, &(i, j, value)) in positions.iter().enumerate() {
                    let rounded = |v: f64| input(v, kernel.arithmetic.part().input);
                    let terms: Vec<(f64, f64)> =
                        (0..k).map(|t| (rounded(x.at(i, t)), rounded(y.at(j, t)))).collect();
                    let wanted = match mode {
                        SddmmMode::Pattern => modelled(kernel, &terms, (alpha, 0.0), 0.0),
                        SddmmMode::Scale => modelled_with(kernel, &terms, (value, 0.0), 0.0, true),
                        SddmmMode::AddS => modelled(kernel, &terms, (alpha, beta), value),
                    };
                    assert_bits(
                        kernel,
                        out.as_slice().bits(p),
                        wanted,
                        &format!("{mode:?} {alpha} {beta} {p}"),
                    );
                }
            }
        }
    }
}

#[test]
fn sddmm_scale_multiplies_by_explicit_zeros_and_alpha_zero_reads_nothing() {
    let kernel = sparse_kernels::registry::kernel("sddmm_coo_f32_f32_f32_f32__portable").expect("registered");
    let entry = |value: f64| Entry { row: 0, col: 0, value };
    let s = coo(Precision::F32, 1, 1, &[entry(0.0), entry(2.0)]);
    let run = |x: f64, alpha: f64, mode: SddmmMode| {
        let x = Dense::new(Precision::F32, (1, 1), LAYOUTS[0], 0, || x);
        let y = Dense::new(Precision::F32, (1, 1), LAYOUTS[0], 0, || 3.0);
        let mut out = Values::from_f64(Precision::F32, &[9.0, 9.0]);
        let (x, y) = (x.as_ref(), y.as_ref());
        let task = Task::Sddmm { s: &s, x, y, alpha, beta: 1.0, mode, out: out.as_mut_slice() };
        assert_eq!((kernel.run)(task), Ok(Answer::Written));
        out.to_f64()
    };
    assert_eq!(run(1.0, 1.0, SddmmMode::Scale), [0.0, 6.0]);
    assert!(run(f64::NAN, 1.0, SddmmMode::Scale).iter().all(|v| v.is_nan()));
    assert_eq!(run(f64::NAN, 0.0, SddmmMode::Scale), [0.0, 0.0]);
    assert_eq!(run(f64::NAN, 0.0, SddmmMode::Pattern), [0.0, 0.0]);
    assert_eq!(run(f64::NAN, 0.0, SddmmMode::AddS), [0.0, 2.0]);
}

#[test]
fn spgemm_rounds_as_declared_and_keeps_structure() {
    let mut rng = Rng(14);
    for kernel in kernels_here().filter(|k| k.contract.op == Op::Spgemm) {
        let (types, format) = (kernel.contract.types, kernel.contract.format);
        for (m, k, n) in [(9, 12, 10), (4, 0, 3), (0, 2, 5), (3, 2, 0), (1, 1, 1)] {
            let mut draw = |rows, cols| {
                let mut e = entries(&mut rng, rows, cols, 35, Rng::real);
                // Integers in the first row, so that some sums cancel.
                e.list.iter_mut().filter(|e| e.row == 0).for_each(|e| e.value = e.value.signum());
                AnySparse::from_f64(types.a, format, BLOCKS, &e).expect("encodes")
            };
            let (a, b) = (draw(m, k), draw(k, n));
            let answer = (kernel.run)(Task::Spgemm { a: &a, b: &b });
            let Ok(Answer::Sparse(raw)) = answer else { panic!("{}: {answer:?}", kernel.name) };
            assert_eq!((raw.kind, raw.rows, raw.cols, raw.values.precision()), (format, m, n, types.out));
            let found = raw.check().expect("sorted, no duplicates");
            let wanted = spgemm_model(kernel, &a.entries_f64(), &b.entries_f64());
            let bits: BTreeMap<(u32, u32), u64> =
                found.entries_bits().list.iter().map(|e| ((e.row, e.col), e.value)).collect();
            assert_eq!(bits.keys().collect::<Vec<_>>(), wanted.keys().collect::<Vec<_>>(), "{}", kernel.name);
            for (at, &wanted) in &wanted {
                assert_bits(kernel, bits[at], wanted, &format!("{at:?}"));
            }
        }
    }
}

fn spgemm_model(kernel: &Kernel, a: &Entries<f64>, b: &Entries<f64>) -> BTreeMap<(u32, u32), u64> {
    let mut terms: BTreeMap<(u32, u32), Vec<(f64, f64)>> = BTreeMap::new();
    let rounded = |v: f64| input(v, kernel.arithmetic.part().input);
    for left in &a.list {
        for right in b.list.iter().filter(|e| e.row == left.col) {
            let list = terms.entry((left.row, right.col)).or_default();
            list.push((rounded(left.value), rounded(right.value)));
        }
    }
    terms.into_iter().map(|(at, terms)| (at, modelled(kernel, &terms, (1.0, 0.0), 0.0))).collect()
}

#[test]
fn a_cancelled_entry_of_spgemm_stays() {
    let kernel =
        sparse_kernels::registry::kernel("spgemm_csr_f64_f64_f64_f64__portable").expect("registered");
    let entry = |row, col, value| Entry { row, col, value };
    let matrix = |rows, cols, list: &[Entry<f64>]| {
        let e = Entries { rows, cols, list: list.to_vec() };
        AnySparse::from_f64(Precision::F64, FormatKind::Csr, BLOCKS, &e).expect("encodes")
    };
    let a = matrix(1, 2, &[entry(0, 0, 1.0), entry(0, 1, 1.0)]);
    let b = matrix(2, 1, &[entry(0, 0, 5.0), entry(1, 0, -5.0)]);
    let Ok(Answer::Sparse(raw)) = (kernel.run)(Task::Spgemm { a: &a, b: &b }) else { panic!("refused") };
    assert_eq!((raw.indices, raw.values), (vec![0], Values::F64(vec![0.0])));
}

#[test]
fn spgemm_needs_no_memory_for_empty_columns() {
    let kernel =
        sparse_kernels::registry::kernel("spgemm_csr_f32_f32_f32_f32__portable").expect("registered");
    let wide = u32::MAX as usize;
    let matrix = |rows, cols, row, col| {
        let e = Entries { rows, cols, list: vec![Entry { row, col, value: 2.0 }] };
        AnySparse::from_f64(Precision::F32, FormatKind::Csr, BLOCKS, &e).expect("encodes")
    };
    let (a, b) = (matrix(2, 3, 1, 2), matrix(3, wide, 2, u32::MAX - 1));
    let Ok(Answer::Sparse(raw)) = (kernel.run)(Task::Spgemm { a: &a, b: &b }) else { panic!("refused") };
    assert_eq!((raw.cols, raw.indices, raw.values), (wide, vec![u32::MAX - 1], Values::F32(vec![4.0])));
}

//! RSH-SpMM, Libra SpMM and Libra SDDMM on a GPU against the oracle's judge: exact operands (T0), the bound (T1) and the very
//! bits (T2), over random tasks of many shapes, on GPUs that a CPU plays and on a real one where there is one.

#![cfg(feature = "cuda")]

use crate::gpus::{OnGpu, on_gpus};
use crate::support;
use sparse_oracle::prelude::*;

use sparse_kernels::Kernel;
use sparse_kernels::cuda::played_kernels;
use sparse_kernels::cuda::source::Source;
use sparse_oracle::Precision;
use sparse_oracle::arithmetic::{Architecture, Order, Slot};
use sparse_oracle::contract::Op;
use sparse_oracle::each_sparse;
use sparse_oracle::format::{
    AnySparse, Csr, Dense as Compact, Entries, Entry, FormatKind, FormatParams, Layout, PAD, Sparse,
};
use sparse_oracle::judge::{Judged, Output, Place, Problem, judge_problem};
use sparse_oracle::model::reduction::Model;
use sparse_oracle::op::input;
use sparse_oracle::profile::Profile;
use sparse_oracle::scalar::Values;
use sparse_oracle::task::{Answer, SddmmMode, Task};
use sparse_oracle::verdict::{Criterion, Verdict};
use sparse_ptx_device::{Player, Texts};
use std::collections::BTreeMap;
use support::{Dense, LAYOUTS, Rng, entries};

const FACTORS: [(f64, f64); 6] =
    [(1.0, 0.0), (1.0, 1.0), (-0.75, 0.0), (1.625, -0.3125), (0.0, 0.5), (0.0, 0.0)];

/// Around every width that the kernels treat apart.
const COLUMNS: [usize; 20] = [1, 3, 4, 7, 8, 9, 16, 17, 31, 32, 33, 48, 63, 64, 65, 100, 128, 129, 200, 321];

/// What the runs showed, printed at the end.
#[derive(Debug, Default)]
struct Seen {
    tasks: usize,
    elements: usize,
    tiers: BTreeMap<Criterion, usize>,
    worst: f64,
}

impl Seen {
    #[track_caller]
    fn judged(&mut self, what: &str, judged: &Judged) {
        self.tasks += 1;
        self.elements += judged.elements;
        for &tier in &judged.tiers {
            *self.tiers.entry(tier).or_default() += 1;
        }
        match &judged.verdict {
            Verdict::Exact => {}
            Verdict::Within { share } => self.worst = self.worst.max(*share),
            other => panic!("{what}: {other:?}"),
        }
    }

    fn report(&self, kernel: &OnGpu, needs_bits: bool) {
        let Seen { tasks, elements, tiers, worst } = self;
        eprintln!(
            "{}: {tasks} tasks, {elements} elements, {tiers:?}, at most {worst:.3} of the bound",
            kernel.title()
        );
        assert!(tiers.contains_key(&Criterion::T0) && tiers.contains_key(&Criterion::T1));
        // An architecture without a model has no T2.
        if needs_bits && kernel.arithmetic.is_deterministic() {
            assert!(tiers.contains_key(&Criterion::T2), "no element was compared bit for bit");
        }
    }
}

/// Every position that a kernel multiplies: its value (none for an unset bit of a tile), and its slot. Row by row.
type Terms = Vec<BTreeMap<u32, (Option<f64>, Slot)>>;

fn terms(a: &AnySparse) -> Terms {
    let e = a.entries_f64();
    let mut rows: Terms = vec![BTreeMap::new(); e.rows];
    let mut put = |row: usize, col: u32, in_tile: bool, at: usize| {
        if let Some(row) = rows.get_mut(row).filter(|_| col != PAD) {
            row.insert(col, (None, Slot { in_tile, at: at as u32 }));
        }
    };
    each_sparse!(a, m => match m {
        Sparse::RsTile(m) => {
            for (window, ends) in m.window_block_ptr.windows(2).enumerate() {
                for (at, &col) in m.block_col[8 * ends[0] as usize..8 * ends[1] as usize].iter().enumerate() {
                    (0..8).for_each(|r| put(m.window_row[window] as usize + r, col, true, at));
                }
            }
            for (at, &col) in m.residual_col.iter().enumerate() {
                put(m.residual_row[at / m.residual_width] as usize, col, false, at % m.residual_width);
            }
        }
        Sparse::LibraSpmm(m) => {
            for (window, ends) in m.window_block_ptr.windows(2).enumerate() {
                for (at, &col) in m.block_col[m.kb * ends[0] as usize..m.kb * ends[1] as usize].iter().enumerate() {
                    (0..8).for_each(|r| put(8 * window + r, col, true, at));
                }
            }
            // A vector may be cut in two: the entries of the rest are where they are stored.
            for row in 0..m.rows {
                let entries = m.row_ptr[row] as usize..m.row_ptr[row + 1] as usize;
                entries.enumerate().for_each(|(at, e)| put(row, m.col_idx[e], false, at));
            }
        }
        other => panic!("no tiles are known for {}", other.kind().name()),
    });
    for entry in &e.list {
        let term =
            rows[entry.row as usize].get_mut(&entry.col).expect("an entry is in a tile or in the rest");
        term.0 = Some(entry.value);
    }
    rows
}

/// Judges C = alpha * A * B + beta * C; `b` as stored. Tiles and the rest may round their operands differently: the rest has the second half of
/// all columns of A and rows of B.
fn judge_spmm(
    kernel: &Kernel,
    a: &AnySparse,
    transpose_a: bool,
    b: &Compact<f64>,
    factors: (f64, f64),
    (before, after): (&Dense, &Dense),
) -> Judged {
    let of_tiles = kernel.arithmetic.part().input;
    let of_rest = kernel.arithmetic.parts.second().expect("a hybrid").input;
    let (rows, k) = if transpose_a { (a.shape().1, a.shape().0) } else { a.shape() };
    let (mut list, mut pads, mut slots) = (Vec::new(), Vec::new(), Vec::new());
    for (row, terms) in (0u32..).zip(terms(a)) {
        for (col, (value, slot)) in terms {
            let (row, col) = if transpose_a { (col, row) } else { (row, col) };
            let is_rest = transpose_a || !slot.in_tile;
            let (col, rounding) = if is_rest { (col + k as u32, of_rest) } else { (col, of_tiles) };
            slots.push(Entry { row, col, value: slot });
            match value {
                Some(value) => list.push(Entry { row, col, value: input(value, rounding) }),
                None => pads.push(Entry { row, col, value: () }),
            }
        }
    }
    slots.sort_unstable_by_key(|e| (e.row, e.col));
    list.sort_unstable_by_key(|e| (e.row, e.col));
    pads.sort_unstable_by_key(|e| (e.row, e.col));
    let cols = 2 * k;
    let csr = Csr::from_entries(&Entries { rows, cols, list }).expect("entries");
    let pads = Csr::from_entries(&Entries { rows, cols, list: pads }).expect("pads");
    let slots = Csr::from_entries(&Entries { rows, cols, list: slots }).expect("positions");
    let rounding = |row: usize| if row < k { of_tiles } else { of_rest };
    let b = Compact::from_fn(cols, b.cols(), |i, j| input(b.at(i % k, j), rounding(i)));
    let problem =
        Problem::Spmm { a: &csr, pads: Some(&pads), b: &b.into(), slots: (!transpose_a).then_some(&slots) };
    let mut arithmetic = kernel.arithmetic;
    if transpose_a {
        // No tiles lie along the rows of the transpose: no order of terms is told.
        arithmetic.part_mut().order = Order::Free;
    }
    let place = |c: &Dense| match c.layout {
        Layout::RowMajor => Place::Strides(c.ld, 1),
        Layout::ColMajor => Place::Strides(1, c.ld),
    };
    let output = Output {
        found: after.data.as_slice(),
        place: place(after),
        poison: None,
        before: Some(before.data.as_slice()),
        before_place: place(before),
    };
    judge_problem(&problem, &arithmetic, &Profile::default(), factors, &output)
}

/// One product with these operands, judged.
fn spmm(
    kernel: &OnGpu,
    seen: &mut Seen,
    rng: &mut Rng,
    a: &AnySparse,
    n: usize,
    value: fn(&mut Rng) -> f64,
    what: &str,
) {
    let types = kernel.contract.types;
    let factors = FACTORS[rng.below(6) as usize];
    // Most tasks are those that take the fast kernels.
    let plain = rng.below(3) > 0;
    let transpose_a = !plain && rng.below(4) == 0;
    let transpose_b = !plain && rng.below(3) == 0;
    let mut layout = || LAYOUTS[if plain { 0 } else { rng.below(2) as usize }];
    let (layout_b, layout_c) = (layout(), layout());
    let mut pad = || rng.below(10) as usize;
    let (pad_b, pad_c) =
        if plain { (n.next_multiple_of(8) - n, n.next_multiple_of(4) - n) } else { (pad(), pad()) };
    let (rows, cols) = a.shape();
    let (m, k) = if transpose_a { (cols, rows) } else { (rows, cols) };
    let shape = if transpose_b { (n, k) } else { (k, n) };
    let special = rng.below(4) == 0 && factors.0 != 0.0;
    let b = Dense::new(types.b, shape, layout_b, pad_b, || match rng.below(60) {
        0 if special => f64::INFINITY,
        1 if special => f64::NAN,
        2 => 0.0,
        _ => value(rng),
    });
    let mut c = Dense::new(types.out, (m, n), layout_c, pad_c, || value(rng));
    let before = c.clone();
    let task = Task::Spmm {
        a,
        transpose_a,
        b: b.as_ref(),
        transpose_b,
        alpha: factors.0,
        beta: factors.1,
        c: c.as_mut(),
    };
    assert_eq!(kernel.run(task), Ok(Answer::Written), "{what}");
    let what = format!(
        "{} {what} n={n} {factors:?} {layout_b:?} {layout_c:?} A^T {transpose_a} B^T {transpose_b}",
        kernel.title()
    );
    for at in c.padding() {
        assert_eq!(
            c.data.as_slice().bits(at),
            before.data.as_slice().bits(at),
            "{what}: padding of C is written"
        );
    }
    let of_b = |i, j| if transpose_b { b.at(j, i) } else { b.at(i, j) };
    let compact = Compact::from_fn(k, n, of_b);
    seen.judged(&what, &judge_spmm(kernel, a, transpose_a, &compact, factors, (&before, &c)));
}

/// Parameters of the format that lead to different mixtures of its parts.
fn parameters(kind: FormatKind) -> Vec<FormatParams> {
    let plain = FormatParams::DEFAULT;
    if kind == FormatKind::RsTile {
        return [None, Some(0), Some(3), Some(1000)]
            .map(|tau_nnz| FormatParams { tau_nnz, ..plain })
            .to_vec();
    }
    let mut all = Vec::new();
    for (kb, eta, fill) in [
        (8, None, false),
        (4, Some(32), true),
        (16, Some(1), false),
        (16, Some(64), true),
        (8, Some(128), false),
    ] {
        all.push(FormatParams { kb, eta, fill, ..plain });
    }
    all
}

#[test]
fn spmm_on_tiles_is_right_to_the_bit() {
    for kernel in &on_gpus(|k| {
        k.contract.op == Op::Spmm && matches!(k.contract.format, FormatKind::RsTile | FormatKind::LibraSpmm)
    }) {
        let (mut rng, mut seen) = (Rng(71), Seen::default());
        let (types, format) = (kernel.contract.types, kernel.contract.format);
        for round in 0..120 {
            let (rows, cols) = (rng.below(70) as usize, 1 + rng.below(150) as usize);
            let density = [2, 8, 25, 60, 100][rng.below(5) as usize];
            let value: fn(&mut Rng) -> f64 = if round % 3 == 0 { Rng::integer } else { Rng::real };
            let e = entries(&mut rng, rows, cols, density, value);
            for params in parameters(format) {
                let a = AnySparse::from_f64(types.a, format, params, &e).expect("encodes");
                let n = COLUMNS[rng.below(COLUMNS.len() as u64) as usize];
                spmm(
                    kernel,
                    &mut seen,
                    &mut rng,
                    &a,
                    n,
                    value,
                    &format!("{rows}x{cols} {density}% {params:?}"),
                );
            }
        }
        seen.report(kernel, true);
    }
}

/// Windows of more than one segment, and rows of more pieces than one lane group takes: the second pass adds them in order.
#[test]
fn long_windows_and_rows_are_summed_in_order() {
    for kernel in &on_gpus(|k| {
        k.contract.op == Op::Spmm && matches!(k.contract.format, FormatKind::RsTile | FormatKind::LibraSpmm)
    }) {
        let (mut rng, mut seen) = (Rng(72), Seen::default());
        let (types, format) = (kernel.contract.types, kernel.contract.format);
        for (rows, cols, density) in [
            (8, 257, 90),
            (9, 1200, 60),
            (21, 700, 30),
            (3, 1100, 100),
            (17, 513, 12),
            // More segments, and more pieces of a rest, than the second pass has slots for.
            (2, 4600, 100),
            (1, 4400, 50),
        ] {
            for value in [Rng::integer, Rng::real] {
                let e = entries(&mut rng, rows, cols, density, value);
                for params in parameters(format) {
                    let a = AnySparse::from_f64(types.a, format, params, &e).expect("encodes");
                    for n in [5, 32, 64, 72] {
                        spmm(
                            kernel,
                            &mut seen,
                            &mut rng,
                            &a,
                            n,
                            value,
                            &format!("{rows}x{cols} {density}% {params:?}"),
                        );
                    }
                }
            }
        }
        seen.report(kernel, true);
    }
}

/// Slabs of 128 columns, which f16 takes where a matrix has tiles enough for each multiprocessor. Without its entry the launch fails: so it is
/// this one that runs.
#[test]
fn slabs_of_128_columns_are_taken_where_there_are_tiles_enough() {
    let text = Source::TilesSpmm.precompiled().expect("committed");
    let (format, entry) = (FormatKind::RsTile, "rsh_f16_128");
    for architecture in [Architecture::Sm80, Architecture::Sm90] {
        let gpu = |texts| Player::new(architecture, texts).multiprocessors(1).gpu();
        let wanted = |k: &Kernel| {
            k.contract.op == Op::Spmm && k.contract.format == format && k.contract.types.a == Precision::F16
        };
        let row = played_kernels(architecture).into_iter().find(|row| wanted(&row.kernel)).expect("a row");
        let (mut rng, mut seen) = (Rng(75), Seen::default());
        let without = text.replace(&format!(".entry {entry}("), ".entry nothing(");
        let without = gpu(Texts::committed().replaced(Source::TilesSpmm, &without).expect("it is PTX"));
        let played = OnGpu::Played(row, gpu(Texts::committed()));
        for (rows, cols, density) in [(64, 257, 40), (20, 700, 90)] {
            let e = entries(&mut rng, rows, cols, density, Rng::real);
            for params in parameters(format) {
                let a = AnySparse::from_f64(Precision::F16, format, params, &e).expect("encodes");
                for n in [65, 128, 200] {
                    spmm(
                        &played,
                        &mut seen,
                        &mut rng,
                        &a,
                        n,
                        Rng::real,
                        &format!("{rows}x{cols} {params:?}"),
                    );
                }
            }
            let a = AnySparse::from_f64(Precision::F16, format, parameters(format)[2], &e).expect("encodes");
            let b = Dense::new(Precision::F16, (cols, 72), Layout::RowMajor, 0, || 1.0);
            let mut c = Dense::new(Precision::F32, (rows, 72), Layout::RowMajor, 0, || 1.0);
            let (b, c) = (b.as_ref(), c.as_mut());
            let (transpose_a, transpose_b, alpha, beta) = (false, false, 1.0, 0.0);
            let task = Task::Spmm { a: &a, transpose_a, b, transpose_b, alpha, beta, c };
            let OnGpu::Played(row, _) = &played else { continue };
            let refused = row.run_on(&without, task).expect_err(entry);
            assert!(refused.to_string().contains(&format!("no entry {entry}")), "{refused}");
        }
        seen.report(&played, true);
    }
}

/// The kernel that copies tiles through shared memory left out the addition of a rest to tiles that there are none of. Where the rest
/// had underflowed to -0, its row was -0 and not (+0) + (-0) = +0, which the full tier found on an H100 (2026-11-28).
#[test]
fn a_rest_of_minus_zero_is_added_to_tiles_that_there_are_none_of() {
    for kernel in &on_gpus(|k| k.contract.op == Op::Spmm && k.contract.format == FormatKind::LibraSpmm) {
        let (mut rng, mut seen) = (Rng(74), Seen::default());
        // The product of two of them is below what f32 has, of either sign.
        let tiny: fn(&mut Rng) -> f64 = |rng| if rng.below(2) == 0 { 1e-30 } else { -1e-30 };
        let all_rest = FormatParams { eta: Some(128), ..FormatParams::DEFAULT };
        for (rows, cols) in [(1, 1), (8, 3), (21, 9)] {
            let e = entries(&mut rng, rows, cols, 60, tiny);
            let a = AnySparse::from_f64(kernel.contract.types.a, FormatKind::LibraSpmm, all_rest, &e);
            for n in [1, 32, 64] {
                let what = format!("{rows}x{cols} of the rest alone");
                spmm(kernel, &mut seen, &mut rng, a.as_ref().expect("encodes"), n, tiny, &what);
            }
        }
        seen.report(kernel, true);
    }
}

#[test]
fn sddmm_in_blocks_is_right_to_the_bit() {
    for kernel in
        &on_gpus(|k| k.contract.op == Op::Sddmm && k.contract.format == FormatKind::Csr && is_libra(k))
    {
        let (mut rng, mut seen) = (Rng(73), Seen::default());
        let (types, mut compared) = (kernel.contract.types, 0);
        for round in 0..150 {
            let (rows, cols) = (rng.below(60) as usize, rng.below(120) as usize);
            let k: usize =
                [0, 1, 5, 8, 15, 16, 17, 31, 32, 33, 40, 64, 100, 128, 256][rng.below(15) as usize];
            let density = [2, 10, 30, 70][rng.below(4) as usize];
            let value: fn(&mut Rng) -> f64 = if round % 3 == 0 { Rng::integer } else { Rng::real };
            let e = entries(&mut rng, rows, cols, density, value);
            let s =
                AnySparse::from_f64(types.out, FormatKind::Csr, FormatParams::DEFAULT, &e).expect("encodes");
            let plain = rng.below(3) > 0;
            let layout = LAYOUTS[if plain { 0 } else { rng.below(2) as usize }];
            let pad = if plain { k.next_multiple_of(8) - k } else { rng.below(9) as usize };
            let x = Dense::new(types.a, (rows, k), layout, pad, || value(&mut rng));
            let y = Dense::new(types.b, (cols, k), layout, pad, || value(&mut rng));
            let mut factors = FACTORS[rng.below(6) as usize];
            let mode = [SddmmMode::Pattern, SddmmMode::Scale, SddmmMode::AddS][rng.below(3) as usize];
            // Where S multiplies, alpha is 1 (clause 1.13): no declaration says which of the two would come first.
            if mode == SddmmMode::Scale {
                factors.0 = 1.0;
            }
            let mut out = Values::from_f64(types.out, &vec![f64::NAN; e.list.len()]);
            let task = Task::Sddmm {
                s: &s,
                x: x.as_ref(),
                y: y.as_ref(),
                alpha: factors.0,
                beta: factors.1,
                mode,
                out: out.as_mut_slice(),
            };
            let what = format!(
                "{} {rows}x{cols} {density}% k={k} {factors:?} {mode:?} {layout:?} pad {pad}",
                kernel.title()
            );
            assert_eq!(kernel.run(task), Ok(Answer::Written), "{what}");
            let rounding = kernel.arithmetic.part().input;
            let (left, right) = (
                Compact::from_fn(rows, k, |i, j| input(x.at(i, j), rounding)),
                Compact::from_fn(cols, k, |i, j| input(y.at(i, j), rounding)),
            );
            // S as it is stored, in the order of CSR.
            let stored = s.entries_f64().list;
            let positions: Vec<(u32, u32)> = stored.iter().map(|e| (e.row, e.col)).collect();
            let values: Vec<f64> = stored.iter().map(|e| e.value).collect();
            let problem = Problem::Sddmm {
                positions: &positions,
                x: &left,
                y: &right,
                factors: if mode == SddmmMode::Scale { &values } else { &[] },
            };
            let of_s = Values::from_f64(types.out, &values);
            let beta = if mode == SddmmMode::AddS { factors.1 } else { 0.0 };
            let output = Output {
                found: out.as_slice(),
                place: Place::Visited,
                poison: None,
                before: Some(of_s.as_slice()),
                before_place: Place::Visited,
            };
            let judged =
                judge_problem(&problem, &kernel.arithmetic, &Profile::default(), (factors.0, beta), &output);
            seen.judged(&what, &judged);
            if mode == SddmmMode::Scale {
                continue;
            }
            let in_tile = tiled(kernel, &e);
            let Some(mut model) = Model::new(&kernel.arithmetic) else {
                continue;
            };
            for (p, &(i, j)) in positions.iter().enumerate() {
                let slots: Vec<Slot> = (0..k as u32).map(|at| Slot { in_tile: in_tile[p], at }).collect();
                let terms = (0..k).map(|l| (left.at(i as usize, l), right.at(j as usize, l)));
                let wanted = model.element(terms, Some(&slots), (factors.0, beta), values[p], false);
                assert_eq!(
                    Some(out.as_slice().bits(p)),
                    wanted,
                    "{what}: ({i}, {j}), in a block: {}",
                    in_tile[p]
                );
                compared += 1;
            }
        }
        seen.report(kernel, false);
        eprintln!("{}: {compared} outputs bit for bit", kernel.name);
        assert!(compared > 1000 || !kernel.arithmetic.is_deterministic());
    }
}

fn is_libra(kernel: &Kernel) -> bool {
    kernel.name.ends_with("_libra") || kernel.name.ends_with("_mma")
}

/// Whether the paper's distribution gives each entry to tensor cores, by the oracle's own encoder.
fn tiled(kernel: &Kernel, e: &Entries<f64>) -> Vec<bool> {
    let eta = kernel.name.ends_with("_mma").then_some(1);
    let params = FormatParams { eta, ..FormatParams::DEFAULT };
    let matrix = AnySparse::from_f64(Precision::F32, FormatKind::LibraSddmm, params, e).expect("encodes");
    let mut in_tile = vec![false; e.list.len()];
    each_sparse!(&matrix, m => match m {
        Sparse::LibraSddmm(m) => m.position.iter().for_each(|&p| in_tile[p as usize] = true),
        other => panic!("{}", other.kind().name()),
    });
    in_tile
}

//! The kernels for N:M and 2:4 on a GPU against the oracle's judge: random shapes, parameters, layouts, factors and operands,
//! by every tier that applies, on GPUs that a CPU plays and on a real one where there is one.

#![cfg(feature = "cuda")]

use crate::gpus::{OnGpu, on_gpus, played};
use crate::support;
use sparse_oracle::prelude::*;

use sparse_kernels::cuda::played_kernels;
use sparse_kernels::cuda::source::Source;
use sparse_kernels::{Kernel, all_kernels};
use sparse_oracle::arithmetic::Architecture;
use sparse_oracle::contract::Op;
use sparse_oracle::format::{AnySparse, Csr, Entries, Entry, FormatKind, FormatParams, Layout};
use sparse_oracle::judge::{Output, Place, Problem, judge_problem};
use sparse_oracle::op::input;
use sparse_oracle::profile::Profile;
use sparse_oracle::refusal::{EngineError, Refusal, RequestError};
use sparse_oracle::task::{Answer, Task};
use sparse_oracle::verdict::{Criterion, Verdict};
use sparse_ptx_device::{Player, Texts};
use std::collections::BTreeSet;
use support::{Dense, LAYOUTS, Rng, encode, entries, kept_slots};

const FACTORS: [(f64, f64); 6] =
    [(1.0, 0.0), (1.0, 1.0), (-0.75, 0.0), (1.625, -0.3125), (0.0, 2.0), (0.0, 0.0)];

/// Kernels of this file, on every GPU.
fn kernels() -> Vec<OnGpu> {
    let all = on_gpus(|k| {
        k.contract.op == Op::Spmm && matches!(k.contract.format, FormatKind::Nm | FormatKind::TwoFour)
    });
    assert_eq!(all.len() % 14, 0);
    all
}

fn turned<T>(e: Entries<T>, transpose: bool) -> Entries<T> {
    if !transpose {
        return e;
    }
    let mut list: Vec<Entry<T>> =
        e.list.into_iter().map(|e| Entry { row: e.col, col: e.row, value: e.value }).collect();
    list.sort_by_key(|e| (e.row, e.col));
    Entries { rows: e.cols, cols: e.rows, list }
}

/// One request.
struct Case {
    a: AnySparse,
    transpose_a: bool,
    transpose_b: bool,
    b: Dense,
    c: Dense,
    factors: (f64, f64),
}

impl Case {
    fn task<'a>(&'a self, c: &'a mut Dense) -> Task<'a> {
        let (alpha, beta) = self.factors;
        Task::Spmm {
            a: &self.a,
            transpose_a: self.transpose_a,
            b: self.b.as_ref(),
            transpose_b: self.transpose_b,
            alpha,
            beta,
            c: c.as_mut(),
        }
    }
}

/// Runs a case and has it judged; the tiers that decided.
fn check(kernel: &OnGpu, case: &Case, what: &str) -> Vec<Criterion> {
    let mut c = case.c.clone();
    assert_eq!(kernel.run(case.task(&mut c)), Ok(Answer::Written), "{} {what}", kernel.title());
    let arithmetic = &kernel.arithmetic;
    let rounded = |v: f64| input(v, arithmetic.part().input);
    let stored = case.a.entries_f64();
    let mut free = kept_slots(&case.a);
    for e in &stored.list {
        assert!(free.remove(&(e.row, e.col)), "an entry outside of slots");
    }
    let pads = Entries {
        rows: stored.rows,
        cols: stored.cols,
        list: free.into_iter().map(|(row, col)| Entry { row, col, value: () }).collect(),
    };
    let a = Csr::from_entries(&turned(stored, case.transpose_a)).expect("sorted").map(|&v| rounded(v));
    let pads = Csr::from_entries(&turned(pads, case.transpose_a)).expect("sorted");
    let b = sparse_oracle::format::Dense::from_fn(a.cols, c.cols, |k, j| {
        rounded(if case.transpose_b { case.b.at(j, k) } else { case.b.at(k, j) })
    });
    let place = match c.layout {
        Layout::RowMajor => Place::Strides(c.ld, 1),
        Layout::ColMajor => Place::Strides(1, c.ld),
    };
    let problem = Problem::Spmm { a: &a, pads: Some(&pads), b: &b.clone().into(), slots: None };
    let output = Output {
        found: c.data.as_slice(),
        place,
        poison: None,
        before: Some(case.c.data.as_slice()),
        before_place: place,
    };
    let judged = judge_problem(&problem, arithmetic, &Profile::default(), case.factors, &output);
    assert!(
        matches!(judged.verdict, Verdict::Exact | Verdict::Within { .. }),
        "{} {what}: {:?}",
        kernel.title(),
        judged.verdict
    );
    for at in c.padding() {
        let (found, before) = (c.data.as_slice().bits(at), case.c.data.as_slice().bits(at));
        assert_eq!(found, before, "{} {what}: pad {at}", kernel.name);
    }
    judged.tiers
}

/// Parameters that the tiled kernels take in most rounds, and odd ones.
fn params(rng: &mut Rng, round: usize) -> FormatParams {
    let pick = |rng: &mut Rng, list: &[u32]| list[rng.below(list.len() as u64) as usize];
    let m = pick(rng, &[2, 4, 7, 8, 16, 32]);
    let l = if round % 4 == 3 { pick(rng, &[1, 3, 4, 12]) } else { pick(rng, &[8, 16, 24, 32, 40, 128]) };
    FormatParams {
        n: 1 + rng.below(u64::from(m)) as u32,
        m,
        l,
        short_k: rng.below(2) == 0,
        ..FormatParams::DEFAULT
    }
}

fn case(kernel: &Kernel, rng: &mut Rng, round: usize, (rows, cols, n): (usize, usize, usize)) -> Case {
    let types = kernel.contract.types;
    let value: fn(&mut Rng) -> f64 = if round.is_multiple_of(3) { Rng::integer } else { Rng::real };
    let e = entries(rng, rows, cols, [90, 40, 10][round % 3], value);
    let params = params(rng, round);
    let a = encode(rng, types.a, kernel.contract.format, params, &e);
    let wants_transposed = (kernel.contract.format == FormatKind::Nm) == (round % 8 != 7);
    let transpose_a = wants_transposed;
    let transpose_b = rng.below(3) == 0;
    let (m, k) = if transpose_a { (cols, rows) } else { (rows, cols) };
    let factors = FACTORS[round % FACTORS.len()];
    let shape_b = if transpose_b { (n, k) } else { (k, n) };
    // Infinities and NaN in some rounds: a pad that faces one is multiplied. What must not be read is NaN.
    let special = round % 5 == 4;
    let b = Dense::new(types.b, shape_b, LAYOUTS[rng.below(2) as usize], rng.below(4) as usize, || match rng
        .below(40)
    {
        _ if factors.0 == 0.0 => f64::NAN,
        0 if special => f64::INFINITY,
        1 if special => f64::NAN,
        _ => value(rng),
    });
    let layout_c = LAYOUTS[round / 2 % 2];
    let c = Dense::new(types.out, (m, n), layout_c, round % 4, || {
        if factors.1 == 0.0 { f64::NAN } else { value(rng) }
    });
    Case { a, transpose_a, transpose_b, b, c, factors }
}

#[test]
fn random_products_pass_every_tier() {
    let mut rng = Rng(41);
    for kernel in &kernels() {
        let (mut tiers, mut cases) = (BTreeSet::new(), 0);
        for round in 0..48 {
            let mut extent = |limit: u64| 1 + rng.below(limit) as usize;
            let shape = match round % 6 {
                0 => (extent(8), extent(8), extent(8)),
                5 => (extent(150), extent(300), extent(150)),
                _ => (extent(90), extent(90), extent(70)),
            };
            let case = case(kernel, &mut rng, round, shape);
            tiers.extend(check(kernel, &case, &format!("round {round} {shape:?} {:?}", case.factors)));
            cases += 1;
        }
        let wanted = if kernel.arithmetic.is_deterministic() { 3 } else { 2 };
        assert!(tiers.len() >= wanted, "{}: only {tiers:?} decided", kernel.name);
        eprintln!("{}: {cases} cases, tiers {tiers:?}", kernel.title());
    }
}

/// Host code gives large tiles to products that are large for the device, and one multiprocessor is soon busy.
#[test]
fn products_in_large_tiles_pass_every_tier() {
    let mut rng = Rng(44);
    let wanted = |k: &Kernel| k.contract.op == Op::Spmm && k.contract.format == FormatKind::Nm;
    for kernel in &played(Architecture::Sm90, 1, wanted).collect::<Vec<_>>() {
        let sizes = [(512, 256), (512, 64), (128, 256)];
        let patterns = [(16, 32, 32), (4, 32, 32), (4, 32, 128), (1, 8, 512)];
        for ((n, m, l), (cols, columns)) in patterns.into_iter().flat_map(|p| sizes.map(|s| (p, s))) {
            let e = entries(&mut rng, 64, cols, 60, Rng::integer);
            let params = FormatParams { n, m, l, ..FormatParams::DEFAULT };
            let types = kernel.contract.types;
            let a = encode(&mut rng, types.a, FormatKind::Nm, params, &e);
            let b = Dense::new(types.b, (64, columns), Layout::RowMajor, 0, || rng.integer());
            let c = Dense::new(types.out, (cols, columns), Layout::RowMajor, 0, || f64::NAN);
            let case = Case { a, transpose_a: true, transpose_b: false, b, c, factors: (1.0, 0.0) };
            check(kernel, &case, &format!("{n}:{m} by {l}, {cols} x {columns}"));
        }
    }
}

/// Tiles that are chosen for few products: 64 x 128 where larger ones would leave half of an odd number of multiprocessors idle, and 128 x 256
/// with packed slices where those of 128 x 128 do not fit. Without its entry the launch fails: so it is this one that runs.
#[test]
fn the_rarest_tiles_are_launched_and_pass() {
    let rare = [
        ("nm_v3_medium", (16, 32, 32), (64, 640, 320), 7),
        ("nm_v3p_medium", (4, 32, 128), (64, 640, 320), 7),
        ("nm_v3p_wide", (64, 256, 256), (256, 256, 128), 1),
    ];
    let mut rng = Rng(45);
    let text = Source::NmTile.precompiled().expect("committed");
    for (entry, (n, m, l), (rows, cols, columns), multiprocessors) in rare {
        let mut table = played_kernels(Architecture::Sm90).into_iter();
        let row = table.find(|row| row.kernel.name == "spmm_nm_f32_f32_f32_f32__ptx").expect("it is there");
        let types = row.kernel.contract.types;
        let player = |texts| Player::new(Architecture::Sm90, texts).multiprocessors(multiprocessors).gpu();
        let e = entries(&mut rng, rows, cols, 60, Rng::integer);
        let params = FormatParams { n, m, l, ..FormatParams::DEFAULT };
        let a = encode(&mut rng, types.a, FormatKind::Nm, params, &e);
        let b = Dense::new(types.b, (rows, columns), Layout::RowMajor, 0, || rng.integer());
        let c = Dense::new(types.out, (cols, columns), Layout::RowMajor, 0, || f64::NAN);
        let case = Case { a, transpose_a: true, transpose_b: false, b, c, factors: (1.0, 0.0) };
        let without = text.replace(&format!(".entry {entry}("), ".entry nothing(");
        let without = Texts::committed().replaced(Source::NmTile, &without).expect("it is PTX");
        let refused = row.run_on(&player(without), case.task(&mut case.c.clone())).expect_err(entry);
        assert!(refused.to_string().contains(&format!("no entry {entry}")), "{refused}");
        check(&OnGpu::Played(row, player(Texts::committed())), &case, entry);
    }
}

#[test]
fn empty_extents_are_written_or_nothing() {
    let mut rng = Rng(42);
    for kernel in &kernels() {
        for (round, shape) in
            [(0, 5, 3), (5, 0, 3), (5, 5, 0), (0, 0, 0), (1, 1, 1), (33, 8, 4)].into_iter().enumerate()
        {
            for turn in 0..12 {
                let mut case = case(kernel, &mut rng, turn, shape);
                // Nothing stored at all, in some.
                if round == 5 {
                    let e = Entries { rows: shape.0, cols: shape.1, list: Vec::new() };
                    let params = params(&mut rng, turn);
                    case.a = encode(&mut rng, kernel.contract.types.a, kernel.contract.format, params, &e);
                }
                check(kernel, &case, &format!("{shape:?} turn {turn}"));
            }
        }
    }
}

/// Without a GPU every kernel refuses by its type, with one it refuses what does not fit; nothing panics, C stays.
#[test]
fn refusals_are_typed() {
    let mut rng = Rng(43);
    let cuda = all_kernels().iter().filter(|k| k.engine == "cuda");
    for kernel in cuda.filter(|k| matches!(k.contract.format, FormatKind::Nm | FormatKind::TwoFour)) {
        let case = case(kernel, &mut rng, 1, (9, 16, 5));
        let mut c = case.c.clone();
        let mut b = case.b.as_ref();
        b.rows += 1;
        let task = Task::Spmm {
            a: &case.a,
            transpose_a: case.transpose_a,
            b,
            transpose_b: case.transpose_b,
            alpha: 1.0,
            beta: 0.0,
            c: c.as_mut(),
        };
        let refused = (kernel.run)(task).expect_err("a row too many");
        assert!(
            matches!(
                refused,
                Refusal::Request(RequestError::Shape { .. })
                    | Refusal::Request(RequestError::Length { .. })
                    | Refusal::Request(RequestError::LeadingDimension { .. })
            ),
            "{}: {refused}",
            kernel.name
        );
        // By bits: the padding is NaN.
        assert_eq!(c.all_bits(), case.c.all_bits());
        if kernel.missing().is_some() {
            let task = Task::Spmm {
                a: &case.a,
                transpose_a: case.transpose_a,
                b: case.b.as_ref(),
                transpose_b: case.transpose_b,
                alpha: 1.0,
                beta: 0.0,
                c: c.as_mut(),
            };
            assert!(
                matches!((kernel.run)(task), Err(Refusal::Engine(EngineError::Unavailable { .. }))),
                "{}",
                kernel.name
            );
        }
    }
}

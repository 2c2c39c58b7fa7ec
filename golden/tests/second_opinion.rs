//! The layouts and the composed models against what already stood: the stored entries, the general model of declared reductions, and
//! plain exact sums.

use sparse_golden::case::{Case, patterns};
use sparse_golden::families::Values;
use sparse_golden::layout::{Lane, Work};
use sparse_golden::prepared::{Prepared, rounded_bits};
use sparse_golden::table::{Op, ROWS, Row, System, Target, Unit};
use sparse_oracle::arithmetic::{Part, Slot};
use sparse_oracle::bound::{TermCounts, tolerance_of};
use sparse_oracle::exact::dot_reference;
use sparse_oracle::format::{Csr, PAD};
use sparse_oracle::model::reduction::Model;
use sparse_oracle::prelude::*;
use sparse_oracle::scalar::{F16, Precision, Scalar, Tf32, decode};
use sparse_oracle::source::SourceSpec;
use std::collections::BTreeSet;

static TABLE: [Row; ROWS.len()] = ROWS;

macro_rules! with_type {
    ($row:expr, $t:ident => $body:expr) => {
        match $row.input {
            Precision::F16 => {
                type $t = F16;
                $body
            }
            Precision::Tf32 => {
                type $t = Tf32;
                $body
            }
            _ => {
                type $t = f32;
                $body
            }
        }
    };
}

/// Entries (lane, inner index, bits) that are not zero, sorted.
fn entries(lanes: &[Lane]) -> Vec<(usize, u32, u64)> {
    let of_lane = |lane: &Lane| {
        let terms: Vec<(u32, u64)> = lane.tiles.iter().chain(&lane.rest).copied().collect();
        let index = lane.index;
        terms.into_iter().map(move |(k, bits)| (index, k, bits))
    };
    let mut all: Vec<_> = lanes.iter().flat_map(of_lane).filter(|e| e.1 != PAD && e.2 != 0).collect();
    all.sort_unstable();
    all
}

fn keeps<T: Scalar>(row: &Row, pattern: &Csr<()>, values: Values) -> usize {
    let work = |row: &Row| Work::<T>::new(row, pattern, values, 3, 7).expect("encoded");
    let stored = entries(&work(&Row { system: System::CudaCore, ..*row }).lanes);
    let found = entries(&work(row).lanes);
    if row.system == System::Nm {
        // Pruned: some of what was stored, at most 16 of 32 a lane and window.
        assert!(found.iter().all(|e| stored.binary_search(e).is_ok()));
        assert!(found.len() <= stored.len() && 2 * found.len() >= stored.len().min(2));
    } else {
        assert_eq!(found, stored);
    }
    found.len()
}

#[test]
fn every_stored_entry_is_a_term_once() {
    let mut terms = 0;
    for row in ROWS.iter().filter(|row| row.op == Op::Spmm) {
        for source in patterns().expect("patterns") {
            let pattern = source.generate().expect("a pattern");
            terms += with_type!(row, T => keeps::<T>(row, &pattern, Values::Normal));
        }
    }
    assert!(terms > 100_000, "{terms}");
}

#[test]
fn every_sampled_position_is_computed_once() {
    for source in patterns().expect("patterns") {
        let pattern = source.generate().expect("a pattern");
        let row = ROWS.iter().find(|row| row.op == Op::Sddmm).expect("one");
        let work = Work::<F16>::new(row, &pattern, Values::NearOne, 5, 7).expect("encoded");
        let columns = |lane: &Lane| lane.columns.clone().expect("listed").into_iter();
        let mut found: Vec<(u32, u32)> = Vec::new();
        for lane in &work.lanes {
            found.extend(columns(lane).map(|col| (lane.index as u32, col)));
        }
        found.sort_unstable();
        let stored: Vec<(u32, u32)> = pattern.entries().list.iter().map(|e| (e.row, e.col)).collect();
        assert_eq!(found, stored, "{source}");
    }
}

/// The counts of one part, from the places of its terms.
fn census(part: &Part, slots: &[Slot]) -> TermCounts {
    let block = part.block() as u32;
    let of_part: Vec<u32> = slots.iter().filter(|s| s.is_of(part.selects)).map(|s| s.at).collect();
    let blocks: BTreeSet<u32> = of_part.iter().map(|at| at / block).collect();
    TermCounts {
        terms: of_part.len() as u64,
        products: of_part.len() as u64,
        blocks: blocks.len() as u64,
        extent: blocks.last().map_or(0, |last| u64::from(*last) + 1),
    }
}

/// Compares every element of a case with the general model, plain sums and the bound of its counts; returns how many.
fn agrees<T: Scalar>(case: &Case, pattern: &Csr<()>) -> usize {
    let prepared = Prepared::<T>::new(case, pattern).expect("encoded");
    let work = prepared.work();
    let bits = prepared.bits(case.target).expect("the instruction is there");
    let arithmetic = case.row.arithmetic(case.target);
    let mut model = Model::new(&arithmetic).expect("deterministic");
    let scores = prepared.scores(case.target).expect("finite");
    let mut scores = scores.iter();
    let number = |bits: u64| T::from_bits64(bits).to_f64();
    let mut compared = 0;
    for (at, lane) in work.lanes.iter().enumerate() {
        let all: Vec<u32> = (0..work.dense.cols() as u32).collect();
        let columns = lane.columns.as_ref().unwrap_or(&all);
        for (place, &column) in columns.iter().enumerate() {
            let (mut terms, mut slots) = (Vec::new(), Vec::new());
            for (in_tile, part) in [(true, &lane.tiles), (false, &lane.rest)] {
                for (slot, &(k, value)) in (0..).zip(part) {
                    if k == PAD || value == 0 {
                        continue;
                    }
                    let b = work.dense.at(k as usize, column as usize).bits64();
                    let [a, b] = [value, b].map(|v| if in_tile { rounded_bits(v, T::PRECISION) } else { v });
                    terms.push((number(a), number(b)));
                    slots.push(Slot { in_tile, at: slot });
                }
            }
            let expected = model.element(terms.iter().copied(), Some(&slots), (1.0, 0.0), 0.0, false);
            let [found, expected] =
                [bits[at][place], expected.expect("modelled")].map(|b| decode(b, Precision::F32));
            assert_eq!(found, expected, "{case} lane {at}, column {column}");
            let (a, b): (Vec<f64>, Vec<f64>) = terms.into_iter().unzip();
            let exact = &prepared.exact(at)[place];
            let plain = dot_reference(&a, &b);
            assert_eq!((&exact.value, &exact.gauge), (&plain.value, &plain.gauge), "{case}");
            compared += 1;
            if exact.gauge.is_zero() {
                continue;
            }
            let tolerance = tolerance_of(&arithmetic, |part| census(part, &slots), (1.0, 0.0), 1.0);
            let distance = tolerance.expect("promised").distance(found, &plain.value, &plain.gauge);
            let score = scores.next().expect("a score of each element with terms");
            assert_eq!(work.place(lane, column as usize), (score.row, score.col));
            assert_eq!(score.share, distance.share(), "{case}");
            let worth = distance.error / plain.gauge.approx() * 2.0_f64.powi(23);
            assert!(score.gauge_ulps >= worth && score.gauge_ulps <= 2.0 * worth, "{case}");
        }
    }
    assert!(scores.next().is_none());
    compared
}

#[test]
fn every_system_computes_what_the_general_model_does() {
    let sources = [
        "zipf:rows=20,cols=60,longest=60,seed=3",
        "tails:tile=8,tiles=2,seed=4",
        "block:rows=18,cols=32,block=4,seed=5",
    ];
    let mut compared = 0;
    for row in &TABLE {
        for target in [row.targets.first(), row.targets.last()].into_iter().flatten() {
            for (source, values) in
                sources.into_iter().zip([Values::Wide, Values::NearOne, Values::Cancelling])
            {
                let source: SourceSpec = source.parse().expect("a pattern");
                let case = Case { n: 5, ..Case::pinned(row, *target, source, values) };
                let pattern = source.generate().expect("a pattern");
                compared += with_type!(row, T => agrees::<T>(&case, &pattern));
            }
        }
    }
    assert!(compared > 5000, "{compared}");
}

#[test]
fn units_differ_and_the_bound_sees_it() {
    // One FMA chain for all GPUs; tensor cores of Ampere and Hopper differ.
    let source: SourceSpec = "dense:rows=8,cols=64,seed=1".parse().expect("a pattern");
    let pattern = source.generate().expect("a pattern");
    let gpu = |row: &Row, at: usize| -> Target { row.targets[at] };
    let mut differing = 0;
    for row in TABLE.iter().filter(|row| row.system != System::Loops) {
        let case = Case::pinned(row, gpu(row, 0), source, Values::Positive);
        let [old, new] = [0, 3].map(|at| {
            with_type!(row, T => Prepared::<T>::new(&case, &pattern).and_then(|p| p.bits(gpu(row, at))).expect("computed"))
        });
        assert_eq!(old == new, row.unit == Unit::Fma, "{}", row.name(row.targets[0]));
        differing += usize::from(old != new);
    }
    assert_eq!(differing, 12);
}

//! Transposes and conversions against the oracle's encoders, bit for bit and array for array; the edge cases of padding;
//! what is refused.

use crate::support;
use sparse_oracle::prelude::*;

use sparse_kernels::registry::kernel;
use sparse_kernels::{Kernel, kernels_here};
use sparse_oracle::contract::Op;
use sparse_oracle::format::{AnySparse, Entries, Entry, FormatKind, FormatParams};
use sparse_oracle::refusal::{Limit, Refusal, RequestError};
use sparse_oracle::scalar::{Precision, Scalar, Values};
use sparse_oracle::task::{Answer, RawSparse, Task};
use support::{Rng, coo};

const BLOCKS: [FormatParams; 5] = [
    FormatParams::blocks(4, 4),
    FormatParams::blocks(1, 1),
    FormatParams::blocks(3, 2),
    FormatParams::blocks(1, 7),
    FormatParams::blocks(64, 2),
];
const SHAPES: [(usize, usize); 8] = [(0, 0), (0, 5), (5, 0), (1, 1), (9, 7), (16, 16), (13, 40), (40, 3)];

fn moves() -> impl Iterator<Item = &'static Kernel> {
    kernels_here().filter(|k| k.contract.op.is_exact())
}

/// Any bit pattern: zeros of both signs, subnormals, infinities, NaN with payloads.
fn any_bits(rng: &mut Rng, precision: Precision) -> u64 {
    let bits = precision.spec().storage_bits;
    let wide = rng.next() << 31 ^ rng.next() << 62 ^ rng.next();
    match rng.below(8) {
        0 => 0,
        1 => 1 << (bits - 1),
        _ => wide & (u64::MAX >> (64 - bits)),
    }
}

fn bit_entries(rng: &mut Rng, precision: Precision, rows: usize, cols: usize, density: u64) -> Entries<u64> {
    let mut list = Vec::new();
    for (row, col) in (0..rows as u32).flat_map(|row| (0..cols as u32).map(move |col| (row, col))) {
        if rng.below(100) < density {
            list.push(Entry { row, col, value: any_bits(rng, precision) });
        }
    }
    Entries { rows, cols, list }
}

fn task<'a>(kernel: &Kernel, a: &'a AnySparse, params: FormatParams) -> Task<'a> {
    match kernel.contract.to {
        Some(to) => Task::Convert { a, to, params },
        None => Task::Transpose { a },
    }
}

#[track_caller]
fn raw(kernel: &Kernel, a: &AnySparse, params: FormatParams) -> RawSparse {
    match (kernel.run)(task(kernel, a, params)) {
        Ok(Answer::Sparse(raw)) => raw,
        other => panic!("{}: {other:?}", kernel.name),
    }
}

/// Equal arrays; values by bits, since NaN is not equal to itself.
#[track_caller]
fn assert_arrays(found: &RawSparse, wanted: &RawSparse, what: &str) {
    let frame =
        |r: &RawSparse| (r.kind, r.rows, r.cols, r.params, r.width, r.offsets.clone(), r.indices.clone());
    let bits = |v: &Values| (0..v.len()).map(|at| v.as_slice().bits(at)).collect::<Vec<_>>();
    assert_eq!(frame(found), frame(wanted), "{what}");
    assert_eq!(found.values.precision(), wanted.values.precision(), "{what}");
    assert_eq!(bits(&found.values), bits(&wanted.values), "{what}");
}

#[test]
fn every_move_gives_the_canonical_arrays() {
    let mut rng = Rng(21);
    // Those of the papers are compared in `paper_formats.rs`.
    let general = |format: FormatKind| FormatKind::GENERAL.contains(&format);
    let between_general =
        |kernel: &&'static Kernel| general(kernel.contract.format) && kernel.contract.to.is_none_or(general);
    for kernel in moves().filter(between_general) {
        let (precision, from) = (kernel.contract.types.a, kernel.contract.format);
        for (round, &(rows, cols)) in SHAPES.iter().enumerate() {
            for density in [5, 30, 100] {
                let blocks = BLOCKS[(round + density as usize) % BLOCKS.len()];
                let e = bit_entries(&mut rng, precision, rows, cols, density);
                let a = AnySparse::from_bits(precision, from, blocks, &e).expect("encodes");
                let wanted = match kernel.contract.to {
                    Some(to) => a.convert(to, blocks).expect("converts"),
                    None => a.transpose().expect("transposes"),
                };
                let mut found = raw(kernel, &a, blocks);
                if kernel.contract.op == Op::Transpose && from == FormatKind::Coo {
                    sort(&mut found);
                }
                assert_arrays(
                    &found,
                    &RawSparse::of(wanted),
                    &format!("{} {rows}x{cols} {density}%", kernel.name),
                );
                found.check().expect("a valid encoding");
            }
        }
    }
}

/// COO triples by position; transposing keeps their stored order, which the oracle's encoder does not.
fn sort(coo: &mut RawSparse) {
    let mut order: Vec<usize> = (0..coo.indices.len()).collect();
    order.sort_by_key(|&p| (coo.offsets[p], coo.indices[p]));
    coo.offsets = order.iter().map(|&p| coo.offsets[p]).collect();
    coo.indices = order.iter().map(|&p| coo.indices[p]).collect();
    sparse_oracle::each_precision!(Values, &mut coo.values, v => *v = order.iter().map(|&p| v[p]).collect());
}

#[test]
fn duplicates_agree_with_the_oracle_in_every_type() {
    let mut rng = Rng(22);
    for kernel in moves().filter(|k| k.contract.op == Op::Convert && k.contract.format == FormatKind::Coo) {
        let (precision, to) = (kernel.contract.types.a, kernel.contract.to.expect("a conversion"));
        for round in 0..60 {
            // Few positions, many triples, magnitudes from subnormal to overflow.
            let list: Vec<(u32, u32, u64)> = (0..24)
                .map(|_| (rng.below(3) as u32, rng.below(2) as u32, any_bits(&mut rng, precision)))
                .filter(|t| round % 4 == 0 || sparse_oracle::scalar::decode(t.2, precision).is_finite())
                .collect();
            let a = triples(precision, &list);
            let wanted = a.convert(to, FormatParams::default()).expect("converts");
            let found = raw(kernel, &a, FormatParams::default());
            let wanted = RawSparse::of(wanted);
            assert_eq!(
                (&found.offsets, &found.indices),
                (&wanted.offsets, &wanted.indices),
                "{}",
                kernel.name
            );
            let (f, w) = (found.values.to_f64(), wanted.values.to_f64());
            for (at, (f, w)) in f.iter().zip(&w).enumerate() {
                let same = f.to_bits() == w.to_bits() || f.is_nan() && w.is_nan();
                assert!(same, "{} entry {at}: found {f:e}, oracle {w:e}, from {list:?}", kernel.name);
            }
        }
    }
}

fn triples(precision: Precision, list: &[(u32, u32, u64)]) -> AnySparse {
    let values = sparse_oracle::with_scalar!(precision, T => {
        <T as sparse_oracle::scalar::Element>::wrap(list.iter().map(|t| T::from_bits64(t.2)).collect())
    });
    RawSparse {
        kind: FormatKind::Coo,
        rows: 3,
        cols: 2,
        params: FormatParams::default(),
        width: 0,
        offsets: list.iter().map(|t| t.0).collect(),
        indices: list.iter().map(|t| t.1).collect(),
        values,
    }
    .check()
    .expect("a valid COO")
}

#[test]
fn an_explicit_zero_creates_its_block_and_is_dropped_on_the_way_back() {
    let entry = |row, col, value| Entry { row, col, value };
    let e = Entries { rows: 2, cols: 4, list: vec![entry(0, 0, 0.0), entry(1, 3, -0.0)] };
    let blocks = FormatParams::blocks(2, 2);
    let a = AnySparse::from_f64(Precision::F32, FormatKind::Csr, blocks, &e).expect("encodes");
    for to in ["bcsr", "blocked_ell"] {
        let there = kernel(&format!("convert_csr_{to}_f32__portable")).expect("registered");
        let blocked = raw(there, &a, blocks);
        assert_eq!(blocked.indices, [0, 1], "{to}");
        let back = kernel(&format!("convert_{to}_csr_f32__portable")).expect("registered");
        let csr = raw(back, &blocked.check().expect("valid"), blocks);
        assert_eq!((csr.offsets, csr.indices), (vec![0, 0, 1], vec![3]), "{to}");
        assert_eq!(csr.values.as_slice().bits(0), (-0.0f32).bits64());
    }
}

#[test]
fn moves_refuse_what_is_not_theirs() {
    let e = Entries { rows: 1, cols: 1, list: vec![Entry { row: 0, col: 0, value: 1.0 }] };
    let params = FormatParams::default();
    for kernel in moves() {
        let mut defined = kernel.contract.format.precisions().iter();
        let other = defined.find(|p| **p != kernel.contract.types.a);
        let other = *other.expect("every format has several element types");
        for (precision, format) in [
            (other, kernel.contract.format),
            (
                kernel.contract.types.a,
                if kernel.contract.format == FormatKind::Csr { FormatKind::Csc } else { FormatKind::Csr },
            ),
        ] {
            let a = AnySparse::from_f64(precision, format, params, &e).expect("encodes");
            let refused = (kernel.run)(task(kernel, &a, params));
            assert!(
                matches!(refused, Err(Refusal::Request(RequestError::Kind { field: "A", .. }))),
                "{}: {refused:?}",
                kernel.name
            );
        }
        let a = AnySparse::from_f64(kernel.contract.types.a, kernel.contract.format, params, &e)
            .expect("encodes");
        let foreign = match kernel.contract.to {
            Some(_) => Task::Transpose { a: &a },
            None => Task::Convert { a: &a, to: FormatKind::Csr, params },
        };
        assert!(
            matches!((kernel.run)(foreign), Err(Refusal::Request(RequestError::Kind { field: "task", .. }))),
            "{}",
            kernel.name
        );
        if let Some(to) = kernel.contract.to {
            let wrong = FormatKind::GENERAL.into_iter().find(|f| *f != to).expect("another format");
            let refused = (kernel.run)(Task::Convert { a: &a, to: wrong, params });
            assert!(
                matches!(refused, Err(Refusal::Request(RequestError::Kind { field: "target", .. }))),
                "{}",
                kernel.name
            );
        }
    }
}

#[test]
fn blocks_must_have_a_sensible_shape() {
    let e = Entries { rows: 1, cols: 1, list: vec![Entry { row: 0, col: 0, value: 1.0 }] };
    for to in [FormatKind::Bcsr, FormatKind::BlockedEll] {
        let name = format!("convert_csr_{}_f32__portable", to.name());
        let kernel = kernel(&name).expect("registered");
        let a = AnySparse::from_f64(Precision::F32, FormatKind::Csr, FormatParams::default(), &e)
            .expect("encodes");
        let run = |block_rows, block_cols| {
            let params = FormatParams::blocks(block_rows, block_cols);
            (kernel.run)(Task::Convert { a: &a, to, params }).expect_err("refused")
        };
        assert_eq!(run(0, 4), Refusal::Request(RequestError::Zero { field: "block_rows" }));
        assert_eq!(run(4, 0), Refusal::Request(RequestError::Zero { field: "block_cols" }));
        assert!(matches!(run(u32::MAX, u32::MAX), Refusal::Limit(Limit { .. })));
    }
}

#[test]
fn huge_shapes_are_refused_before_anything_is_allocated() {
    let tall = u32::MAX as usize;
    let entry = [Entry { row: 0, col: 0, value: 1.0 }];
    let long = coo(Precision::F32, tall, tall, &entry);
    for name in ["convert_coo_csr_f32__portable", "convert_coo_csc_f32__portable"] {
        let kernel = kernel(name).expect("registered");
        let refused = (kernel.run)(task(kernel, &long, FormatParams::default()));
        assert!(matches!(refused, Err(Refusal::Limit(Limit { .. }))), "{name}: {refused:?}");
    }
    let e = Entries { rows: 2, cols: tall, list: entry.to_vec() };
    let wide =
        AnySparse::from_f64(Precision::F32, FormatKind::Csr, FormatParams::default(), &e).expect("encodes");
    for name in ["convert_csr_csc_f32__portable", "transpose_csr_f32__portable"] {
        let kernel = kernel(name).expect("registered");
        let refused = (kernel.run)(task(kernel, &wide, FormatParams::default()));
        assert!(matches!(refused, Err(Refusal::Limit(Limit { .. }))), "{name}: {refused:?}");
    }
    // One dense row in a tall matrix: 2^17 rows of 2^17 slots.
    let side = 1 << 17;
    let list = (0..side).map(|col| Entry { row: 0, col, value: 1.0 }).collect();
    let e = Entries { rows: side as usize, cols: side as usize, list };
    let dense_row =
        AnySparse::from_f64(Precision::F32, FormatKind::Csr, FormatParams::default(), &e).expect("encodes");
    for name in ["convert_csr_ell_f32__portable", "convert_csr_blocked_ell_f32__portable"] {
        let kernel = kernel(name).expect("registered");
        let refused = (kernel.run)(task(kernel, &dense_row, FormatParams::default()));
        assert!(matches!(refused, Err(Refusal::Limit(Limit { field: "slots", .. }))), "{name}: {refused:?}");
    }
    // An ELL of no slots may claim any number of rows.
    let empty = RawSparse {
        kind: FormatKind::Ell,
        rows: tall,
        cols: 1,
        params: FormatParams::default(),
        width: 0,
        offsets: Vec::new(),
        indices: Vec::new(),
        values: Values::F32(Vec::new()),
    };
    let kernel = kernel("convert_ell_csr_f32__portable").expect("registered");
    let empty = empty.check().expect("valid");
    let refused = (kernel.run)(task(kernel, &empty, FormatParams::default()));
    assert!(matches!(refused, Err(Refusal::Limit(Limit { .. }))), "{refused:?}");
}

//! Seed corpora from the sources, and dictionaries from the tables: what `input` reads, written.

use super::bitmaps::{BITMAPS, COLS, RAW, ROWS};
use super::input::{LARGE, LONGEST, PLAIN, RAW_VALUE, SAMPLE, SIDE, SPECIAL_VALUE, TRIPLES, WIDE, read_by};
use super::products::{EXTENT, contracts};
use sparse_oracle::F16;
use sparse_oracle::contract::Op;
use sparse_oracle::format::{
    Entries, Entry, FieldRef, Fields, FormatKind, FormatParams, Parameter, Parts, Sparse,
};
use sparse_oracle::op::prune;
use sparse_oracle::prelude::*;
use sparse_oracle::scalar::Scalar;
use sparse_oracle::source::generator::quick_spec;
use sparse_oracle::source::{FAMILIES, Random};
use sparse_oracle::with_scalar;

/// How many matrices each format starts with.
const PER_FORMAT: usize = 4;

/// Bytes in the making.
#[derive(Debug, Default)]
struct Draft(Vec<u8>);

impl Draft {
    fn byte(mut self, byte: usize) -> Draft {
        self.0.push(byte as u8);
        self
    }

    fn wide(self, index: usize) -> Draft {
        self.byte(index & 0xff).byte(index >> 8)
    }

    /// Each parameter at its default, or at the sample that `turn` points at.
    fn params(mut self, kinds: &[FormatKind], turn: usize) -> Draft {
        for parameter in read_by(kinds) {
            let byte = chosen(parameter, turn).map_or(0, |sample| {
                let of = parameter.samples.len();
                let first = usize::from(SAMPLE).next_multiple_of(of);
                first + sample
            });
            self = self.byte(byte);
        }
        self
    }

    /// A matrix, cut to `side` rows and columns.
    fn matrix(mut self, pattern: &Entries<()>, turn: usize) -> Draft {
        self = self.byte(pattern.rows).byte(pattern.cols);
        if pattern.nnz() <= TRIPLES {
            self = self.byte(pattern.nnz());
            for (i, e) in pattern.list.iter().enumerate() {
                self = self.byte(e.row as usize).byte(e.col as usize);
                self = self.byte(value_byte(i, turn));
            }
            return self;
        }
        self = self.byte(0x87);
        for i in 0..8 {
            self = self.byte(value_byte(i, turn));
        }
        let width = pattern.cols.div_ceil(8);
        let mut mask = vec![0u8; pattern.rows * width];
        for e in &pattern.list {
            mask[e.row as usize * width + e.col as usize / 8] |= 1 << (e.col % 8);
        }
        self.0.extend(mask);
        self
    }

    /// Arrays, field by field; `None` when one is longer than what is read.
    fn parts<T: Scalar>(mut self, parts: &Parts<T>) -> Option<Draft> {
        for (_, field) in parts.fields() {
            self = match field {
                FieldRef::Extent(&extent) => self.index(extent as u64),
                FieldRef::Flag(&flag) => self.byte(usize::from(flag)),
                FieldRef::U8(v) => self.list(v, |draft, &x| draft.byte(usize::from(x)))?,
                FieldRef::U16(v) => self.list(v, |draft, &x| draft.index(u64::from(x)))?,
                FieldRef::U32(v) => self.list(v, |draft, &x| draft.index(u64::from(x)))?,
                FieldRef::U64(v) => self.list(v, |draft, x| draft.bytes(&x.to_le_bytes()))?,
                FieldRef::Values(v) => self.list(v, |draft, x| {
                    let bits = x.bits64().to_le_bytes();
                    draft.byte(RAW_VALUE.into()).bytes(&bits[..T::PRECISION.bytes()])
                })?,
            };
        }
        Some(self)
    }

    fn list<X>(self, list: &[X], element: impl Fn(Draft, &X) -> Draft) -> Option<Draft> {
        (list.len() <= LONGEST).then(|| list.iter().fold(self.byte(list.len()), element))
    }

    fn bytes(mut self, bytes: &[u8]) -> Draft {
        self.0.extend_from_slice(bytes);
        self
    }

    /// Indices here are small or one of the large ones.
    fn index(self, index: u64) -> Draft {
        let large = LARGE.iter().position(|&l| l == index);
        self.byte(large.map_or(index as usize, |at| usize::from(WIDE) + at))
    }
}

/// Which sample of a parameter, if any, is used in this turn.
fn chosen(parameter: &Parameter, turn: usize) -> Option<usize> {
    (turn % 2 == 1).then(|| turn / 2 % parameter.samples.len())
}

/// Plain numbers; in every third turn each fourth is special.
fn value_byte(i: usize, turn: usize) -> usize {
    if turn % 3 == 2 && i % 4 == 1 { usize::from(SPECIAL_VALUE) + i + turn } else { (i + turn) % PLAIN.len() }
}

/// The pattern of a small matrix of some family, cut to `side` rows and columns; never without an entry.
fn pattern(turn: usize, side: usize) -> Entries<()> {
    let family = FAMILIES[turn % FAMILIES.len()].family;
    let mut cut = (turn as u64..turn as u64 + 16).filter_map(|index| {
        let whole = quick_spec(family, index).generate().ok()?.entries();
        let inside = |e: &Entry<()>| (e.row as usize) < side && (e.col as usize) < side;
        let list: Vec<_> = whole.list.into_iter().filter(inside).collect();
        (!list.is_empty()).then(|| Entries { rows: whole.rows.min(side), cols: whole.cols.min(side), list })
    });
    let diagonal = || Entries {
        rows: side,
        cols: side,
        list: (0..side as u32).map(|i| Entry { row: i, col: i, value: () }).collect(),
    };
    cut.next().unwrap_or_else(diagonal)
}

/// Nearly valid arrays and raw ones of each format.
fn of_formats(kinds: &[FormatKind]) -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for (i, &kind) in kinds.iter().enumerate() {
        for j in 0..PER_FORMAT {
            let turn = i * PER_FORMAT + j;
            let precision = turn % kind.precisions().len();
            let head = || Draft::default().byte(i).byte(precision);
            // Plain, then with one field damaged.
            for damage in [0, 1] {
                let draft = head().byte(0).params(&[kind], j).byte(damage);
                let draft = draft.bytes(&[turn as u8, 3 * j as u8, j as u8, turn as u8][..4 * damage]);
                seeds.push(draft.matrix(&pattern(turn, SIDE), turn).0);
            }
            seeds.extend(
                with_scalar!(kind.precisions()[precision], T => {
                    let params = FormatParams::default();
                    encoded::<T>(kind, &params, turn).and_then(|parts| head().byte(3).parts(&parts))
                })
                .map(|draft| draft.0),
            );
        }
    }
    seeds
}

/// A matrix of at most 12 rows in a format.
fn encoded<T: Scalar>(kind: FormatKind, params: &FormatParams, turn: usize) -> Option<Parts<T>> {
    let mut value = 0;
    let entries = pattern(turn, EXTENT).map(|()| {
        value += 1;
        T::from_f64(PLAIN[(value + turn) % PLAIN.len()])
    });
    let entries = prune(&entries, kind, params).ok()?;
    Some(Sparse::from_entries(kind, *params, &entries).ok()?.into())
}

/// Longest seed of `bitmap_decode`: libFuzzer makes no input longer than the longest seed, and short ones run faster.
const SHORT: usize = 128;

/// Arrays as encoders write them, and bytes from which arrays are built, some then damaged.
pub(super) fn bitmap_decode() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for (which, &kind) in BITMAPS.iter().enumerate() {
        for j in 0..8 {
            let turn = which * 8 + j;
            let head = Draft::default().byte(which).byte(RAW.into());
            let raw = encoded::<F16>(kind, &FormatParams::default(), turn);
            seeds.extend(raw.and_then(|parts| head.parts(&parts)).map(|draft| draft.0));
            let mut random = Random::new(turn as u64, "fuzz bitmaps");
            // A quarter of the bits.
            let noise: Vec<u8> =
                (0..24 + 8 * j).map(|_| (random.below(256) & random.below(256)) as u8).collect();
            let draft = Draft::default().byte(which).byte(0).byte(j % 2);
            let draft = draft.bytes(&noise[..4 * (j % 2)]).byte(ROWS - 2 * j).byte(COLS - 2 * j);
            seeds.push(draft.bytes(&[0, 9, SPECIAL_VALUE + 4, 1]).bytes(&noise).0);
        }
    }
    seeds.retain(|seed| seed.len() <= SHORT);
    seeds
}

pub(super) fn invalid_parts() -> Vec<Vec<u8>> {
    of_formats(&FormatKind::ALL)
}

pub(super) fn format_roundtrip() -> Vec<Vec<u8>> {
    let formats = FormatKind::ALL.iter().enumerate();
    let turns = formats.flat_map(|(i, &kind)| (0..PER_FORMAT).map(move |j| (i, kind, j)));
    let seed = |(i, kind, j): (usize, FormatKind, usize)| {
        let turn = i * PER_FORMAT + j;
        let draft = Draft::default().byte(i).byte(turn).params(&[kind], j);
        draft.matrix(&pattern(turn, SIDE), turn).0
    };
    turns.map(seed).collect()
}

/// A seed for every other contract; precisions lie next to one another in the table, so none is left out.
pub(super) fn convert_differential() -> Vec<Vec<u8>> {
    let moves = contracts(&[Op::Transpose, Op::Convert]);
    let every_other = moves.iter().enumerate().step_by(2);
    let seed = |(i, contract): (usize, &sparse_oracle::contract::Contract)| {
        let formats = [contract.format, contract.to.unwrap_or(contract.format)];
        let mut draft = Draft::default().wide(i).params(&formats, i / 2);
        if contract.to.is_some_and(FormatKind::is_structured) {
            draft = draft.byte(0);
        }
        draft.matrix(&pattern(i, SIDE), i).0
    };
    every_other.map(seed).collect()
}

/// Seeds of a target that starts with one choice out of `first`, a precision, parameters and damage.
fn of_family(first: usize, kinds: impl Fn(usize) -> Vec<FormatKind>, extra: Option<usize>) -> Vec<Vec<u8>> {
    let seed = |turn: usize| {
        let which = turn % first.max(1);
        let mut draft = Draft::default();
        if first > 0 {
            draft = draft.byte(which);
        }
        let mut draft = draft.byte(turn / 2).params(&kinds(which), turn);
        if let Some(limit) = extra {
            draft = draft.byte(turn * 5 % limit);
        }
        draft.byte(0).matrix(&pattern(turn, SIDE), turn).0
    };
    (0..24).map(seed).collect()
}

pub(super) fn nm_pack() -> Vec<Vec<u8>> {
    let kinds = [FormatKind::Nm, FormatKind::TwoFour, FormatKind::Vnm];
    of_family(3, |which| vec![kinds[which]], None)
}

pub(super) fn rp_csc() -> Vec<Vec<u8>> {
    of_family(2, |_| vec![FormatKind::RpCsc, FormatKind::CpCsr], None)
}

pub(super) fn loops() -> Vec<Vec<u8>> {
    of_family(0, |_| vec![FormatKind::Loops], Some(SIDE))
}

/// One seed for each third contract: factors, layouts and operands from the turn.
pub(super) fn spmm_differential() -> Vec<Vec<u8>> {
    let contracts = contracts(&[Op::Spmm, Op::Spmv]);
    let seed = |(i, contract): (usize, &sparse_oracle::contract::Contract)| {
        let spmv = contract.op == Op::Spmv;
        let mut draft = product(i, contract.format);
        draft = draft.byte(i / 2).byte(i / 3).byte(i % 3);
        if !spmv {
            draft = draft.byte(i / 2 % 3);
        }
        draft = draft.byte(i % 2);
        if !spmv {
            draft = draft.byte(i % 3);
        }
        draft.matrix(&pattern(i, EXTENT), i).0
    };
    contracts.iter().enumerate().step_by(3).map(seed).collect()
}

pub(super) fn sddmm_differential() -> Vec<Vec<u8>> {
    let contracts = contracts(&[Op::Sddmm]);
    let seed = |(i, contract): (usize, &sparse_oracle::contract::Contract)| {
        let mut draft = product(i, contract.format).byte(i % 3);
        // alpha, unless S multiplies; beta, where S is added.
        draft = match i % 3 {
            0 => draft.byte(i),
            1 => draft,
            _ => draft.byte(i).byte(i / 2),
        };
        draft.matrix(&pattern(i, EXTENT), i).0
    };
    contracts.iter().enumerate().map(seed).collect()
}

pub(super) fn spgemm_differential() -> Vec<Vec<u8>> {
    let contracts = contracts(&[Op::Spgemm]);
    let seed = |i: usize| {
        let draft = Draft::default().wide(i).matrix(&pattern(i, EXTENT), i);
        draft.matrix(&pattern(i + 7, EXTENT), i).0
    };
    (0..contracts.len()).map(seed).collect()
}

/// Contract, n, parameters, layout and padding of B.
fn product(i: usize, format: FormatKind) -> Draft {
    let draft = Draft::default().wide(i).byte(1 + i % 9).params(&[format], i);
    draft.byte(i / 2).byte(i % 3)
}

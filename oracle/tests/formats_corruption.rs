//! Random damage to one field of a valid matrix: the constructor refuses it, or what it takes is a matrix that
//! decodes, re-encodes and decodes again to the same entries. Nothing panics, nothing is half right.

use crate::matrices;
use sparse_oracle::prelude::*;

use matrices::{blocks, patterns, typed};
use proptest::prelude::*;
use proptest::sample::Index;
use sparse_oracle::Precision;
use sparse_oracle::format::{AnySparse, FormatKind, FormatParams, PAD};
use sparse_oracle::scalar::Values;
use sparse_oracle::task::RawSparse;

/// What happens to one field.
#[derive(Clone, Debug)]
enum Damage {
    Rows(usize),
    Cols(usize),
    Width(usize),
    Params(FormatParams),
    SetOffset(Index, u32),
    SetIndex(Index, u32),
    SwapOffsets(Index, Index),
    SwapIndices(Index, Index),
    SetValue(Index, f32),
    PopOffset,
    PopIndex,
    PopValue,
    PushOffset(u32),
    PushIndex(u32),
    PushValue(f32),
}

/// Small numbers, and those that overflow something.
fn extent() -> impl Strategy<Value = usize> {
    prop_oneof![
        4 => 0usize..70,
        1 => prop::sample::select(vec![1 << 16, 1 << 31, (1 << 32) - 1, 1 << 32, 1 << 63, usize::MAX]),
    ]
}

fn index() -> impl Strategy<Value = u32> {
    prop_oneof![4 => 0u32..70, 1 => prop::sample::select(vec![PAD, PAD - 1, 1 << 31])]
}

fn value() -> impl Strategy<Value = f32> {
    prop::sample::select(vec![0.0f32, -0.0, 1.0, f32::NAN, f32::MIN_POSITIVE / 2.0])
}

fn damage() -> impl Strategy<Value = Damage> {
    let any_extent = || (extent(), extent());
    prop_oneof![
        extent().prop_map(Damage::Rows),
        extent().prop_map(Damage::Cols),
        extent().prop_map(Damage::Width),
        any_extent().prop_map(|(rows, cols)| Damage::Params(FormatParams::blocks(rows as u32, cols as u32))),
        (any::<Index>(), index()).prop_map(|(at, to)| Damage::SetOffset(at, to)),
        (any::<Index>(), index()).prop_map(|(at, to)| Damage::SetIndex(at, to)),
        any::<(Index, Index)>().prop_map(|(a, b)| Damage::SwapOffsets(a, b)),
        any::<(Index, Index)>().prop_map(|(a, b)| Damage::SwapIndices(a, b)),
        (any::<Index>(), value()).prop_map(|(at, to)| Damage::SetValue(at, to)),
        Just(Damage::PopOffset),
        Just(Damage::PopIndex),
        Just(Damage::PopValue),
        index().prop_map(Damage::PushOffset),
        index().prop_map(Damage::PushIndex),
        value().prop_map(Damage::PushValue),
    ]
}

impl Damage {
    fn apply(self, raw: &mut RawSparse) {
        let Values::F32(values) = &mut raw.values else {
            unreachable!("the matrices here are f32");
        };
        let (offsets, indices) = (&mut raw.offsets, &mut raw.indices);
        match self {
            Damage::Rows(rows) => raw.rows = rows,
            Damage::Cols(cols) => raw.cols = cols,
            Damage::Width(width) => raw.width = width,
            Damage::Params(params) => raw.params = params,
            Damage::SetOffset(at, to) if !offsets.is_empty() => *at.get_mut(offsets) = to,
            Damage::SetIndex(at, to) if !indices.is_empty() => *at.get_mut(indices) = to,
            Damage::SetValue(at, to) if !values.is_empty() => *at.get_mut(values) = to,
            Damage::SwapOffsets(a, b) if !offsets.is_empty() => {
                let len = offsets.len();
                offsets.swap(a.index(len), b.index(len));
            }
            Damage::SwapIndices(a, b) if !indices.is_empty() => {
                let len = indices.len();
                indices.swap(a.index(len), b.index(len));
            }
            Damage::SetOffset(..)
            | Damage::SetIndex(..)
            | Damage::SetValue(..)
            | Damage::SwapOffsets(..)
            | Damage::SwapIndices(..) => {}
            Damage::PopOffset => drop(offsets.pop()),
            Damage::PopIndex => drop(indices.pop()),
            Damage::PopValue => drop(values.pop()),
            Damage::PushOffset(to) => offsets.push(to),
            Damage::PushIndex(to) => indices.push(to),
            Damage::PushValue(to) => values.push(to),
        }
    }
}

/// A taken matrix is whole: its entries are valid and survive another encoding, if one can be afforded.
fn whole(matrix: &AnySparse) -> Result<(), TestCaseError> {
    let entries = matrix.entries_bits();
    prop_assert_eq!(entries.check(), Ok(()));
    let again = AnySparse::from_bits(Precision::F32, FormatKind::Coo, FormatParams::default(), &entries);
    prop_assert_eq!(again.map(|m| m.entries_bits()), Ok(entries.clone()));
    if entries.rows < 1 << 20 {
        let again = matrix.convert(matrix.kind(), matrix.params());
        prop_assert_eq!(again.map(|m| m.entries_bits()), Ok(entries));
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn damaged_arrays_are_refused_or_whole(
        entries in patterns(),
        params in blocks(),
        damage in damage(),
        kind in prop::sample::select(FormatKind::GENERAL.to_vec()),
    ) {
        let bits = typed::<f32>(&entries).bits();
        let matrix = AnySparse::from_bits(Precision::F32, kind, params, &bits).expect("small matrices are encoded");
        let mut raw = RawSparse::of(matrix);
        damage.apply(&mut raw);
        if let Ok(taken) = raw.check() {
            whole(&taken)?;
        }
    }
}

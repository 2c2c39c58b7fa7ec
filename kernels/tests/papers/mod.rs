//! What holds of every format of the papers: random matrices, and the laws as functions of the format's name.

use proptest::prelude::*;
use proptest::sample::Index;
use sparse_kernels::{Kernel, kernels_here};
use sparse_oracle::contract::Op;
use sparse_oracle::format::{
    AnyParts, AnySparse, Csr, Entries, Entry, FieldMut, Fields, FormatKind, FormatParams, PAD, PARAMETERS,
    Parts, PartsElement, SLOT_LIMIT, Sparse,
};
use sparse_oracle::judge::first_difference;
use sparse_oracle::op::prune;
use sparse_oracle::prelude::*;
use sparse_oracle::scalar::Element;
use sparse_oracle::task::{Answer, Task};
use sparse_oracle::{Precision, Refusal, Scalar};

/// Bit patterns, half of them special: both zeros, infinities, NaN payloads, subnormals; drawn 64 bits wide from the
/// top, so that narrower types get the same classes after [`typed`].
fn bits() -> impl Strategy<Value = u64> {
    prop_oneof![
        2 => Just(0u64),
        2 => Just(1 << 63),
        1 => Just(0x7ff0 << 48),
        1 => any::<u64>().prop_map(|payload| payload | 0x7ff0 << 48),
        1 => any::<u8>().prop_map(u64::from),
        6 => any::<u64>(),
    ]
}

/// Sorted entries as 64-bit patterns: 0..=200 rows and columns, scattered or crowded into few rows and columns.
pub(crate) fn patterns() -> impl Strategy<Value = Entries<u64>> {
    let side = || prop_oneof![3 => 0usize..=24, 2 => 0usize..=200];
    (side(), side(), 1u32..=200, 1u32..=200).prop_flat_map(|(rows, cols, tall, wide)| {
        let cell = (any::<u32>(), any::<u32>(), bits());
        prop::collection::vec(cell, 0..=400).prop_map(move |cells| {
            let mut at = std::collections::BTreeMap::new();
            for (row, col, value) in cells.into_iter().filter(|_| rows * cols > 0) {
                let row = row % tall.min(rows as u32);
                // Crowded columns lie apart from one another, so that windows skip columns.
                let col = (col % wide).wrapping_mul(7) % cols as u32;
                at.insert((row, col), value);
            }
            let list = at.into_iter().map(|((row, col), value)| Entry { row, col, value });
            Entries::try_new(rows, cols, list.collect()).expect("a map is sorted and has no duplicates")
        })
    })
}

/// Parameters that `kind` reads, each at its default or one of its samples.
pub(crate) fn params(kind: FormatKind) -> impl Strategy<Value = FormatParams> {
    let count = PARAMETERS.len();
    prop::collection::vec(prop::option::of(any::<Index>()), count).prop_map(move |picks| {
        let mut params = FormatParams::default();
        for (parameter, pick) in PARAMETERS.iter().zip(picks) {
            if let Some(pick) = pick.filter(|_| parameter.formats.contains(&kind)) {
                (parameter.set)(&mut params, *pick.get(parameter.samples));
            }
        }
        params
    })
}

/// The same entries in a type: the top bits of each pattern.
pub(crate) fn typed<T: Element>(entries: &Entries<u64>) -> Entries<T> {
    let drop = 64 - T::PRECISION.spec().storage_bits;
    entries.map(|&bits| match T::PRECISION {
        // Keep the small patterns small: they are the subnormals.
        Precision::F64 => T::from_bits64(bits),
        _ if bits < 256 => T::from_bits64(bits & 0x7f),
        _ => T::from_bits64(bits >> drop),
    })
}

/// What an encoding can carry of `entries` (SEMANTICS section 2).
fn carried<T: Element>(matrix: &Sparse<T>, entries: &Entries<T>) -> Entries<u64> {
    if !matrix.kind().pads_with_zeros() {
        return entries.bits();
    }
    let csr_rows = match matrix {
        Sparse::Loops(m) => m.boundary as u32,
        _ => 0,
    };
    let kept = |e: &&Entry<T>| e.row < csr_rows || !e.value.is_positive_zero();
    let list = entries.list.iter().filter(kept).copied().collect();
    Entries { list, ..*entries }.bits()
}

fn kernel(from: FormatKind, to: FormatKind, precision: Precision) -> &'static Kernel {
    let found = kernels_here().find(|k| {
        let c = k.contract;
        (c.op, c.format, c.to, c.types.a) == (Op::Convert, from, Some(to), precision)
    });
    found.expect("every conversion has a kernel")
}

/// The optimised encoder's parts.
pub(crate) fn encoded<T: PartsElement>(
    csr: Csr<T>,
    kind: FormatKind,
    params: FormatParams,
) -> Result<AnyParts, Refusal>
where
    AnySparse: From<Sparse<T>>,
{
    let a = AnySparse::from(Sparse::Csr(csr));
    let kernel = kernel(FormatKind::Csr, kind, T::PRECISION);
    match (kernel.run)(Task::Convert { a: &a, to: kind, params })? {
        Answer::Parts(parts) => Ok(parts),
        other => panic!("{} answered {other:?}", kernel.name),
    }
}

/// The optimised decoder's CSR, checked, as entries.
pub(crate) fn decoded(a: &AnySparse) -> Result<Entries<u64>, Refusal> {
    let kernel = kernel(a.kind(), FormatKind::Csr, a.precision());
    let params = FormatParams::default();
    match (kernel.run)(Task::Convert { a, to: FormatKind::Csr, params })? {
        Answer::Sparse(raw) => Ok(raw.check().expect("a decoder's CSR is valid").entries_bits()),
        other => panic!("{} answered {other:?}", kernel.name),
    }
}

/// decode(encode(A)) = A, for the reference and the optimised kernel, array by array.
pub(crate) fn round_trip<T: PartsElement + Element>(
    kind: FormatKind,
    entries: &Entries<u64>,
    params: FormatParams,
) -> Result<(), TestCaseError>
where
    AnySparse: From<Sparse<T>>,
{
    let entries = prune(&typed::<T>(entries), kind, &params).expect("legal parameters");
    prop_assert_eq!(entries.check(), Ok(()));
    let csr = Csr::from_entries(&entries).expect("encodes");
    let matrix = match Sparse::from_entries(kind, params, &entries) {
        Ok(matrix) => matrix,
        Err(refusal) => {
            // Narrow fields may have no room; then both refuse, in the same words.
            let other = encoded(csr, kind, params).map(|p| p.kind());
            prop_assert_eq!(other, Err(refusal));
            return Ok(());
        }
    };
    prop_assert_eq!(matrix.kind(), kind);
    prop_assert_eq!(matrix.shape(), (entries.rows, entries.cols));
    let found = matrix.entries();
    prop_assert_eq!(found.check(), Ok(()));
    prop_assert_eq!(found.bits(), carried(&matrix, &entries), "the reference's round trip");
    prop_assert_eq!(matrix.nnz(), found.nnz());
    let again = Sparse::from_entries(kind, matrix.params(), &entries).expect("its own parameters");
    let (parts, again) = (Parts::from(matrix.clone()), Parts::from(again));
    prop_assert_eq!(first_difference(&parts, &again), None, "encoding twice, with the parameters read back");
    let checked = parts.clone().check();
    prop_assert!(checked.is_ok(), "the validator refuses the encoder's output: {:?}", checked.err());
    let optimised = encoded(csr, kind, params).expect("what the reference encodes");
    let optimised = AnyParts::check(optimised).map_err(|e| TestCaseError::fail(format!("optimised: {e}")))?;
    let whole = sparse_oracle::judge::judge_encoded(&AnySparse::from(matrix.clone()), optimised.into());
    prop_assert_eq!(whole, sparse_oracle::verdict::Verdict::Exact, "the optimised encoder");
    prop_assert_eq!(decoded(&AnySparse::from(matrix)), Ok(found.bits()), "the optimised decoder");
    Ok(())
}

/// Damage to one field.
#[derive(Clone, Debug)]
pub(crate) enum Damage {
    Set(Index, u64),
    Flip(Index, u32),
    Swap(Index, Index),
    Pop,
    Push(u64),
    Clear,
}

pub(crate) fn damage() -> impl Strategy<Value = (Index, Damage)> {
    let number = prop_oneof![
        4 => 0u64..40,
        1 => Just(u64::from(PAD)),
        1 => Just(u64::from(PAD) - 1),
        1 => prop::sample::select(vec![1u64 << 16, 1 << 31, 1 << 32, 1 << 63, u64::MAX]),
        1 => any::<u64>(),
    ];
    let kind = prop_oneof![
        4 => (any::<Index>(), number.clone()).prop_map(|(at, v)| Damage::Set(at, v)),
        3 => (any::<Index>(), 0u32..64).prop_map(|(at, bit)| Damage::Flip(at, bit)),
        2 => (any::<Index>(), any::<Index>()).prop_map(|(a, b)| Damage::Swap(a, b)),
        1 => Just(Damage::Pop),
        1 => number.prop_map(Damage::Push),
        1 => Just(Damage::Clear),
    ];
    (any::<Index>(), kind)
}

fn apply<X: Copy>(list: &mut Vec<X>, damage: &Damage, from: impl Fn(u64) -> X, to: impl Fn(X) -> u64) {
    let len = list.len();
    match damage {
        Damage::Set(at, value) if len > 0 => list[at.index(len)] = from(*value),
        Damage::Flip(at, bit) if len > 0 => {
            let at = at.index(len);
            list[at] = from(to(list[at]) ^ 1 << bit);
        }
        Damage::Swap(a, b) if len > 0 => list.swap(a.index(len), b.index(len)),
        Damage::Pop => drop(list.pop()),
        Damage::Push(value) => list.push(from(*value)),
        Damage::Clear => list.clear(),
        _ => {}
    }
}

/// One field damaged: refused, or decoded alike by reference and kernel, and valid as entries.
pub(crate) fn corrupted(
    kind: FormatKind,
    entries: &Entries<u64>,
    params: FormatParams,
    (which, damage): (Index, Damage),
) -> Result<(), TestCaseError> {
    // A type that every format has.
    type T = sparse_oracle::F16;
    let entries = prune(&typed::<T>(entries), kind, &params).expect("legal parameters");
    let Ok(matrix) = Sparse::from_entries(kind, params, &entries) else {
        return Ok(());
    };
    let mut parts = Parts::from(matrix);
    let mut fields = parts.fields_mut();
    let at = which.index(fields.len());
    match &mut fields[at].1 {
        FieldMut::Extent(extent) => match &damage {
            Damage::Set(_, v) | Damage::Push(v) => **extent = *v as usize,
            Damage::Flip(_, bit) => **extent ^= 1 << bit,
            _ => **extent = extent.wrapping_sub(1),
        },
        FieldMut::Flag(flag) => **flag = !**flag,
        FieldMut::U8(v) => apply(v, &damage, |x| x as u8, u64::from),
        FieldMut::U16(v) => apply(v, &damage, |x| x as u16, u64::from),
        FieldMut::U32(v) => apply(v, &damage, |x| x as u32, u64::from),
        FieldMut::U64(v) => apply(v, &damage, |x| x, |x| x),
        FieldMut::Values(v) => {
            apply(v, &damage, |x| T::from_bits64(x & 0xffff), Scalar::bits64);
        }
    }
    drop(fields);
    let Ok(taken) = parts.check() else {
        return Ok(());
    };
    let found = taken.entries();
    prop_assert_eq!(found.check(), Ok(()));
    prop_assert_eq!(taken.nnz(), found.nnz());
    // A format without row pointers may claim more rows than a test wants to visit, or than CSR has room for; then the
    // decoder refuses as CSR does.
    if (1 << 20..SLOT_LIMIT as usize).contains(&found.rows) {
        return Ok(());
    }
    let expected = Csr::from_entries(&found).map(|_| found.bits());
    prop_assert_eq!(decoded(&AnySparse::from(taken)), expected);
    Ok(())
}

//! What a plug-in hands back: calls of `sc_result`, in any order and with anything in them.

use super::draft::DRAFT;
use super::wire::RECORDED;
use super::{FuzzOutcome, Input};
use sparse_conformance::remote::Extent;
use sparse_oracle::contract::{Contract, Returned, all_contracts};
use sparse_oracle::format::{FieldMut, FieldRef, Fields, FormatKind, Parts, PartsElement};
use sparse_oracle::scalar::{Element, Precision};
use sparse_oracle::source::Random;
use sparse_oracle::task::Answer;
use sparse_oracle::with_scalar;
use sparse_plugin::trial::{Act, answer};
use std::collections::BTreeMap;

/// Names that no format has.
const NAMES: [Option<&[u8]>; 8] = [
    None,
    Some(b""),
    Some(b"valuesx"),
    Some(b"rows"),
    Some(b"values"),
    Some(b"\xff"),
    Some(&[b'a'; 65]),
    Some(b"row_ptr"),
];
/// First byte that stands for one of [`NAMES`], for a type by its number, or for one of [`COUNTS`].
const ODD: u8 = 0xf0;
/// Counts at the ends of types, none of which is memory that a machine lacks.
const COUNTS: [u64; 8] = [0, 255, 4096, (1 << 30) + 1, 1 << 32, 1 << 61, 1 << 63, u64::MAX];
/// Most elements that are written.
const WRITTEN: u64 = 240;

/// An array or extent of a format: name, the header's number of the type (0: an extent), and bytes of an element.
type Slot = (&'static str, i32, usize);

fn slots(kind: FormatKind, precision: Precision) -> Vec<Slot> {
    let place = Precision::ALL.iter().position(|p| *p == precision).unwrap_or_default();
    let values = (place as i32 + 1, precision.bytes());
    let slot = |(name, field): (&'static str, FieldRef<'_, u8>)| {
        let (code, size) = match field {
            FieldRef::Extent(_) | FieldRef::Flag(_) => (0, 0),
            FieldRef::U8(_) => (16, 1),
            FieldRef::U16(_) => (17, 2),
            FieldRef::U32(_) => (18, 4),
            FieldRef::U64(_) => (19, 8),
            FieldRef::Values(_) => values,
        };
        (name, code, size)
    };
    Parts::<u8>::empty(kind).fields().into_iter().map(slot).collect()
}

fn kind(contract: &Contract) -> FormatKind {
    contract.to.unwrap_or(contract.format)
}

/// A call that a library could have made, and what it amounts to if all of it is right.
struct Drafted {
    contract: Contract,
    shape: Option<(usize, usize)>,
    acts: Vec<Act>,
    status: i32,
    /// Elements as bits of the arrays that were written whole.
    arrays: BTreeMap<&'static str, Vec<u64>>,
    extents: BTreeMap<&'static str, u64>,
    /// An array has bytes that nobody wrote, or some outside of it.
    unknown: bool,
}

fn drafted(input: &mut Input<'_>) -> Drafted {
    let contracts: Vec<&Contract> =
        all_contracts().iter().filter(|c| sparse_plugin::is_in_header(c.op)).collect();
    let contract = *contracts[input.word(2) as usize % contracts.len()];
    let dense =
        matches!(contract.op.signature().returned, Returned::Matrix | Returned::Vector | Returned::Sampled);
    let (rows, cols) = (input.below(256), input.below(256));
    let status = match input.byte() {
        byte if byte < ODD => 0,
        byte => i32::from(byte) - i32::from(ODD),
    };
    let mut draft = Drafted {
        contract,
        shape: (!dense).then_some((rows, cols)),
        acts: Vec::new(),
        status,
        arrays: BTreeMap::new(),
        extents: [("rows", rows as u64), ("cols", cols as u64)].into(),
        unknown: false,
    };
    let slots = slots(kind(&contract), contract.types.out);
    while !input.is_empty() && draft.acts.len() < 24 {
        let act = act(input, &slots, &mut draft);
        draft.acts.push(act);
    }
    draft
}

fn act(input: &mut Input<'_>, slots: &[Slot], draft: &mut Drafted) -> Act {
    let byte = input.byte();
    if byte == u8::MAX {
        return Act::Refuse(input.pick(&NAMES).map(<[u8]>::to_vec));
    }
    if byte >= ODD {
        let name = input.pick(&NAMES).map(<[u8]>::to_vec);
        if input.one_in(2) {
            let value = input.word(8);
            let meant = slots.iter().find(|slot| slot.1 == 0 && name.as_deref() == Some(slot.0.as_bytes()));
            draft.extents.extend(meant.map(|slot| (slot.0, value)));
            return Act::SetExtent { name, value };
        }
        draft.unknown = true;
        return Act::NewArray { name, dtype: i32::from(input.byte()), count: 1, at: 0, content: vec![1] };
    }
    let (name, code, size) = slots[usize::from(byte) % slots.len()];
    let named = Some(name.as_bytes().to_vec());
    if code == 0 {
        let value = element(input);
        draft.extents.insert(name, value);
        return Act::SetExtent { name: named, value };
    }
    let dtype = if input.one_in(32) { i32::from(input.byte()) } else { code };
    let count = match input.byte() {
        byte if byte >= ODD => COUNTS[usize::from(byte - ODD) % COUNTS.len()],
        byte => u64::from(byte),
    };
    let elements: Vec<u64> = (0..count.min(WRITTEN)).map(|_| element(input)).collect();
    let content: Vec<u8> =
        elements.iter().flat_map(|bits| bits.to_le_bytes().into_iter().take(size)).collect();
    let at = if input.one_in(16) { i64::from(input.word(2) as i16) } else { 0 };
    draft.unknown |= at != 0 || elements.len() as u64 != count;
    let mask = u64::MAX >> (64 - 8 * size.clamp(1, 8));
    draft.arrays.insert(name, elements.iter().map(|bits| bits & mask).collect());
    Act::NewArray { name: named, dtype, count, at, content }
}

/// Bits: small ones are one byte.
fn element(input: &mut Input<'_>) -> u64 {
    match input.byte() {
        byte if byte >= ODD => input.word(8),
        byte => u64::from(byte),
    }
}

fn put(bytes: &mut Vec<u8>, value: u64) {
    if value < u64::from(ODD) {
        bytes.push(value as u8);
    } else {
        bytes.push(ODD);
        bytes.extend(value.to_le_bytes());
    }
}

/// The calls with which a library would hand back the recorded sparse answers, and random ones.
pub(super) fn seeds() -> Vec<Vec<u8>> {
    let mut seeds: Vec<Vec<u8>> = RECORDED
        .iter()
        .filter_map(|conversation| {
            let contract = conversation.request().contract;
            let (reply, payload) = conversation.reply();
            let head = reply.sparse?;
            let mut contracts = all_contracts().iter().filter(|c| sparse_plugin::is_in_header(c.op));
            let place = contracts.position(|c| *c == contract)? as u16;
            let mut bytes = place.to_le_bytes().to_vec();
            bytes.extend([4, 5, 0]);
            for (at, (name, code, size)) in slots(kind(&contract), contract.types.out).into_iter().enumerate()
            {
                bytes.push(at as u8);
                if code == 0 {
                    match head.extents.get(name)? {
                        Extent::Flag(on) => put(&mut bytes, u64::from(*on)),
                        Extent::Number(number) => put(&mut bytes, *number),
                    }
                    continue;
                }
                let array = reply.arrays.iter().find(|array| array.name == name)?;
                let start = usize::try_from(array.offset).ok()?;
                let content = payload.get(start..start + usize::try_from(array.count).ok()? * size)?;
                bytes.extend([0, u8::try_from(array.count).ok().filter(|count| *count < ODD)?]);
                for element in content.chunks(size) {
                    let mut word = [0; 8];
                    word[..size].copy_from_slice(element);
                    put(&mut bytes, u64::from_le_bytes(word));
                }
                bytes.push(0);
            }
            Some(bytes)
        })
        .collect();
    seeds.extend((0..40).map(|turn| {
        let mut random = Random::new(turn, "fuzz calls of a library");
        let len = u64::from(DRAFT) + turn * 3;
        (0..len)
            .map(|at| if at == 4 { 0 } else { random.below(if at % 2 == 0 { 256 } else { 16 }) as u8 })
            .collect()
    }));
    seeds
}

/// Whatever a library does in a call is an error with words, or an answer of the very arrays and extents that it wrote, which the
/// oracle then checks.
///
/// # Panics
/// When it is not.
pub fn plugin_result(bytes: &[u8]) -> FuzzOutcome {
    let draft = drafted(&mut Input::new(bytes));
    let found = match answer(&draft.contract, draft.shape, &draft.acts, draft.status) {
        Ok(found) => found,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return FuzzOutcome::Refused;
        }
    };
    assert_eq!(draft.status, 0, "an answer, whatever the status");
    assert_eq!(draft.shape.is_none(), found == Answer::Written, "{}", draft.contract);
    if !draft.unknown && draft.shape.is_some() {
        let expected = with_scalar!(draft.contract.types.out, T => expected::<T>(&draft));
        // Text, because a NaN is as good as itself there.
        assert_eq!(format!("{found:?}"), format!("{expected:?}"));
    }
    let checked = match found {
        Answer::Written => return FuzzOutcome::Accepted,
        Answer::Sparse(raw) => raw.check(),
        Answer::Parts(parts) => parts.check(),
    };
    checked.map_or_else(|refusal| assert!(!refusal.to_string().is_empty()), drop);
    FuzzOutcome::Accepted
}

/// The answer that the calls amount to.
fn expected<T: Element + PartsElement>(draft: &Drafted) -> Answer {
    let mut parts = Parts::<T>::empty(kind(&draft.contract));
    for (name, field) in parts.fields_mut() {
        let bits = draft.arrays.get(name).map_or(&[] as &[u64], Vec::as_slice).iter();
        let extent = draft.extents.get(name).copied().unwrap_or(0);
        match field {
            FieldMut::Extent(n) => *n = usize::try_from(extent).unwrap_or(usize::MAX),
            FieldMut::Flag(on) => *on = extent != 0,
            FieldMut::U8(list) => list.extend(bits.map(|bits| *bits as u8)),
            FieldMut::U16(list) => list.extend(bits.map(|bits| *bits as u16)),
            FieldMut::U32(list) => list.extend(bits.map(|bits| *bits as u32)),
            FieldMut::U64(list) => list.extend(bits),
            FieldMut::Values(list) => list.extend(bits.map(|bits| T::from_bits64(*bits))),
        }
    }
    Answer::from_parts(parts).expect("the host has made an answer of these")
}

//! Targets that move values: encoding, decoding, conversions and transposes.

use super::FuzzOutcome;
use super::input::{Input, SIDE};
use super::products::{judged, triples};
use sparse_conformance_core::case::{Case, Params};
use sparse_conformance_core::operands::Operands;
use sparse_conformance_core::origin::Origin;
use sparse_oracle::contract::{Contract, all_contracts};
use sparse_oracle::convert::transpose;
use sparse_oracle::format::{
    AnySparse, Coo, Entries, Entry, FormatKind, FormatParams, Parts, PartsElement, Sparse,
};
use sparse_oracle::judge::first_difference;
use sparse_oracle::op::prune;
use sparse_oracle::prelude::*;
use sparse_oracle::refusal::Refusal;
use sparse_oracle::scalar::{Element, Scalar};
use sparse_oracle::with_scalar;
use std::sync::LazyLock;

/// Every format, by the reference alone: decoding gives back what was encoded, the constructor takes the encoder's
/// arrays, and the parameters read back encode the same arrays again.
///
/// # Panics
/// When one of these fails.
pub fn format_roundtrip(bytes: &[u8]) -> FuzzOutcome {
    let mut input = Input::new(bytes);
    let kind = input.pick(&FormatKind::ALL);
    with_scalar!(input.pick(kind.precisions()), T => {
        let params = input.params(&[kind]);
        let entries = input.entries::<T>(SIDE);
        match round_trip(kind, params, &entries) {
            Err(refusal) => {
                assert!(!refusal.to_string().is_empty());
                FuzzOutcome::Refused
            }
            Ok(()) => FuzzOutcome::Accepted,
        }
    })
}

fn round_trip<T: PartsElement + Element>(
    kind: FormatKind,
    params: FormatParams,
    entries: &Entries<T>,
) -> Result<(), Refusal> {
    assert_eq!(entries.check(), Ok(()));
    let entries = prune(entries, kind, &params)?;
    let matrix = Sparse::from_entries(kind, params, &entries)?;
    let found = matrix.entries();
    assert_eq!(found.check(), Ok(()));
    assert_eq!(matrix.nnz(), found.nnz());
    assert_eq!(matrix.shape(), (entries.rows, entries.cols));
    assert_eq!(found.bits(), carried(&matrix, &entries).bits(), "what was encoded");
    let parts = Parts::from(matrix.clone());
    let again = Sparse::from_entries(kind, matrix.params(), &entries)?;
    assert_eq!(first_difference(&parts, &again.into()), None, "with the parameters read back");
    let checked = parts.clone().check()?;
    assert_eq!(first_difference(&parts, &checked.into()), None, "as checked");
    if FormatKind::GENERAL.contains(&kind) {
        let back = transpose(&transpose(&matrix)?)?;
        assert_eq!(back.entries().bits(), found.bits(), "transposed twice");
    }
    Ok(())
}

/// What an encoding can carry: a format with zero pads drops explicit +0.0, LOOPS only below its boundary.
fn carried<T: Scalar>(matrix: &Sparse<T>, entries: &Entries<T>) -> Entries<T> {
    if !matrix.kind().pads_with_zeros() {
        return entries.clone();
    }
    let kept_anyway = match matrix {
        Sparse::Loops(m) => m.boundary,
        _ => 0,
    };
    let kept = |e: &&Entry<T>| (e.row as usize) < kept_anyway || !e.value.is_positive_zero();
    Entries { list: entries.list.iter().filter(kept).copied().collect(), ..*entries }
}

/// Every conversion and transpose of the contracts' table: each kernel against the reference, through the same judge
/// as `conformance run`.
///
/// # Panics
/// When a kernel's result is wrong, or it refuses what it must take, or the other way round.
pub fn convert_differential(bytes: &[u8]) -> FuzzOutcome {
    static MOVES: LazyLock<Vec<Contract>> = LazyLock::new(|| {
        let moves = all_contracts().iter().filter(|c| c.op.is_exact());
        moves.copied().collect()
    });
    let mut input = Input::new(bytes);
    let contract = input.pick_wide(&MOVES);
    let formats = [contract.format, contract.to.unwrap_or(contract.format)];
    let params = Params {
        blocks: input.params(&formats),
        unpruned: contract.to.is_some_and(FormatKind::is_structured) && input.one_in(4),
        duplicates: contract.format == FormatKind::Coo,
        ..Params::default()
    };
    let Ok(a) = operand(&mut input, contract, formats, &params) else {
        return FuzzOutcome::Refused;
    };
    let operands = Operands {
        result: a.shape(),
        a,
        b_sparse: None,
        b: None,
        y: None,
        c: [Vec::new(), Vec::new()],
        earlier: Vec::new(),
    };
    let case = Case {
        contract,
        origin: Origin::Embedded("fuzz".to_owned()),
        filling: sparse_conformance_core::case::Filling::Own(0),
        params,
    };
    judged(&case, &operands)
}

/// The operand of a move, in its format; COO in any order, with duplicates.
fn operand(
    input: &mut Input<'_>,
    contract: Contract,
    formats: [FormatKind; 2],
    params: &Params,
) -> Result<AnySparse, Refusal> {
    with_scalar!(contract.types.a, T => {
        if contract.format == FormatKind::Coo {
            let coo = Coo::try_new(triples::<T>(input, SIDE))?;
            return Ok(Sparse::Coo(coo).into());
        }
        let mut entries = input.entries::<T>(SIDE);
        if let Some(pattern) = formats.into_iter().find(|f| f.is_structured() && !params.unpruned) {
            entries = prune(&entries, pattern, &params.blocks)?;
        }
        Sparse::from_entries(contract.format, params.blocks, &entries).map(AnySparse::from)
    })
}

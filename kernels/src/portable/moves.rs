//! Operations that move values and never round them: transposes and conversions. What they share: checking the task,
//! limits on what may be allocated, and the counting sort that turns compressed lanes.

use super::element::Stored;
use super::request;
use sparse_types::contract::Op;
use sparse_types::format::{BLOCK_AREA_LIMIT, FormatKind, FormatParams, Parts, SLOT_LIMIT, Sparse};
use sparse_types::refusal::{Limit, Refusal, RequestError};
use sparse_types::task::{Answer, RawSparse, Task};

/// One transpose or conversion, for every element type.
pub(crate) trait Move {
    /// Transpose or Convert.
    const OP: Op;
    /// Format of the operand.
    const FROM: FormatKind;
    /// Target of a conversion.
    const TO: Option<FormatKind>;

    /// The arrays of the result; `params` matter to blocked targets only.
    fn perform<T: Stored>(matrix: &Sparse<T>, params: FormatParams) -> Result<Answer, Refusal>;
}

/// The kernel for move `M` and element type `T`.
#[expect(clippy::needless_pass_by_value, reason = "the signature that the registry calls")]
pub(crate) fn run<M: Move, T: Stored>(task: Task<'_>) -> Result<Answer, Refusal> {
    let asked = task.inputs();
    if asked.op != M::OP {
        return Err(request::wrong_task(M::OP, &task));
    }
    if let (Some(wanted), Some(to)) = (M::TO, asked.to)
        && wanted != to
    {
        return Err(request::wrong_format("target", wanted, to));
    }
    let matrix = request::sparse::<T>("A", asked.a, M::FROM)?;
    M::perform(matrix, asked.params)
}

/// A result without blocks or slots.
pub(crate) fn compressed<T: Stored>(kind: FormatKind, shape: (usize, usize), arrays: Arrays<T>) -> Answer {
    Answer::Sparse(raw(kind, shape, arrays))
}

/// The arrays of a result, without blocks or slots.
pub(crate) fn raw<T: Stored>(
    kind: FormatKind,
    (rows, cols): (usize, usize),
    (offsets, indices, values): Arrays<T>,
) -> RawSparse {
    RawSparse {
        kind,
        rows,
        cols,
        params: FormatParams::default(),
        width: 0,
        offsets,
        indices,
        values: T::wrap(values),
    }
}

/// A result in a format of the papers.
pub(crate) fn encoded<T: Stored>(parts: Parts<T>) -> Result<Answer, Refusal> {
    Ok(Answer::Parts(T::any_parts(parts)))
}

/// Offsets, indices, values.
pub(crate) type Arrays<T> = (Vec<u32>, Vec<u32>, Vec<T>);

/// Checks that `count` elements may be allocated for one array.
pub(crate) fn check_slots(field: &'static str, count: u128) -> Result<usize, Refusal> {
    if count <= u128::from(SLOT_LIMIT) {
        return Ok(count as usize);
    }
    Err(Limit { field, found: count, limit: SLOT_LIMIT }.into())
}

/// Checks the shape of a block: (rows, columns).
pub(crate) fn check_block(params: FormatParams) -> Result<(usize, usize), Refusal> {
    let FormatParams { block_rows, block_cols, .. } = params;
    for (field, extent) in [("block_rows", block_rows), ("block_cols", block_cols)] {
        if extent == 0 {
            return Err(RequestError::Zero { field }.into());
        }
    }
    let area = u64::from(block_rows) * u64::from(block_cols);
    if area > BLOCK_AREA_LIMIT {
        return Err(Refusal::Limit(Limit {
            field: "block_rows * block_cols",
            found: u128::from(area),
            limit: BLOCK_AREA_LIMIT,
        }));
    }
    Ok((block_rows as usize, block_cols as usize))
}

/// Turns lanes by rows into lanes by columns, or back: a counting sort by `index`, which keeps the order of the lanes.
///
/// ```text
/// ptr 0 2 3, index 1 3 0      ->      ptr 0 1 2 2 3, index 1 0 0
/// ```
pub(crate) fn turn<T: Copy + Default>(
    field: &'static str,
    lanes: usize,
    ptr: &[u32],
    index: &[u32],
    values: &[T],
) -> Result<Arrays<T>, Refusal> {
    let mut starts = vec![0u32; check_slots(field, lanes as u128 + 1)?];
    for &lane in index {
        starts[lane as usize + 1] += 1;
    }
    for lane in 0..lanes {
        starts[lane + 1] += starts[lane];
    }
    let mut next = starts.clone();
    let mut turned = (vec![0u32; index.len()], vec![T::default(); index.len()]);
    for (major, ends) in ptr.windows(2).enumerate() {
        for at in ends[0] as usize..ends[1] as usize {
            let slot = &mut next[index[at] as usize];
            turned.0[*slot as usize] = major as u32;
            turned.1[*slot as usize] = values[at];
            *slot += 1;
        }
    }
    Ok((starts, turned.0, turned.1))
}

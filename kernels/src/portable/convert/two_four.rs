//! CSR to 2:4 (1:2 for tf32), and back.
//!
//! A row is walked in runs of entries that share a chunk; a run of one or two becomes a nibble and its slots.
//!
//! ```text
//! words of one instruction     row r, chunk c:  word (r % 8) * (chunks / 4) + c / 4,  bit 16 * (r / 8) + 4 * (c % 4)
//! ```

use super::bands;
use crate::portable::element::Stored;
use crate::portable::moves::{Move, check_slots, compressed, encoded};
use crate::portable::request::wrong_format;
use sparse_types::Precision;
use sparse_types::contract::Op;
use sparse_types::format::{Csr, FormatKind, FormatParams, Parts, Sparse, TwoFourParts};
use sparse_types::refusal::{Refusal, RequestError};
use sparse_types::task::Answer;

/// CSR to 2:4.
#[derive(Debug)]
pub(crate) struct CsrToTwoFour;

/// 2:4 to CSR.
#[derive(Debug)]
pub(crate) struct TwoFourToCsr;

/// Rows of an instruction.
pub(crate) const ROWS: usize = 16;

/// How an instruction cuts a row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TwoFourCut {
    /// Columns of a chunk.
    pub(crate) chunk: usize,
    /// Chunks of one instruction, 4 or 8.
    chunks: usize,
    /// Instructions across the matrix.
    across: usize,
}

impl TwoFourCut {
    pub(crate) fn new<T: Stored>(cols: usize, short_k: bool) -> Result<TwoFourCut, Refusal> {
        let chunk = match T::PRECISION {
            Precision::F16 | Precision::Bf16 => 4,
            Precision::Tf32 => 2,
            other => {
                return Err(Refusal::Request(RequestError::Kind {
                    field: "values",
                    expected: "tf32, f16 or bf16".to_owned(),
                    found: other.to_string(),
                }));
            }
        };
        let chunks = if short_k { 4 } else { 8 };
        let across = cols.div_ceil(chunk * chunks);
        Ok(TwoFourCut { chunk, chunks, across })
    }

    /// Slots of one row.
    pub(crate) fn stride(self) -> usize {
        self.across * self.chunks * self.chunk / 2
    }

    /// Metadata words of 16 rows.
    pub(crate) fn words(self) -> usize {
        self.across * self.chunks * 2
    }

    /// Word, among those of 16 rows, and first bit of the nibble of a chunk.
    pub(crate) fn nibble(self, row: usize, chunk: usize) -> (usize, usize) {
        let (instruction, at) = (chunk / self.chunks, chunk % self.chunks);
        let word = (instruction * 8 + row % 8) * (self.chunks / 4) + at / 4;
        (word, row / 8 % 2 * 16 + at % 4 * 4)
    }
}

impl Move for CsrToTwoFour {
    const OP: Op = Op::Convert;
    const FROM: FormatKind = FormatKind::Csr;
    const TO: Option<FormatKind> = Some(FormatKind::TwoFour);

    fn perform<T: Stored>(matrix: &Sparse<T>, params: FormatParams) -> Result<Answer, Refusal> {
        let Sparse::Csr(csr) = matrix else {
            return Err(wrong_format("A", Self::FROM, matrix.kind()));
        };
        let cut = TwoFourCut::new::<T>(csr.cols, params.short_k)?;
        let blocks = csr.rows.div_ceil(ROWS);
        let slots = (blocks * ROWS) as u128 * cut.stride() as u128;
        let slots = check_slots("slots", slots)?;
        let mut metadata = vec![0x4444_4444u32; blocks * cut.words()];
        let mut values = vec![T::from_bits64(0); slots];
        if slots > 0 {
            let band = bands::band_rows(csr.rows, ROWS, csr.nnz());
            let words = metadata.chunks_mut(band / ROWS * cut.words());
            let jobs = words.zip(values.chunks_mut(band * cut.stride())).enumerate();
            bands::run(jobs.collect(), |(at, (metadata, values))| {
                let rows = at * band..csr.rows.min((at + 1) * band);
                fill_rows(csr, cut, rows, metadata, values)
            })?;
        }
        encoded(Parts::TwoFour(TwoFourParts {
            rows: csr.rows,
            cols: csr.cols,
            short_k: params.short_k,
            metadata,
            values,
        }))
    }
}

fn fill_rows<T: Stored>(
    csr: &Csr<T>,
    cut: TwoFourCut,
    rows: std::ops::Range<usize>,
    metadata: &mut [u32],
    values: &mut [T],
) -> Result<(), Refusal> {
    let kept = cut.chunk / 2;
    for ((at, row), lane) in rows.enumerate().zip(values.chunks_exact_mut(cut.stride())) {
        let words = &mut metadata[at / ROWS * cut.words()..];
        let (mut columns, mut elements) = csr.row(row);
        while let Some(&col) = columns.first() {
            let chunk = col as usize / cut.chunk;
            let in_chunk = |&&col: &&u32| col as usize / cut.chunk == chunk;
            let run = columns.iter().take(cut.chunk).take_while(in_chunk).count();
            if run > kept {
                return Err(Refusal::Request(RequestError::TooFull {
                    what: "a chunk of 2:4 (values)",
                    row,
                    column: chunk * cut.chunk,
                    found: run as u64,
                    limit: kept as u64,
                    remedy: "prune the matrix first",
                }));
            }
            let offset = col as usize % cut.chunk;
            let slots = &mut lane[chunk * kept..(chunk + 1) * kept];
            let nibble = match (kept, run) {
                (1, _) => {
                    slots[0] = elements[0];
                    [0b0100, 0b1110][offset]
                }
                (_, 1) => {
                    // The other index is 0, or 1 where 0 is taken.
                    slots[usize::from(offset > 0)] = elements[0];
                    offset.max(1) << 2
                }
                _ => {
                    slots.copy_from_slice(&elements[..2]);
                    offset | (columns[1] as usize % cut.chunk) << 2
                }
            };
            let (word, shift) = cut.nibble(at, chunk);
            words[word] ^= (nibble as u32 ^ 0b0100) << shift;
            (columns, elements) = (&columns[run..], &elements[run..]);
        }
    }
    Ok(())
}

impl Move for TwoFourToCsr {
    const OP: Op = Op::Convert;
    const FROM: FormatKind = FormatKind::TwoFour;
    const TO: Option<FormatKind> = Some(FormatKind::Csr);

    fn perform<T: Stored>(matrix: &Sparse<T>, _params: FormatParams) -> Result<Answer, Refusal> {
        let Sparse::TwoFour(m) = matrix else {
            return Err(wrong_format("A", Self::FROM, matrix.kind()));
        };
        let cut = TwoFourCut::new::<T>(m.cols, m.short_k)?;
        let (stride, kept) = (cut.stride(), cut.chunk / 2);
        let band = bands::band_rows(m.rows, ROWS, m.values.len());
        let lane = |row: usize| &m.values[row * stride..(row + 1) * stride];
        let arrays = bands::gather(
            m.rows,
            band,
            |first, lengths| {
                for (at, length) in lengths.iter_mut().enumerate() {
                    let filled = lane(first + at).iter().filter(|v| !v.is_positive_zero());
                    *length = filled.count() as u32;
                }
            },
            |first, starts, columns, values| {
                let mut at = 0;
                for row in first..first + starts.len() {
                    let words = &m.metadata[row / ROWS * cut.words()..];
                    for (chunk, slots) in lane(row).chunks_exact(kept).enumerate() {
                        let (word, shift) = cut.nibble(row % ROWS, chunk);
                        let nibble = words[word] >> shift & 15;
                        for (j, &value) in slots.iter().enumerate() {
                            if !value.is_positive_zero() {
                                let offset = if kept == 1 { nibble >> 3 } else { nibble >> (2 * j) & 3 };
                                columns[at] = (chunk * cut.chunk) as u32 + offset;
                                values[at] = value;
                                at += 1;
                            }
                        }
                    }
                }
            },
        )?;
        Ok(compressed(FormatKind::Csr, (m.rows, m.cols), arrays))
    }
}

//! What hardware did: operands and outputs of one instruction, as they lay in registers, and how many of them a model predicts.
//!
//! ```text
//! h200_f16_k16.bin   little-endian u32   | all A | all B | all C | all D |  (sparse: all metadata |)
//!                    in each section     word[(warp * registers + register) * 32 + lane]
//!                    wgmma               128 lanes; B is 256 bytes per group as they lay in shared memory
//!                    f64                 two registers an element, the low word first
//! ```
//!
//! The name of the file says device and instruction ([`RecordingName`]). No model touched the outputs, so a recording that is
//! predicted bit for bit is evidence. The format is described in `oracle/data/silicon/README.md`.

mod name;
mod registers;

pub use name::{RecordingName, architecture_of};
use registers::Layout;

use super::ModelError;
use super::tensor_core::TensorCore;
use crate::arithmetic::Architecture;
use crate::plain_file;
use crate::scalar::{Precision, decode};
use std::path::Path;

/// Files above this are refused, in bytes.
pub const MOST_BYTES: u64 = 1 << 29;

/// Why a file is no recording, or cannot be compared.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordingError {
    /// The name does not say what was recorded.
    #[error(
        "'{name}' does not name a recording: {reason}; write it as h200_f16_k16.bin, h200_spf16_k32_s1.bin or h200_wg_e4m3_k32.bin"
    )]
    Name {
        /// The name.
        name: String,
        /// What is missing.
        reason: &'static str,
    },
    /// The file does not hold whole warps.
    #[error(
        "{bytes} bytes are not a positive multiple of the {per_group} bytes that one warp (or warpgroup) of {instruction} takes; the file is cut off or named wrongly"
    )]
    Length {
        /// Its length.
        bytes: u64,
        /// What one warp takes.
        per_group: u64,
        /// The instruction of its name.
        instruction: String,
    },
    /// Too large to read at once.
    #[error("{bytes} bytes are more than {MOST_BYTES}; split the recording")]
    TooLarge {
        /// Its length.
        bytes: u64,
    },
    /// The file cannot be read.
    #[error("the recording cannot be read: {0}")]
    Read(#[from] std::io::Error),
    /// The model refuses it.
    #[error(transparent)]
    Model(#[from] ModelError),
}

/// A file of operands and outputs.
#[derive(Clone, Debug)]
pub struct Recording {
    name: RecordingName,
    layout: Layout,
    groups: usize,
    words: Vec<u32>,
}

/// Operands and output of one element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Warp, or warpgroup.
    pub group: usize,
    /// Row of D.
    pub row: usize,
    /// Column of D.
    pub col: usize,
    /// Bits of the row of A (sparse: as it is compressed).
    pub a: Vec<u64>,
    /// Bits of the column of B (sparse: those that the metadata selects).
    pub b: Vec<u64>,
    /// Bits of the accumulator.
    pub c: u64,
    /// Bits that the hardware returned.
    pub d: u64,
}

/// How far a model predicts a recording.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Check {
    /// Outputs compared.
    pub outputs: usize,
    /// Outputs predicted bit for bit.
    pub predicted: usize,
    /// Outputs that are NaN on both sides where the model does not say which NaN; counted as predicted.
    pub unmodelled_nans: usize,
    /// The first output that is not predicted, and the bits that were.
    pub first: Option<(Sample, u64)>,
}

impl Recording {
    /// Reads a file; the name must be as [`RecordingName`] says.
    ///
    /// # Errors
    /// Any [`RecordingError`].
    pub fn read(path: &Path) -> Result<Recording, RecordingError> {
        let name = path.file_name().map(|n| n.to_string_lossy()).unwrap_or_default();
        let parsed = RecordingName::parse(&name)?;
        let bytes = std::fs::metadata(path)?.len();
        if bytes > MOST_BYTES {
            return Err(RecordingError::TooLarge { bytes });
        }
        Recording::from_bytes(parsed, &plain_file::read(path, MOST_BYTES)?)
    }

    /// Takes the content of a file.
    ///
    /// # Errors
    /// [`RecordingError::Length`]; [`ModelError::NoFragment`] where the registers of the instruction are not described.
    pub fn from_bytes(name: RecordingName, bytes: &[u8]) -> Result<Recording, RecordingError> {
        let layout = Layout::of(name.instruction)?;
        if name.selector >= layout.selectors() {
            return Err(RecordingError::Name {
                name: format!("{} with selector {}", name.instruction, name.selector),
                reason: "the instruction has fewer selectors",
            });
        }
        let per_group = 4 * layout.words();
        if bytes.is_empty() || !bytes.len().is_multiple_of(per_group) {
            return Err(RecordingError::Length {
                bytes: bytes.len() as u64,
                per_group: per_group as u64,
                instruction: name.instruction.to_string(),
            });
        }
        let words = bytes.chunks_exact(4).map(|w| u32::from_le_bytes([w[0], w[1], w[2], w[3]]));
        Ok(Recording { name, layout, groups: bytes.len() / per_group, words: words.collect() })
    }

    /// What its name says.
    #[must_use]
    pub fn name(&self) -> &RecordingName {
        &self.name
    }

    /// Warps, or warpgroups.
    #[must_use]
    pub const fn groups(&self) -> usize {
        self.groups
    }

    /// Shows every element of D in turn, until one is refused.
    ///
    /// # Errors
    /// [`ModelError::Metadata`] where a sparse recording holds a nibble that the hardware does not allow.
    pub fn for_each(
        &self,
        mut visit: impl FnMut(Sample) -> Result<(), ModelError>,
    ) -> Result<(), ModelError> {
        (0..self.groups).try_for_each(|group| {
            let operands = self.layout.operands(&self.words, self.groups, group, self.name.selector)?;
            operands.samples(group).try_for_each(&mut visit)
        })
    }

    /// Compares every output with the model of `architecture`.
    ///
    /// # Errors
    /// [`ModelError::NoSuchInstruction`] where it has no such instruction; as [`for_each`](Self::for_each).
    pub fn check(&self, architecture: Architecture) -> Result<Check, ModelError> {
        let core = TensorCore::new(architecture, self.name.instruction)?;
        let mut check = Check::default();
        self.for_each(|sample| {
            let bits = core.apply(sample.c, &sample.a, &sample.b)?;
            let acc = self.name.instruction.acc;
            let unmodelled = !core.fixes_nan() && is_nan(bits, acc) && is_nan(sample.d, acc);
            check.outputs += 1;
            check.unmodelled_nans += usize::from(unmodelled);
            if bits == sample.d || unmodelled {
                check.predicted += 1;
            } else if check.first.is_none() {
                check.first = Some((sample, bits));
            }
            Ok(())
        })?;
        Ok(check)
    }

    /// The architecture that predicts most, and what it predicts; the oldest of equals. `None` if none has the instruction.
    ///
    /// # Errors
    /// As [`for_each`](Self::for_each).
    pub fn nearest(&self) -> Result<Option<(Architecture, Check)>, ModelError> {
        let mut best: Option<(Architecture, Check)> = None;
        for architecture in Architecture::ALL {
            let check = match self.check(architecture) {
                Err(ModelError::NoSuchInstruction { .. }) => continue,
                other => other?,
            };
            if best.as_ref().is_none_or(|(_, most)| check.predicted > most.predicted) {
                best = Some((architecture, check));
            }
        }
        Ok(best)
    }
}

fn is_nan(bits: u64, precision: Precision) -> bool {
    decode(bits, precision).is_nan()
}

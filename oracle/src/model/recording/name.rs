//! What the name of a recording says.
//!
//! ```text
//! h200_spf16_k32_s1.bin        device _ [wg _] [sp] input [acc] _ shape [_ selector] .bin
//!   h200                       the device, which has an architecture
//!   wg                         wgmma, else mma
//!   sp                         sparse
//!   f16, bf16, tf32, ...       input; accumulator f32 (f64 for f64)
//!   f16acc, e4m3_f16acc        accumulator f16
//!   k32, m8n8k4                m16n8 (m64n8 for wgmma) unless said
//!   s1                         selector, of sparse ones
//! ```

use super::RecordingError;
use crate::arithmetic::{Architecture, Engine, Instruction};
use crate::scalar::Precision;

/// Devices by the name that recordings use.
const DEVICES: [(Architecture, &[&str]); 8] = [
    (Architecture::Sm70, &["v100"]),
    (Architecture::Sm75, &["t4", "rtx2080"]),
    (Architecture::Sm80, &["a100", "a30"]),
    (Architecture::Sm86, &["a2", "a10", "a40", "rtx3090"]),
    (Architecture::Sm89, &["l4", "l40", "l40s", "rtx4090", "rtx1000"]),
    (Architecture::Sm90, &["h100", "h200", "gh200"]),
    (Architecture::Sm100, &["b100", "b200", "gb200"]),
    (Architecture::Sm120, &["rtx5090"]),
];

/// A parsed name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordingName {
    /// The device, as written.
    pub device: String,
    /// Its architecture, if the device is known. `sm90` is a device, too.
    pub architecture: Option<Architecture>,
    /// The instruction.
    pub instruction: Instruction,
    /// The metadata selector; 0 for dense ones.
    pub selector: usize,
}

/// The architecture of a device.
#[must_use]
pub fn architecture_of(device: &str) -> Option<Architecture> {
    let listed = DEVICES.iter().find(|(_, names)| names.contains(&device));
    let by_number = || Architecture::from_name(&format!("sm_{}", device.strip_prefix("sm")?));
    listed.map(|(architecture, _)| *architecture).or_else(by_number)
}

impl RecordingName {
    /// Reads a file name.
    ///
    /// # Errors
    /// [`RecordingError::Name`].
    pub fn parse(name: &str) -> Result<RecordingName, RecordingError> {
        let refuse = |reason| RecordingError::Name { name: name.chars().take(80).collect(), reason };
        let stem = name.strip_suffix(".bin").ok_or_else(|| refuse("it does not end in .bin"))?;
        let mut tokens = stem.split('_').peekable();
        let device = tokens.next().filter(|d| !d.is_empty());
        let device = device.ok_or_else(|| refuse("it names no device"))?;
        let warpgroup = tokens.next_if_eq(&"wg").is_some();
        let types = tokens.next().ok_or_else(|| refuse("it names no input type"))?;
        let (sparse, types) = match types.strip_prefix("sp") {
            Some(rest) => (true, rest),
            None => (false, types),
        };
        let (input, half) = match types.strip_suffix("acc") {
            Some(input) => (input, true),
            None => (types, tokens.next_if_eq(&"f16acc").is_some()),
        };
        let input = Precision::from_name(input).ok_or_else(|| refuse("the input type is unknown"))?;
        let shape = tokens.next().ok_or_else(|| refuse("it names no k"))?;
        let m = if warpgroup { 64 } else { 16 };
        let (m, n, k) = shape_of(shape, m).ok_or_else(|| refuse("the shape is neither k16 nor m16n8k16"))?;
        let selector = match tokens.next().map(|s| s.strip_prefix('s').and_then(|s| s.parse().ok())) {
            None => 0,
            Some(Some(selector)) if sparse && selector < 4 => selector,
            Some(_) => {
                return Err(refuse("the last part is no selector s0 .. s3 of a sparse instruction"));
            }
        };
        if tokens.next().is_some() {
            return Err(refuse("something follows the selector"));
        }
        let acc = match input {
            Precision::F64 => Precision::F64,
            _ if half => Precision::F16,
            _ => Precision::F32,
        };
        let engine = match (warpgroup, sparse) {
            (false, false) => Engine::Mma,
            (false, true) => Engine::MmaSparse,
            (true, false) => Engine::Wgmma,
            (true, true) => Engine::WgmmaSparse,
        };
        Ok(RecordingName {
            device: device.to_owned(),
            architecture: architecture_of(device),
            instruction: Instruction { engine, m, n, k, input, acc },
            selector,
        })
    }
}

/// `k16`, or `m8n8k4`.
fn shape_of(text: &str, m: u16) -> Option<(u16, u16, u16)> {
    let whole = if text.starts_with('m') { text.to_owned() } else { format!("m{m}n8{text}") };
    Instruction::parse_shape(&whole)
}

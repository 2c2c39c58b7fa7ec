//! Recordings: the first groups of a probe in the layout that `conformance model check` reads.

use super::operands::Batch;
use sparse_kernels::cuda::probe::{Probe, Variant};
use sparse_oracle::Precision;
use sparse_oracle::arithmetic::{Engine, Instruction};
use std::io::Write;
use std::path::Path;

/// Groups of a recording: each distribution four times (warps) or twice (warpgroups).
const WARPS: usize = 52;
const WARPGROUPS: usize = 26;

/// The file name of a probe's recording (`h200_spf16_k32_s1.bin`); `None` where the layout has no name for it.
#[must_use]
pub fn recording_name(device: &str, probe: &Probe) -> Option<String> {
    let Probe::Matrix { instruction, b, variant } = probe else {
        return None;
    };
    let Instruction { engine, m, k, input, acc, .. } = *instruction;
    if *b != input {
        return None;
    }
    let group = matches!(engine, Engine::Wgmma | Engine::WgmmaSparse);
    let suffix = match variant {
        Variant::Plain => String::new(),
        Variant::Selector(s) => format!("_s{s}"),
        _ => return None,
    };
    let acc = match (acc, input) {
        (Precision::F16, Precision::F16) => "acc",
        (Precision::F16, _) => "_f16acc",
        _ => "",
    };
    let shape = if m == 8 { format!("m8n8k{k}") } else { format!("k{k}") };
    let sparse = if engine.is_sparse() { "sp" } else { "" };
    let group = if group { "wg_" } else { "" };
    Some(format!("{device}_{group}{sparse}{input}{acc}_{shape}{suffix}.bin"))
}

/// Writes the first groups of a batch: A, B, C, D, and metadata of sparse ones.
pub(super) fn write(path: &Path, batch: &Batch, probe: &Probe) -> std::io::Result<()> {
    let keep = if probe.words().lanes == 128 { WARPGROUPS } else { WARPS }.min(batch.groups);
    let [a, b, c, metadata] = &batch.operands;
    let sparse = matches!(probe, Probe::Matrix { instruction, .. } if instruction.engine.is_sparse());
    let mut sections = vec![a, b, c, &batch.d];
    if sparse {
        sections.push(metadata);
    }
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let mut file = std::io::BufWriter::new(std::fs::File::create(path)?);
    for section in sections {
        for word in &section[..section.len() / batch.groups * keep] {
            file.write_all(&word.to_le_bytes())?;
        }
    }
    file.flush()
}

//! A probe kernel's source: macros that fix sizes, types and the instruction, before one of two frames.

use super::{Probe, Words, ptx};
use sparse_types::Precision;

const WARP: &str = include_str!("../../../cuda/probe/warp.cu");
const WARPGROUP: &str = include_str!("../../../cuda/probe/warpgroup.cu");

/// The whole translation unit.
pub(super) fn source(probe: &Probe) -> String {
    let Words { lanes, a, b_group, c } = probe.words();
    let (acc, input) = match probe {
        Probe::Matrix { instruction, .. } => (
            register_type(instruction.acc),
            if instruction.input == Precision::F64 { "double" } else { "unsigned int" },
        ),
        Probe::Convert(_) => ("unsigned int", "unsigned int"),
    };
    let (frame, b) = if lanes == 32 { (WARP, b_group / lanes) } else { (WARPGROUP, b_group) };
    format!(
        "#define NAME {}\n#define A_WORDS {a}\n#define B_WORDS {b}\n#define C_WORDS {c}\n#define ACC {acc}\n\
         #define IN {input}\n#define EXECUTE {}\n\n{frame}",
        probe.symbol(),
        ptx::execute(probe),
    )
}

fn register_type(acc: Precision) -> &'static str {
    match acc {
        Precision::F64 => "double",
        Precision::F32 => "float",
        _ => "unsigned int",
    }
}

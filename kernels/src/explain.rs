//! A kernel's name in words.

use crate::name::{KernelName, NameError};
use sparse_types::contract::{Contract, Op, Types};

/// What a kernel's name says, in one sentence.
///
/// # Errors
/// Why the string is not a kernel's name.
pub fn explain(name: &str) -> Result<String, NameError> {
    let name: KernelName = name.parse()?;
    let Contract { op, format, to, types } = name.contract;
    let from = format.name();
    let Types { a, b, acc, out } = types;
    let product = |what: &str| {
        format!("{what}, sparse operand in {from}: {a} times {b}, accumulated in {acc}, returned as {out}")
    };
    let mut text = match op {
        Op::Spmm => product("sparse x dense matrix (SpMM)"),
        Op::Spmv => product("sparse matrix x vector (SpMV)"),
        Op::Sddmm => product("dense x dense at the positions of a sparse matrix (SDDMM)"),
        Op::Spgemm => product("sparse x sparse matrix (SpGEMM)"),
        Op::Transpose => format!("transposes a {from} matrix of {a} values"),
        Op::Convert => format!("converts {from} to {} with {a} values", to.unwrap_or(format).name()),
    };
    text.push_str(&format!("; runs on {}", name.engine.description()));
    if let Some(tech) = &name.tech {
        text.push_str(&format!(", by {tech}"));
    }
    if let Some(tile) = &name.tile {
        text.push_str(&format!(", variant {tile}"));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn explanations_hold_every_part() {
        let text = explain("spmm_csr_f16_f16_f32_f16__cuda_mma_16x8").expect("a name");
        for part in
            ["SpMM", "csr", "f16 times f16", "accumulated in f32", "returned as f16", "NVIDIA", "mma", "16x8"]
        {
            assert!(text.contains(part), "{part} is not in {text:?}");
        }
        assert!(explain("convert_csr_ell_e5m2__portable").expect("a name").contains("csr to ell with e5m2"));
        assert!(explain("nonsense").is_err());
    }
}

//! Probe kernels without a GPU: unique names, sizes by hand, and, where the tools are found, compiled and assembled.

#![cfg(feature = "cuda")]

use sparse_kernels::cuda::probe::{Probe, Variant, Words, sm90};
use sparse_kernels::cuda::{CudaError, Device, compile_text};
use sparse_oracle::Precision::{F16, F32, F64, Tf32};
use sparse_oracle::arithmetic::{Engine, Instruction};
use std::collections::HashSet;
use std::io::Write;
use std::process::{Command, Stdio};

/// Words a lane, counted by hand from the fragment layouts of the PTX ISA.
#[test]
fn registers_by_hand() {
    let words = |engine, (m, n, k), acc, input| {
        let instruction = Instruction::mma((m, n, k), acc, input).engine(engine);
        let Words { lanes, a, b_group, c } = Probe::matrix(instruction, Variant::Plain).words();
        (lanes, a, b_group, c)
    };
    assert_eq!(words(Engine::Mma, (16, 8, 16), F32, F16), (32, 4, 2 * 32, 4));
    assert_eq!(words(Engine::Mma, (16, 8, 4), F32, Tf32), (32, 2, 32, 4));
    assert_eq!(words(Engine::Mma, (16, 8, 8), F16, F16), (32, 2, 32, 2));
    assert_eq!(words(Engine::Mma, (8, 8, 4), F64, F64), (32, 2, 2 * 32, 4));
    assert_eq!(words(Engine::MmaSparse, (16, 8, 32), F32, F16), (32, 4, 4 * 32, 4));
    assert_eq!(words(Engine::Wgmma, (64, 8, 16), F32, F16), (128, 4, 64, 4));
    assert_eq!(words(Engine::WgmmaSparse, (64, 8, 32), F16, F16), (128, 4, 128, 2));
}

#[test]
fn names_are_unique_and_no_architecture_is_asked_for_what_it_lacks() {
    let all = sm90();
    let names: HashSet<String> = all.iter().map(Probe::name).collect();
    let symbols: HashSet<String> = all.iter().map(Probe::symbol).collect();
    assert_eq!((names.len(), symbols.len()), (all.len(), all.len()));
    for symbol in symbols {
        assert!(symbol.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'), "{symbol}");
    }
}

/// A missing driver, library or GPU is a typed error with its reason, never a panic; where there is a GPU, it has a name.
#[test]
fn opening_says_why_not() {
    match Device::open() {
        Ok(device) => assert!(!device.found().name().is_empty()),
        Err(CudaError::Absent { reason }) => assert!(reason.len() > 20, "{reason}"),
        Err(other) => panic!("{other}"),
    }
}

/// NVRTC compiles every probe, and ptxas (`PTXAS`, else on the path) assembles it.
#[test]
fn every_probe_compiles_and_assembles() {
    let ptxas = std::env::var("PTXAS").unwrap_or_else(|_| "ptxas".to_owned());
    let assembler = Command::new(&ptxas).arg("--version").output().is_ok();
    let all = sm90();
    let (mut compiled, mut assembled, mut broken) = (0, 0, Vec::new());
    for probe in &all {
        let ptx = match compile_text(probe, "compute_90a") {
            Ok(ptx) => ptx,
            Err(CudaError::Absent { reason }) => {
                eprintln!("SKIPPED: {} probe kernels not compiled: {reason}", all.len());
                return;
            }
            Err(error) => {
                broken.push(format!("{error}"));
                continue;
            }
        };
        assert!(ptx.contains(&probe.ptx()), "{} is not in its PTX", probe.ptx());
        let entry = format!(".entry {}(", probe.symbol());
        assert!(ptx.contains(&entry), "{entry} is not in its PTX");
        compiled += 1;
        if assembler {
            match assemble(&ptxas, &ptx) {
                Ok(()) => assembled += 1,
                Err(log) => broken.push(format!("{}: {log}", probe.name())),
            }
        }
    }
    if !assembler {
        eprintln!("SKIPPED: {compiled} probe kernels not assembled: no {ptxas}");
    }
    eprintln!("{compiled} of {} probes compiled, {assembled} assembled", all.len());
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

fn assemble(ptxas: &str, ptx: &str) -> Result<(), String> {
    let mut child = Command::new(ptxas)
        .args(["-arch=sm_90a", "-o", "/dev/null", "-"])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|e| e.to_string())?;
    let mut input = child.stdin.take().ok_or("no input")?;
    input.write_all(ptx.as_bytes()).map_err(|e| e.to_string())?;
    drop(input);
    let output = child.wait_with_output().map_err(|e| e.to_string())?;
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
}

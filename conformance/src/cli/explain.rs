//! `conformance explain`: what a case consists of, and one output element from its terms to its verdict.

use crate::backend::{Backend, Support};
use crate::case::Case;
use crate::element::{Element, look};
use crate::operands::{Operands, build};
use crate::runner::{degenerate, run_case};
use anyhow::{Context, Result, bail};
use clap::Args as ClapArgs;
use sparse_oracle::scalar::decode;
use std::io::{StdoutLock, Write};

/// Options of `explain`.
#[derive(Debug, ClapArgs)]
pub(super) struct Args {
    /// The case line, as printed by a report.
    case: String,
    /// Backends, comma-separated; all by default.
    #[arg(
        long = "backend",
        alias = "backends",
        value_delimiter = ',',
        value_name = "NAME"
    )]
    backends: Vec<String>,
    /// The output element to follow, ROW,COLUMN (SDDMM: the number of the stored position, then 0); by default the
    /// first wrong one, else the one with the largest error.
    #[arg(long, value_name = "ROW,COL")]
    at: Option<String>,
}

/// Terms printed of one element.
const TERMS_SHOWN: usize = 16;

/// Explains a case. Exit code as `replay`.
pub(super) fn run(args: &Args, backends: Vec<Box<dyn Backend>>) -> Result<u8> {
    let case: Case = args.case.parse().context("the case line")?;
    let backends = super::choose(backends, &args.backends)?;
    let at = args.at.as_deref().map(position).transpose()?;
    let loaded = case.origin.load()?;
    let operands = build(&case, &loaded)?;
    let mut out = std::io::stdout().lock();
    describe(&mut out, &case, &operands)?;
    let ran = run_case(&case, &loaded, &backends);
    for (backend, record) in backends.iter().zip(&ran.records) {
        writeln!(out, "\n{}: {}", record.backend, record.verdict)?;
        if let Support::Supported { arithmetic, profile } = backend.support(&case.contract, &case.params) {
            let p = arithmetic.part();
            if !case.contract.op.is_exact() {
                writeln!(
                    out,
                    "  declares   {:?}, {:?} order, accumulates in {}, starts from {:?}, inputs {:?}, epilogue {:?}, pads {:?}",
                    p.reduction, p.order, p.acc, p.init, p.input, arithmetic.epilogue, p.pads
                )?;
            }
            for (choice, reason) in profile.choices() {
                writeln!(
                    out,
                    "  deviates   {}: {} ({reason})",
                    choice.point(),
                    choice.meaning()
                )?;
            }
        }
        follow(&mut out, &case, &operands, backend.as_ref(), at)?;
    }
    super::exit_code(&ran.records)
}

fn position(text: &str) -> Result<(usize, usize)> {
    let parts: Vec<&str> = text.split(',').collect();
    let [row, col] = parts[..] else {
        bail!("--at {text}: expected ROW,COLUMN")
    };
    Ok((
        row.trim().parse().context("--at: row")?,
        col.trim().parse().context("--at: column")?,
    ))
}

fn describe(out: &mut StdoutLock<'_>, case: &Case, operands: &Operands) -> Result<()> {
    let (rows, cols) = operands.a.shape();
    writeln!(out, "{case}")?;
    writeln!(out, "  contract   {}", case.contract)?;
    writeln!(
        out,
        "  sparse     {} {rows} x {cols}, {} entries of {}",
        operands.a.kind().name(),
        operands.a.nnz(),
        operands.a.precision()
    )?;
    for (name, dense) in [("dense", &operands.b), ("second", &operands.y)] {
        if let Some(d) = dense {
            writeln!(
                out,
                "  {name:10} {} x {}, ld {}, {:?}, {}",
                d.rows,
                d.cols,
                d.ld,
                d.layout,
                d.data.precision()
            )?;
        }
    }
    if let Some(b) = &operands.b_sparse {
        let (rows, cols) = b.shape();
        writeln!(
            out,
            "  second     {} {rows} x {cols}, {} entries",
            b.kind().name(),
            b.nnz()
        )?;
    }
    let tags = degenerate(case, operands);
    if tags.is_empty() {
        writeln!(
            out,
            "  strength   would notice zeros, a stale C, and any skipped row"
        )?;
    } else {
        writeln!(out, "  degenerate alone it would not notice: {}", tags.join(", "))?;
    }
    Ok(())
}

fn follow(
    out: &mut StdoutLock<'_>,
    case: &Case,
    operands: &Operands,
    backend: &dyn Backend,
    at: Option<(usize, usize)>,
) -> Result<()> {
    let Some(element) = look(case, operands, backend, at) else {
        return match at {
            Some(at) => bail!("no output element at {at:?} that {} answers for", backend.name()),
            None => Ok(()),
        };
    };
    let Element {
        at,
        terms,
        accepted,
        found,
        alpha,
        beta,
        c,
    } = element;
    let type_name = case.contract.types.out;
    writeln!(
        out,
        "  element    ({}, {}), {} terms (a * b):",
        at.0,
        at.1,
        terms.len()
    )?;
    for (a, b) in terms.iter().take(TERMS_SHOWN) {
        writeln!(out, "               {a:e} * {b:e}")?;
    }
    if terms.len() > TERMS_SHOWN {
        writeln!(out, "               ... and {} more", terms.len() - TERMS_SHOWN)?;
    }
    let added = if beta == 0.0 {
        String::new()
    } else {
        format!(", c = {c:e}")
    };
    writeln!(out, "  scaled by  alpha = {alpha}, beta = {beta}{added}")?;
    writeln!(
        out,
        "  exact      {:e} (nearest f64), gauge {:e}",
        accepted.exact.value.approx(),
        accepted.exact.gauge.approx()
    )?;
    writeln!(
        out,
        "  T0         {}",
        if accepted.order_free {
            "every order of summation gives this value"
        } else {
            "does not apply: some order may round"
        }
    )?;
    match accepted.bound() {
        Some(bound) => writeln!(out, "  T1         may differ by {bound:e}")?,
        None => writeln!(
            out,
            "  T1         no bound: the exact value is not finite, or nothing is promised"
        )?,
    }
    if accepted.may_overflow() {
        writeln!(
            out,
            "             an intermediate may overflow, so Inf and NaN are right too"
        )?;
    }
    match accepted.modelled {
        Some(bits) => writeln!(
            out,
            "  T2         must be 0x{bits:x} = {:e}",
            decode(bits, type_name)
        )?,
        None => writeln!(out, "  T2         does not apply: the declared order is free")?,
    }
    writeln!(out, "  found      0x{found:x} = {:e}", decode(found, type_name))?;
    writeln!(out, "  fared      {:?}", accepted.judge(found))?;
    Ok(())
}

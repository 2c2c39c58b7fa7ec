//! `conformance explain`: what a case consists of, and one output element from its terms to its verdict.

mod follow;
mod number;
mod steps;
mod tiers;

use super::meant::case;
use super::subjects::Subjects;
use crate::backend::{Backend, Support};
use crate::case::Case;
use crate::cli::output::output;
use crate::declaration::{self, in_words, rest_in_words};
use crate::degenerate::degenerate;
use crate::element::{ElementView, look};
use crate::operands::{Operands, build};
use crate::runner::run_case;
use anyhow::{Context, Result, bail};
use clap::Args as ClapArgs;
use follow::{Who, follow};
use number::labelled;
use sparse_oracle::arithmetic::{Arithmetic, Reduction};
use sparse_oracle::contract::Contract;
use sparse_oracle::format::Layout;
use sparse_oracle::judge::{Sheets, with_factor};
use sparse_oracle::model::tensor_core::TensorCore;
use sparse_oracle::prelude::*;
use sparse_oracle::profile::Profile;
use std::borrow::Cow;
use std::io::Write;

/// Options of `explain`.
#[derive(Debug, ClapArgs)]
pub(super) struct Args {
    /// The case line, as printed by a report.
    case: String,
    #[command(flatten)]
    subjects: Subjects,
    /// The output element to follow, ROW,COLUMN (SDDMM: the number of the stored position, then 0); by default the
    /// first wrong one, else the one with the largest error.
    #[arg(long, value_name = "ROW,COL")]
    at: Option<String>,
    /// Look at the element as this unit computes it, on no GPU: `fma`, `muladd`, `fmopa_2way`, `sm_90:mma.m16n8k16.f32.f16` and so
    /// on, then options ,split-k=N ,two-pass=N ,three-pass=NxM ,rna ,rne ,full ,from-c ,fold-alpha ,fold-alpha-b ,no-pads ,flush-inputs ,flush-outputs ,flush; a hybrid's as 'TILES + REST' or 'TILES | REST'. Backends run only if named, and are judged by it.
    #[arg(long, value_name = "DECL")]
    arithmetic: Option<String>,
}

/// Explains a case. Exit code as `replay`; 0 where only an arithmetic is looked at.
pub(super) fn run(args: &Args, backends: Vec<Box<dyn Backend>>) -> Result<u8> {
    let case = case(&args.case)?;
    let backends = args.subjects.open(backends)?;
    let at = args.at.as_deref().map(position).transpose()?;
    let (alpha, beta) = (case.params.alpha, case.params.beta);
    let declare = |text: &str| declaration::parse(text, &case.contract, (alpha, beta));
    let declared = args.arithmetic.as_deref().map(declare).transpose().context("--arithmetic")?;
    let loaded = case.origin.load()?;
    let operands = build(&case, &loaded)?;
    let mut out = output();
    describe(&mut out, &case, &operands)?;
    let told = Explained { case: &case, operands: &operands, at };
    if let Some(arithmetic) = &declared {
        let text = args.arithmetic.as_deref().unwrap_or_default();
        writeln!(out, "\nas {text} computes it:")?;
        declares(&mut out, &case.contract, arithmetic)?;
        if args.subjects.named_none() {
            told.element(&mut out, (arithmetic, &Profile::default()), None)?;
            return Ok(0);
        }
    }
    let ran = run_case(&case, &loaded, &backends);
    for (backend, record) in backends.iter().zip(&ran.records) {
        writeln!(out, "\n{}: {}", record.backend, record.verdict)?;
        let Support::Supported { arithmetic, profile } = backend.support(&case.contract, &case.params) else {
            continue;
        };
        if !case.contract.op.is_exact() {
            declares(&mut out, &case.contract, &arithmetic)?;
        }
        for (choice, reason) in profile.choices() {
            writeln!(out, "  deviates   {}: {} ({reason})", choice.point(), choice.meaning())?;
        }
        if declared.is_some() {
            writeln!(out, "  judged     below by --arithmetic, as if it had declared that")?;
        }
        let judged_by = declared.as_ref().unwrap_or(&arithmetic);
        told.element(&mut out, (judged_by, &profile), Some(backend.as_ref()))?;
    }
    super::exit_code(&ran.records)
}

/// What is explained.
struct Explained<'a> {
    case: &'a Case,
    operands: &'a Operands,
    at: Option<(usize, usize)>,
}

impl Explained<'_> {
    fn element(
        &self,
        out: &mut impl Write,
        (arithmetic, profile): (&Arithmetic, &Profile),
        backend: Option<&dyn Backend>,
    ) -> Result<()> {
        let view = ElementView { arithmetic, profile, backend };
        match (look(self.case, self.operands, view, self.at), self.at) {
            (Some(element), _) => {
                let computed = element.factor.map_or(Cow::Borrowed(arithmetic), |_| with_factor(arithmetic));
                let who = Who { arithmetic: &computed, ran: backend.is_some() };
                follow(out, self.case, &element, who)
            }
            (None, Some(at)) => bail!(
                "no output element at {at:?} that {} answers for",
                backend.map_or("--arithmetic", |b| b.name())
            ),
            (None, None) => Ok(()),
        }
    }
}

/// One line on a declaration, and one more on the hardware in it.
fn declares(out: &mut impl Write, contract: &Contract, arithmetic: &Arithmetic) -> Result<()> {
    let p = arithmetic.part();
    labelled(out, "declares", &in_words(arithmetic))?;
    if let Some(rest) = rest_in_words(arithmetic) {
        labelled(out, "", &format!("outside tiles {rest}"))?;
    }
    if let Reduction::Mma { architecture: Some(architecture), instruction } = p.reduction
        && let Ok(core) = TensorCore::new(architecture, instruction)
    {
        let unit = match core.fused_sum() {
            Some(sum) => format!(
                "sums of {} products, cut at F = {} bits below the largest",
                core.fused(),
                sum.fraction
            ),
            None => "one fused multiply-add a product".to_owned(),
        };
        let known = format!("known from {} ({})", core.evidence().name(), core.source());
        labelled(out, "unit", &format!("{unit}; {known}"))?;
    }
    if let Some(reason) = contract.refuses(arithmetic) {
        labelled(out, "refused", &format!("as a declaration for this contract: it {reason}"))?;
    }
    Ok(())
}

fn position(text: &str) -> Result<(usize, usize)> {
    let parts: Vec<&str> = text.split(',').collect();
    let [row, col] = parts[..] else { bail!("--at {text}: expected ROW,COLUMN") };
    Ok((row.trim().parse().context("--at: row")?, col.trim().parse().context("--at: column")?))
}

fn describe(out: &mut impl Write, case: &Case, operands: &Operands) -> Result<()> {
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
                "  {name:10} {} x {}, ld {}, {}, {}",
                d.rows,
                d.cols,
                d.ld,
                match d.layout {
                    Layout::RowMajor => "row-major",
                    Layout::ColMajor => "column-major",
                },
                d.data.precision()
            )?;
        }
    }
    if let Some(b) = &operands.b_sparse {
        let (rows, cols) = b.shape();
        writeln!(out, "  second     {} {rows} x {cols}, {} entries", b.kind().name(), b.nnz())?;
    }
    let tags = degenerate(case, operands, &Sheets::new(operands.inputs(case)));
    if tags.is_empty() {
        writeln!(out, "  strength   would notice zeros, a stale C, and any skipped row")?;
    } else {
        writeln!(out, "  degenerate alone it would not notice: {}", tags.join(", "))?;
    }
    Ok(())
}

//! `conformance list`: the tables, as the program itself reads them.

use crate::backend::Backend;
use crate::campaign::backend_record;
use crate::declaration::reduction_name;
use crate::report::show::counted;
use anyhow::Result;
use clap::{Args as ClapArgs, ValueEnum};
use sparse_kernels::registry::all_kernels;
use sparse_oracle::contract::all_contracts;
use sparse_oracle::profile::CHOICES;
use sparse_oracle::source::embedded;
use sparse_oracle::source::generator::FAMILIES;
use sparse_oracle::source::values::VALUE_FAMILIES;
use std::io::{StdoutLock, Write};

/// Options of `list`.
#[derive(Debug, ClapArgs)]
pub(super) struct Args {
    /// Which table.
    #[arg(value_enum, default_value_t = Table::Backends)]
    table: Table,
    /// Backends: every pattern of contracts that a manifest excludes, not only their number.
    #[arg(long)]
    all: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Table {
    /// Who can be judged, with deviations and exclusions.
    Backends,
    /// What can be asked for.
    Contracts,
    /// Our kernels with their declared arithmetic.
    Kernels,
    /// Matrix generators, with their parameters.
    Sources,
    /// Value families.
    Values,
    /// Choice points that a profile may settle otherwise.
    Choices,
    /// Matrices compiled into the program, with origin and licence.
    Embedded,
}

/// Prints one table.
pub(super) fn run(args: &Args, all: &[Box<dyn Backend>]) -> Result<u8> {
    let mut out = std::io::stdout().lock();
    match args.table {
        Table::Backends => backends(&mut out, all, args.all)?,
        Table::Contracts => {
            for contract in all_contracts() {
                writeln!(out, "{contract}")?;
            }
        }
        Table::Kernels => {
            for kernel in all_kernels() {
                let a = &kernel.arithmetic;
                writeln!(
                    out,
                    "{:52} {} in {}",
                    kernel.name,
                    reduction_name(a.part().reduction),
                    a.part().acc
                )?;
            }
        }
        Table::Sources => {
            for family in &FAMILIES {
                let params: Vec<String> =
                    family.params.iter().map(|p| format!("{}={}", p.key, p.kind.print(p.default))).collect();
                writeln!(out, "{:12} {}\n{:12} {}", family.name, family.doc, "", params.join(","))?;
            }
        }
        Table::Values => {
            for family in &VALUE_FAMILIES {
                writeln!(out, "{:12} {}", family.name, family.doc)?;
            }
        }
        Table::Choices => {
            for (_, name, point, meaning) in CHOICES {
                writeln!(out, "{name:24} {point}: {meaning}")?;
            }
        }
        Table::Embedded => {
            for matrix in embedded::all() {
                writeln!(out, "{:12} {} ({})", matrix.name, matrix.origin, matrix.licence)?;
            }
        }
    }
    Ok(0)
}

fn backends(out: &mut StdoutLock<'_>, known: &[Box<dyn Backend>], in_full: bool) -> Result<()> {
    for backend in known {
        let record = backend_record(backend.as_ref());
        let named = if backend.by_name_only() { ", by name only" } else { "" };
        writeln!(out, "{} {}: {}{named}", record.name, record.version, record.description)?;
        for deviation in &record.deviations {
            writeln!(out, "  deviates  {}: {} ({})", deviation.point, deviation.choice, deviation.reason)?;
        }
        if !in_full && !record.excluded.is_empty() {
            let reasons = record.excluded.len() as u64;
            writeln!(out, "  excludes  contracts for {} (--all lists them)", counted(reasons, "reason"))?;
            continue;
        }
        for exclusion in &record.excluded {
            writeln!(out, "  excludes  {}\n            because {}", exclusion.pattern, exclusion.reason)?;
        }
    }
    Ok(())
}

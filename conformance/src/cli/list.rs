//! `conformance list`: the tables, as the program itself reads them.

use crate::backend::Backend;
use crate::campaign::backend_record;
use crate::declaration::reduction_name;
use crate::keys;
use crate::report::show::counted;
use anyhow::Result;
use clap::{Args as ClapArgs, ValueEnum};
use serde_json::{Map, Value, json};
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
    /// As JSON: an array with an object for each row.
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Table {
    /// Who can be judged, with deviations and exclusions.
    Backends,
    /// What can be asked for.
    Contracts,
    /// Our kernels with their declared arithmetic.
    Kernels,
    /// What may stand in a case line after its values, with units and what holds without it.
    Keys,
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
    if args.json {
        writeln!(out, "{:#}", Value::Array(rows(args.table, all)))?;
        return Ok(0);
    }
    match args.table {
        Table::Backends => backends(&mut out, all, args.all)?,
        Table::Contracts => {
            for contract in all_contracts() {
                writeln!(out, "{contract}")?;
            }
        }
        Table::Kernels => {
            for kernel in all_kernels() {
                let units: Vec<String> =
                    kernel.arithmetic.parts.iter().map(|part| reduction_name(part.reduction)).collect();
                let acc = kernel.arithmetic.part().acc;
                writeln!(out, "{:52} {} in {acc}", kernel.name, units.join(", outside tiles "))?;
            }
        }
        Table::Keys => {
            for (name, unit, default, doc) in all_keys() {
                let value = if unit.is_empty() { name.to_owned() } else { format!("{name}=") };
                let unit = if unit.is_empty() { "stands alone" } else { unit };
                writeln!(out, "{value:12} {doc}\n{:12} {unit}; without it: {default}", "")?;
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

/// Every key of a case line: name, unit, default, meaning.
fn all_keys() -> impl Iterator<Item = (&'static str, &'static str, String, &'static str)> {
    let parameters = keys::parameters().map(|p| (p.name, p.unit, p.not_given(), p.doc.trim()));
    keys::KEYS.iter().map(|key| (key.name, key.unit, key.default.to_owned(), key.doc)).chain(parameters)
}

/// The rows of a table as JSON.
fn rows(table: Table, all: &[Box<dyn Backend>]) -> Vec<Value> {
    match table {
        Table::Backends => {
            let row = |backend: &dyn Backend| {
                let mut row = json!(backend_record(backend));
                row["by_name_only"] = json!(backend.by_name_only());
                row
            };
            all.iter().map(|backend| row(backend.as_ref())).collect()
        }
        Table::Contracts => all_contracts().iter().map(|c| json!({ "name": c.to_string() })).collect(),
        Table::Kernels => {
            let row = |kernel: &sparse_kernels::registry::Kernel| {
                let part = kernel.arithmetic.part();
                let rest = kernel.arithmetic.parts.second().map(|rest| reduction_name(rest.reduction));
                let reduction = reduction_name(part.reduction);
                json!({ "name": kernel.name, "reduction": reduction, "reduction_of_rest": rest, "accumulator": part.acc.name() })
            };
            all_kernels().iter().map(row).collect()
        }
        Table::Keys => {
            let row = |(name, unit, default, doc)| json!({ "name": name, "unit": unit, "default": default, "doc": doc });
            all_keys().map(row).collect()
        }
        Table::Sources => {
            let of = FAMILIES.iter().map(|family| {
                let params = family.params.iter().map(|p| (p.key.to_owned(), json!(p.kind.print(p.default))));
                json!({ "name": family.name, "doc": family.doc, "params": params.collect::<Map<_, _>>() })
            });
            of.collect()
        }
        Table::Values => VALUE_FAMILIES.iter().map(|f| json!({ "name": f.name, "doc": f.doc })).collect(),
        Table::Choices => {
            let row = |(_, name, point, meaning): &(_, &str, &str, &str)| json!({ "name": name, "point": point, "meaning": meaning });
            CHOICES.iter().map(row).collect()
        }
        Table::Embedded => {
            let row =
                |m: &embedded::Embedded| json!({ "name": m.name, "origin": m.origin, "licence": m.licence });
            embedded::all().iter().map(row).collect()
        }
    }
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

//! Why the options of a run select no case.

use crate::backend::Backend;
use crate::plan::{Options, selected};
use anyhow::anyhow;
use sparse_oracle::contract::{Contract, all_contracts};

/// The error that says so.
pub(super) fn error(options: &Options, backends: &[Box<dyn Backend>]) -> anyhow::Error {
    anyhow!("the options select no case: {}", reason(options, backends))
}

/// What was asked for that does not go together.
fn reason(options: &Options, backends: &[Box<dyn Backend>]) -> String {
    let asked: Vec<Contract> = selected(options).into_iter().map(|(_, contract)| contract).collect();
    if asked.is_empty() {
        let filters = [
            ("--ops", options.ops.is_empty()),
            ("--precisions", options.precisions.is_empty()),
            ("--contracts", options.contracts.is_empty()),
        ];
        let given: Vec<&str> = filters.into_iter().filter(|(_, none)| !none).map(|(name, _)| name).collect();
        return format!("no contract fits {} together", given.join(" and "));
    }
    if backends.iter().any(|backend| asked.iter().any(|contract| backend.claims(contract))) {
        return "no case of a plan is one that a backend takes".to_owned();
    }
    let of_each = backends.iter().map(|backend| supported(backend.as_ref()));
    format!("{} asked for; {}", listed(&asked), of_each.collect::<Vec<_>>().join("; "))
}

fn supported(backend: &dyn Backend) -> String {
    let claimed: Vec<Contract> = all_contracts().iter().copied().filter(|c| backend.claims(c)).collect();
    match claimed.as_slice() {
        [] => format!("{} supports none at all", backend.name()),
        claimed => format!("{} supports only {}", backend.name(), listed(claimed)),
    }
}

/// `spmm.csr.f32_f32_f32_f32 and 7 more`
fn listed(contracts: &[Contract]) -> String {
    let names: Vec<String> = contracts.iter().take(2).map(ToString::to_string).collect();
    match contracts.len() - names.len() {
        0 => names.join(" and "),
        more => format!("{} and {more} more", names.join(", ")),
    }
}

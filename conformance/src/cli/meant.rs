//! What a mistyped name was probably to be.

use crate::case::{Case, CaseError};
use crate::keys;
use crate::origin::Origin;
use anyhow::{Context, Result, anyhow};
use sparse_oracle::contract::all_contracts;
use sparse_oracle::source::generator::FAMILIES;
use sparse_oracle::source::values::{VALUE_FAMILIES, ValueFamily};
use sparse_oracle::source::{embedded, file_error::FileError};

/// How near a name must be, from 0 to 1.
const NEAR: f64 = 0.8;

/// `; did you mean "portable"?` where one of the names is near to what was typed.
pub(super) fn meant<S: AsRef<str>>(typed: &str, known: impl IntoIterator<Item = S>) -> String {
    // What was cut short is nearer than what is spelt alike; of several, the one that repeats what was typed last.
    let last = typed.rsplit('.').next().unwrap_or(typed);
    let nearness = |name: &str| {
        let cut = !typed.is_empty() && name.starts_with(typed);
        let repeats = name.matches(last).count() as f64 / 100.0;
        strsim::jaro_winkler(typed, name) + if cut { 1.0 + repeats } else { 0.0 }
    };
    let near = known.into_iter().map(|name| (nearness(name.as_ref()), name));
    match near.max_by(|a, b| a.0.total_cmp(&b.0)).filter(|(near, _)| *near > NEAR) {
        Some((_, name)) => format!("; did you mean {:?}?", name.as_ref()),
        None => String::new(),
    }
}

/// As [`meant`] of the contracts, for a pattern of them: what stands before its first `*` counts.
pub(super) fn meant_contract(pattern: &str) -> String {
    let (stem, rest) = pattern.find('*').map_or((pattern, ""), |at| pattern.split_at(at));
    let names = all_contracts().iter().map(ToString::to_string);
    meant(pattern, names.map(|name| if rest.is_empty() { name } else { beginning(&name, stem.len()) + rest }))
}

fn beginning(name: &str, bytes: usize) -> String {
    name[..name.floor_char_boundary(bytes)].to_owned()
}

/// The case of a line.
///
/// # Errors
/// What is wrong with the line, with the name that was probably meant.
pub(super) fn case(line: &str) -> Result<Case> {
    let case: Case =
        line.parse().map_err(|error| anyhow!("the case line: {error}{}", meant_in(line, &error)))?;
    is_there(&case.origin).context("the case line")?;
    Ok(case)
}

/// The matrix of a source.
///
/// # Errors
/// What is wrong with the source, with the name that was probably meant.
pub(super) fn source(text: &str) -> Result<Origin> {
    let origin: Origin = text.parse().map_err(|error| anyhow!("{error}{}", meant_family(text)))?;
    is_there(&origin)?;
    Ok(origin)
}

fn is_there(origin: &Origin) -> Result<()> {
    let names = || embedded::all().iter().map(|matrix| matrix.name);
    match origin {
        Origin::Embedded(name) if names().all(|known| known != name) => {
            let error = FileError::UnknownName { name: name.clone() };
            Err(anyhow!("{error}{}", meant(name, names())))
        }
        Origin::Embedded(_) | Origin::File(_) | Origin::Spec(_) => Ok(()),
    }
}

fn meant_family(source: &str) -> String {
    let typed = source.split(':').next().unwrap_or_default();
    let names = || FAMILIES.iter().map(|family| family.name).chain(["embedded"]);
    if names().any(|name| name == typed) { String::new() } else { meant(typed, names()) }
}

fn meant_in(line: &str, error: &CaseError) -> String {
    match error {
        CaseError::Contract(name) => meant_contract(name),
        CaseError::Origin(_) => line.split('/').nth(1).map(meant_family).unwrap_or_default(),
        CaseError::Param { part, .. } => match part.split_once('=').unwrap_or((part, "")) {
            ("values", drawn) => {
                let family = drawn.split(',').next().unwrap_or_default();
                let is_known = family == "own" || ValueFamily::from_name(family).is_some();
                let names = VALUE_FAMILIES.iter().map(|family| family.name);
                if is_known { String::new() } else { meant(family, names) }
            }
            (key, _) if keys::names().all(|name| name != key) => meant(key, keys::names()),
            _ => String::new(),
        },
        _ => String::new(),
    }
}

//! A manifest checked against the tables, and answers from it.
//!
//! ```text
//! contract -> [ (rule, arithmetic), ... ]   the rules whose patterns fit it, in order, with their text read for it
//! ```

use super::error::{ManifestError, ManifestPlace};
use super::{MAX_NAME, Manifest, PROTOCOL, Rule};
use crate::backend::{Named, Support};
use crate::case::Params;
use crate::declaration::{self, DeclarationError};
use glob::Pattern;
use sparse_oracle::arithmetic::Arithmetic;
use sparse_oracle::contract::{Contract, all_contracts};
use sparse_oracle::prelude::*;
use sparse_oracle::profile::{Choice, Profile};
use std::collections::HashMap;

/// What a backend takes, ready to be asked.
#[derive(Clone, Debug)]
pub struct Capabilities {
    manifest: Manifest,
    /// One per rule.
    profiles: Vec<Profile>,
    by_contract: HashMap<Contract, Says>,
}

/// What the manifest says about one contract.
#[derive(Clone, Debug, Default)]
struct Says {
    excluded: Option<usize>,
    rules: Vec<(usize, Arithmetic)>,
}

impl Capabilities {
    /// Checks a manifest.
    ///
    /// # Errors
    /// The first thing that it says and that is not so: see [`ManifestError`].
    pub fn new(manifest: Manifest) -> Result<Capabilities, ManifestError> {
        if manifest.protocol != PROTOCOL {
            let found = manifest.protocol;
            return Err(ManifestError::Protocol { found });
        }
        check_name(&manifest.name)?;
        if manifest.supports.is_empty() {
            return Err(ManifestError::Nothing);
        }
        let mut by_contract: HashMap<Contract, Says> = HashMap::new();
        let mut profiles = Vec::new();
        for (i, rule) in manifest.supports.iter().enumerate() {
            let place = ManifestPlace::Supports(i);
            rule.only.check(place)?;
            profiles.push(profile(rule, place)?);
            let contracts = matching(&rule.contracts, place)?;
            says_something(rule, &contracts, place)?;
            for contract in contracts {
                let arithmetic = arithmetic(rule, contract, place)?;
                by_contract.entry(*contract).or_default().rules.push((i, arithmetic));
            }
        }
        for (i, exclude) in manifest.excludes.iter().enumerate() {
            let place = ManifestPlace::Excludes(i);
            if exclude.reason.trim().is_empty() {
                return Err(ManifestError::NoReason { place });
            }
            for contract in matching(&exclude.contracts, place)? {
                by_contract.entry(*contract).or_default().excluded.get_or_insert(i);
            }
        }
        Ok(Capabilities { manifest, profiles, by_contract })
    }

    /// The manifest.
    #[must_use]
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// True if the manifest names the contract and does not exclude it.
    #[must_use]
    pub fn claims(&self, contract: &Contract) -> bool {
        self.by_contract.get(contract).is_some_and(|says| says.excluded.is_none() && !says.rules.is_empty())
    }

    /// Values named by each rule that fits a contract.
    #[must_use]
    pub fn named(&self, contract: &Contract) -> Vec<Named<'_>> {
        let rules = self.by_contract.get(contract).into_iter().flat_map(|says| &says.rules);
        rules.filter_map(|(i, _)| self.manifest.supports.get(*i)).map(|rule| rule.only.named()).collect()
    }

    /// What the manifest says about a request.
    #[must_use]
    pub fn support(&self, contract: &Contract, params: &Params) -> Support {
        let Some(says) = self.by_contract.get(contract) else {
            return excluded(format!("the manifest of {} does not name it", self.manifest.name));
        };
        if let Some(exclude) = says.excluded.and_then(|i| self.manifest.excludes.get(i)) {
            return excluded(exclude.reason.clone());
        }
        let mut first = None;
        for (i, arithmetic) in &says.rules {
            let (Some(rule), Some(profile)) = (self.manifest.supports.get(*i), self.profiles.get(*i)) else {
                continue;
            };
            match rule.only.refuses(contract, params) {
                None => {
                    return Support::Supported { arithmetic: *arithmetic, profile: profile.clone() };
                }
                Some(reason) => _ = first.get_or_insert(reason),
            }
        }
        let reason = first.unwrap_or_else(|| "nothing".to_owned());
        excluded(format!("the manifest of {} takes only {reason}", self.manifest.name))
    }
}

fn excluded(reason: String) -> Support {
    Support::Excluded { reason: reason.into() }
}

fn check_name(name: &str) -> Result<(), ManifestError> {
    let legal = |c: char| c.is_ascii_alphanumeric() || "_-.+".contains(c);
    if name.is_empty() || name.len() > MAX_NAME || !name.chars().all(legal) {
        let name = name.chars().take(2 * MAX_NAME).collect();
        return Err(ManifestError::Name { name });
    }
    Ok(())
}

/// The contracts that one of the patterns fits, in the order of the table.
fn matching(patterns: &[String], place: ManifestPlace) -> Result<Vec<&'static Contract>, ManifestError> {
    if patterns.is_empty() {
        return Err(ManifestError::NoContracts { place });
    }
    let named: Vec<(String, &Contract)> = all_contracts().iter().map(|c| (c.to_string(), c)).collect();
    let mut fits = vec![false; named.len()];
    for text in patterns {
        let pattern = || text.chars().take(200).collect();
        let compiled = Pattern::new(text).map_err(|error| ManifestError::Pattern {
            place,
            pattern: pattern(),
            reason: error.msg,
        })?;
        let mut any = false;
        for ((name, _), fit) in named.iter().zip(&mut fits) {
            let matches = compiled.matches(name);
            *fit |= matches;
            any |= matches;
        }
        if !any {
            let pattern = pattern();
            return Err(ManifestError::Unknown { place, pattern });
        }
    }
    let fitting = named.into_iter().zip(fits).filter(|(_, fit)| *fit);
    Ok(fitting.map(|((_, contract), _)| contract).collect())
}

fn profile(rule: &Rule, place: ManifestPlace) -> Result<Profile, ManifestError> {
    let mut profile = Profile::default();
    for settled in &rule.profile {
        let choice = Choice::from_name(&settled.choice)
            .ok_or_else(|| ManifestError::Choice { place, name: settled.choice.clone() })?;
        if settled.reason.trim().is_empty() {
            return Err(ManifestError::NoReason { place });
        }
        profile = profile.with(choice, &settled.reason);
    }
    Ok(profile)
}

/// Refuses a rule with a word in it that changes nothing for any of its contracts: a choice of its profile, an option of its
/// arithmetic, an arithmetic of contracts that round nothing.
fn says_something(rule: &Rule, contracts: &[&Contract], place: ManifestPlace) -> Result<(), ManifestError> {
    let Some(first) = contracts.first() else {
        return Ok(());
    };
    for settled in &rule.profile {
        let choice = Choice::from_name(&settled.choice);
        if choice.is_some_and(|choice| !contracts.iter().any(|contract| choice.concerns(contract))) {
            return Err(ManifestError::IdleChoice {
                place,
                name: settled.choice.clone(),
                contract: first.to_string(),
            });
        }
    }
    for contract in contracts {
        let choices = rule.profile.iter().filter_map(|settled| Choice::from_name(&settled.choice));
        let of_duplicates =
            |c: &Choice| c.point() == Choice::DuplicatesRejected.point() && c.concerns(contract);
        let [first, second, ..] = choices.filter(of_duplicates).collect::<Vec<_>>()[..] else { continue };
        // A contract has one answer to this.
        let names = [first.name(), second.name()];
        return Err(ManifestError::TwoChoices { place, names, contract: contract.to_string() });
    }
    let of = |contract: &Contract, source| ManifestError::Arithmetic {
        place,
        text: rule.arithmetic.clone(),
        contract: contract.to_string(),
        source: Box::new(source),
    };
    let rounding: Vec<&Contract> = contracts.iter().copied().filter(|c| !c.op.is_exact()).collect();
    if rounding.is_empty() && rule.arithmetic.trim() != "any" {
        let contract = first.to_string();
        return Err(of(first, DeclarationError::Moves { contract }));
    }
    // Idle for all: what is left of the options of the first contract once those that any other one needs are gone.
    let mut idle: Option<Vec<DeclarationError>> = None;
    for contract in &rounding {
        let (_, here) =
            declaration::read(&rule.arithmetic, contract).map_err(|source| of(contract, source))?;
        let named = |error: &DeclarationError| here.iter().any(|other| other.option() == error.option());
        idle = Some(match idle {
            Some(before) => before.into_iter().filter(named).collect(),
            None => here,
        });
    }
    match idle.into_iter().flatten().next() {
        Some(source) => Err(of(rounding[0], source)),
        None => Ok(()),
    }
}

/// The declared arithmetic for one contract; where nothing is rounded, the text is not looked at.
fn arithmetic(rule: &Rule, contract: &Contract, place: ManifestPlace) -> Result<Arithmetic, ManifestError> {
    if contract.op.is_exact() {
        return Ok(contract.weakest());
    }
    let text = || rule.arithmetic.clone();
    let wrong = |source| ManifestError::Arithmetic {
        place,
        text: text(),
        contract: contract.to_string(),
        source: Box::new(source),
    };
    let (declared, _) = declaration::read(&rule.arithmetic, contract).map_err(wrong)?;
    if let Some(reason) = declared.contradiction(1.0, 0.0) {
        let text = text();
        return Err(wrong(DeclarationError::Contradiction { text, reason }));
    }
    if let Some(reason) = contract.refuses(&declared) {
        return Err(ManifestError::Weak { place, text: text(), contract: contract.to_string(), reason });
    }
    for (alpha, beta) in rule.only.factors() {
        if let Some(reason) = declared.contradiction(alpha, beta) {
            return Err(ManifestError::Contradiction { place, text: text(), reason, alpha, beta });
        }
    }
    Ok(declared)
}

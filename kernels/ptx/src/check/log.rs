//! Findings of a launch: one a kind and line, with a count, so that a million of them is one.

use super::{Checks, CudaPlace, Finding, Kind, Partner};
use crate::program::Program;
use std::collections::HashMap;

/// Where the machine is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Site {
    pub(crate) step: usize,
    pub(crate) thread: [u32; 3],
    pub(crate) block: [u32; 3],
}

/// What is said about an access.
#[derive(Debug)]
pub(crate) struct Wording {
    pub(crate) allocation: Option<u32>,
    pub(crate) partner: Option<Partner>,
    pub(crate) explanation: String,
}

/// What was found so far.
#[derive(Debug)]
pub(crate) struct Log<'a> {
    program: &'a Program,
    checks: Checks,
    findings: Vec<Finding>,
    known: HashMap<(Kind, u32), usize>,
}

impl<'a> Log<'a> {
    pub(crate) fn new(program: &'a Program, checks: Checks) -> Log<'a> {
        Log { program, checks, findings: Vec::new(), known: HashMap::new() }
    }

    /// True where nothing has to be said: the kind is not wanted, or was found at this line before, which is counted.
    pub(crate) fn again(&mut self, kind: Kind, step: usize) -> bool {
        if !self.checks.wants(kind) {
            return true;
        }
        let line = self.line(step);
        let known = self.known.get(&(kind, line)).copied();
        if let Some(at) = known {
            self.findings[at].count += 1;
        }
        known.is_some()
    }

    /// Adds a finding; the words are made only for the first of its kind and line.
    pub(crate) fn report(&mut self, kind: Kind, site: Site, words: impl FnOnce() -> (Option<u32>, String)) {
        if self.again(kind, site.step) {
            return;
        }
        let (allocation, explanation) = words();
        self.add(kind, site, Wording { allocation, partner: None, explanation });
    }

    /// Adds a finding that is none [again](Self::again).
    pub(crate) fn add(&mut self, kind: Kind, site: Site, said: Wording) {
        let line = self.line(site.step);
        let Wording { allocation, partner, explanation } = said;
        let Site { thread, block, .. } = site;
        let cuda = self.program.steps.get(site.step).and_then(|step| step.cuda);
        let cuda = cuda.map(|(file, line)| CudaPlace {
            file: self.program.files.get(file as usize).cloned().unwrap_or_else(|| format!("file {file}")),
            line,
        });
        self.known.insert((kind, line), self.findings.len());
        self.findings.push(Finding {
            kind,
            thread,
            block,
            line,
            cuda,
            allocation,
            partner,
            explanation,
            count: 1,
        });
    }

    /// The line of a step; 0 for none.
    pub(crate) fn line(&self, step: usize) -> u32 {
        self.program.steps.get(step).map_or(0, |step| step.line)
    }

    /// All, by line and kind.
    pub(crate) fn finish(mut self) -> Vec<Finding> {
        self.findings.sort_by_key(|finding| (finding.line, finding.kind));
        self.findings
    }
}

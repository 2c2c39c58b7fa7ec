//! What `run`, `check` and `count` say, as data: printed as text, or as one JSON object.

use super::counters::COUNTERS;
use super::{Described, Ran};
use serde::Serialize;
use sparse_ptx::check::{Finding, Partner, Severity};
use sparse_ptx::program::Program;
use std::collections::BTreeMap;

/// Everything that is said.
#[derive(Clone, Debug, Serialize)]
pub struct Said {
    /// What was launched.
    pub launch: Shape,
    /// The entry ran to its end in every order, nothing but notes was found, and every order left the same.
    pub clean: bool,
    /// Warp instructions, in the first order.
    pub instructions: u64,
    /// What was found, in the order in which it was seen.
    pub findings: Vec<SaidFinding>,
    /// `check`: the first order that left something else than order 0, where nothing but notes was found before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub difference: Option<Difference>,
    /// `run`: what the buffers hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buffers: Option<Vec<ShownBuffer>>,
    /// `count`: counters by their keys.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counters: Option<BTreeMap<&'static str, u64>>,
}

/// The shape of a launch.
#[derive(Clone, Debug, Serialize)]
pub struct Shape {
    /// The entry.
    pub entry: String,
    /// The text's `.target`.
    pub target: String,
    /// What is played.
    pub architecture: String,
    /// Blocks: x, y, z.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
    /// Bytes of shared memory that the entry declares.
    pub static_shared: u32,
    /// Bytes of shared memory that the launch adds.
    pub dynamic_shared: u32,
    /// The orders that were run, by their numbers.
    pub orders: Vec<u64>,
}

/// A finding.
#[derive(Clone, Debug, Serialize)]
pub struct SaidFinding {
    /// Its kind, such as `race`.
    pub kind: &'static str,
    /// `error`, or `note`: the entry counts as clean.
    pub severity: &'static str,
    /// The order in which it was seen first.
    pub order: u64,
    /// The line of the PTX.
    pub line: u32,
    /// File and line of the CUDA source, where they are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cuda: Option<(String, u32)>,
    /// `%tid`.
    pub thread: [u32; 3],
    /// `%ctaid`.
    pub block: [u32; 3],
    /// The buffer or variable that it concerns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buffer: Option<String>,
    /// Of what concerns two accesses, as a race does, the earlier one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partner: Option<SaidPartner>,
    /// What happened, in words.
    pub explanation: String,
    /// How often at this line.
    pub count: u64,
    /// What `count` counts: `lanes` or `warps`.
    pub counted: &'static str,
    /// As it is printed.
    #[serde(skip)]
    pub text: String,
}

/// The other access of a race.
#[derive(Clone, Debug, Serialize)]
pub struct SaidPartner {
    /// The line of the PTX.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// `%tid`.
    pub thread: [u32; 3],
    /// `%ctaid`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block: Option<[u32; 3]>,
}

/// An order that left something else.
#[derive(Clone, Debug, Serialize)]
pub struct Difference {
    /// The order.
    pub order: u64,
    /// The buffer.
    pub buffer: String,
    /// Its first element that differs.
    pub element: usize,
    /// The lines of the entry's atomics, which came in another order too.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub atomics: Vec<u32>,
}

/// What a buffer holds.
#[derive(Clone, Debug, Serialize)]
pub struct ShownBuffer {
    /// Its name.
    pub name: String,
    /// The type of its elements.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// Its elements.
    pub count: u64,
    /// The first of them, as text; `null` where nobody wrote.
    pub shown: Vec<Option<String>>,
}

impl Said {
    /// Of a launch in its first order.
    #[must_use]
    pub fn of(program: &Program, described: &Described, order: u64, ran: &Ran<'_>) -> Said {
        let mut said = Said {
            launch: described.shape(program, order),
            clean: true,
            instructions: ran.outcome.counters.instructions,
            findings: Vec::new(),
            difference: None,
            buffers: None,
            counters: None,
        };
        said.saw(order, ran);
        said
    }

    /// Adds what an order found and no order before it.
    pub fn saw(&mut self, order: u64, ran: &Ran<'_>) {
        self.clean &= ran.outcome.is_clean();
        for finding in &ran.outcome.findings {
            let known = |said: &SaidFinding| said.kind == finding.kind.name() && said.line == finding.line;
            if !self.findings.iter().any(known) {
                self.findings.push(SaidFinding::of(order, finding, ran));
            }
        }
    }

    /// Takes the first elements of each buffer up.
    pub fn show(&mut self, ran: &Ran<'_>, elements: usize) {
        let held = ran.buffers.iter().map(|(buffer, found)| {
            let (width, defined) = (buffer.width(), found.defined());
            let pieces = found.bytes.chunks(width).zip(defined.chunks(width)).take(elements);
            let shown = pieces
                .map(|(element, defined)| (!defined.contains(&false)).then(|| buffer.shown(element)))
                .collect();
            ShownBuffer { name: buffer.name.clone(), kind: buffer.ty.name(), count: buffer.count, shown }
        });
        self.buffers = Some(held.collect());
    }

    /// Takes the counters up.
    pub fn count(&mut self, ran: &Ran<'_>) {
        let counters = COUNTERS.iter().map(|counter| (counter.key, (counter.of)(&ran.outcome.counters)));
        self.counters = Some(counters.collect());
    }
}

impl SaidFinding {
    fn of(order: u64, finding: &Finding, ran: &Ran<'_>) -> SaidFinding {
        SaidFinding {
            kind: finding.kind.name(),
            severity: match finding.kind.severity() {
                Severity::Note => "note",
                Severity::Error => "error",
            },
            order,
            line: finding.line,
            cuda: finding.cuda.as_ref().map(|place| (place.file.clone(), place.line)),
            thread: finding.thread,
            block: finding.block,
            buffer: finding.allocation.and_then(|number| ran.name(number)).map(str::to_owned),
            partner: finding.partner.map(|Partner { thread, block, line }| SaidPartner {
                line,
                thread,
                block,
            }),
            explanation: finding.explanation.clone(),
            count: finding.count,
            counted: finding.kind.counted(),
            text: finding.to_string(),
        }
    }
}

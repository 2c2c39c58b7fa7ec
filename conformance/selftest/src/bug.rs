//! One seeded bug: what it is called, where it bites, what it does to an honest kernel, and how it must be found.

use super::dense::Dense;
use super::memory::Memory;
use super::own::{Lanes, StepKernel};
use sparse_conformance_core::backend::{Failure, Support};
use sparse_conformance_core::case::{Case, Params};
use sparse_conformance_core::plan::Tier;
use sparse_conformance_core::report::{Defect, VerdictKind, VerdictRecord};
use sparse_oracle::contract::Contract;
use sparse_oracle::format::{AnyParts, AnySparse, Entry, FormatParams};
use sparse_oracle::scalar::Precision;
use sparse_oracle::task::{Answer, DenseRef, RawSparse, Task};
use std::fmt;

/// A whole `run` of its own.
pub type RunFn = fn(&Contract, Task<'_>) -> Result<Answer, Failure>;

/// A manifest of its own.
pub type SupportFn = fn(&Contract, &Params) -> Support;

/// Entries with their values as bits, in the order in which a kernel meets them.
pub type EntryOrder = Vec<Entry<u64>>;

/// What a bug is about; the order of tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Family {
    /// Loop bounds: tails, halos, rows and blocks left out or taken twice.
    Bounds,
    /// What becomes of the memory of C.
    Output,
    /// alpha and beta.
    Scaling,
    /// Transposes, layouts and leading dimensions of the operands.
    Operands,
    /// Types of intermediates and roundings.
    Precision,
    /// NaN, infinities, zeros, subnormals.
    Special,
    /// Order of additions, threads, atomics, state kept between calls.
    Order,
    /// Extents, lengths and counts past what a block, a buffer or a field holds.
    Sizes,
    /// Elements in one another's place.
    Swaps,
    /// Addresses of arrays.
    Alignment,
    /// What is kept from call to call.
    State,
    /// Threads that share a row, some of the time.
    Races,
    /// Tables that SpGEMM gathers a row in.
    Hash,
    /// Encodings that are valid and that no encoder writes.
    Loose,
    /// Width of an index.
    Width,
    /// SDDMM.
    Sddmm,
    /// Sparse results: SpGEMM, transposes, conversions between general formats.
    Sparse,
    /// Encoders and decoders of the papers' formats.
    Encoding,
    /// Kernels that multiply from the arrays of the papers' formats.
    Tiles,
    /// What the papers print, followed to the letter.
    Slip,
    /// Refusals, panics, wrong kinds of answers, untrue manifests.
    Conduct,
}

impl Family {
    /// All families, in the order of tables.
    pub const ALL: [Family; 21] = [
        Family::Bounds,
        Family::Output,
        Family::Scaling,
        Family::Operands,
        Family::Precision,
        Family::Special,
        Family::Order,
        Family::Sizes,
        Family::Swaps,
        Family::Alignment,
        Family::State,
        Family::Races,
        Family::Hash,
        Family::Loose,
        Family::Width,
        Family::Sddmm,
        Family::Sparse,
        Family::Encoding,
        Family::Tiles,
        Family::Slip,
        Family::Conduct,
    ];

    /// Name in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Family::Bounds => "bounds",
            Family::Output => "output",
            Family::Scaling => "scaling",
            Family::Operands => "operands",
            Family::Precision => "precision",
            Family::Special => "special values",
            Family::Order => "order",
            Family::Sizes => "sizes",
            Family::Swaps => "swaps",
            Family::Alignment => "alignment",
            Family::State => "state",
            Family::Races => "races",
            Family::Hash => "hash tables",
            Family::Loose => "loose encodings",
            Family::Width => "index width",
            Family::Sddmm => "sddmm",
            Family::Sparse => "sparse results",
            Family::Encoding => "encoding",
            Family::Tiles => "tiles",
            Family::Slip => "slips",
            Family::Conduct => "conduct",
        }
    }
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What a bug may be called by the judge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Symptom {
    /// A wrong result, by its defect.
    Wrong(Defect),
    /// Another verdict.
    Is(VerdictKind),
}

/// The symptoms by one word each, for tables of bugs.
pub mod symptom {
    use super::{Defect, Symptom, VerdictKind};

    /// An element's value.
    pub const VALUE: Symptom = Symptom::Wrong(Defect::Value);
    /// An element not written.
    pub const UNWRITTEN: Symptom = Symptom::Wrong(Defect::Unwritten);
    /// Memory outside the result.
    pub const CANARY: Symptom = Symptom::Wrong(Defect::Canary);
    /// Stored positions.
    pub const PATTERN: Symptom = Symptom::Wrong(Defect::Pattern);
    /// No valid, or not the canonical encoding.
    pub const STRUCTURE: Symptom = Symptom::Wrong(Defect::Structure);
    /// Shape, format or kind.
    pub const SHAPE: Symptom = Symptom::Wrong(Defect::Shape);
    /// Other bits from run to run.
    pub const NONDETERMINISTIC: Symptom = Symptom::Wrong(Defect::Nondeterministic);
    /// A panic.
    pub const CRASHED: Symptom = Symptom::Is(VerdictKind::Crashed);
    /// A legal case refused.
    pub const REFUSED: Symptom = Symptom::Is(VerdictKind::LoneRefusal);
    /// An illegal one taken.
    pub const ACCEPTED: Symptom = Symptom::Is(VerdictKind::LoneAcceptance);
}

impl Symptom {
    /// What a verdict says is wrong; `None` for one that is no finding.
    #[must_use]
    pub fn of(verdict: &VerdictRecord) -> Option<Symptom> {
        match verdict.mismatch() {
            Some(mismatch) => Some(Symptom::Wrong(mismatch.what)),
            None => verdict.is_finding().then(|| Symptom::Is(verdict.kind())),
        }
    }
}

impl fmt::Display for Symptom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Symptom::Wrong(defect) => defect.name(),
            Symptom::Is(kind) => kind.label(),
        })
    }
}

/// What a bug does, and to what. Everything around it is the honest kernel.
#[derive(Clone, Copy, Debug)]
pub enum Effect {
    /// Changes what the kernel left in a dense output.
    Output(fn(&mut Dense<'_>)),
    /// Leaves elements as they were: row, column.
    Leaves(fn(&Dense<'_>, usize, usize) -> bool),
    /// Gives columns of C no terms: told how many there are, and which.
    LosesColumns(fn(usize, usize) -> bool),
    /// Puts another matrix in the place of A; told whether A is used transposed.
    Left(fn(&AnySparse, bool) -> Result<AnySparse, String>),
    /// Puts other elements (as bits) in the place of those of B, x or X.
    Right(fn(&DenseRef<'_>) -> Vec<u64>),
    /// Changes factors, flags or modes of the request.
    Request(fn(&mut Task<'_>)),
    /// Other factors alpha and beta, rounded to the accumulator's type.
    Factors(fn(f64, f64) -> (f64, f64)),
    /// A product computed by a kernel of the catalogue, one step of it wrong.
    StepKernel(StepKernel),
    /// The same kernel, honest but for the rows that it walks over.
    Lanes(fn(&mut Lanes)),
    /// The same kernel, honest but for how it reads stored triples (COO, in stored order; other formats as their entries).
    Reads(fn(&mut EntryOrder)),
    /// As `Lanes`, told the number of the call: what a race makes of them.
    Races(fn(u64, &mut Lanes)),
    /// As `Output`, told the number of the call.
    RacesForC(fn(u64, &mut Dense<'_>)),
    /// As `StepKernel`, with entries read from the arrays of a format of the papers.
    Walks(fn(&AnyParts) -> EntryOrder, fn(&AnyParts) -> EntryOrder),
    /// Changes an encoding.
    Parts(fn(&mut AnyParts)),
    /// Encodes with other parameters than asked for; told the number of rows.
    Encodes(fn(&mut FormatParams, usize)),
    /// Changes a sparse result of a general format.
    Result(fn(&mut RawSparse)),
    /// Puts other bits in the place of those of every value that a conversion or transpose stores.
    Stored(fn(Precision, u64) -> u64),
    /// Something else instead of the kernel.
    Runs(RunFn),
    /// The kernel, with another manifest.
    Declares(SupportFn),
    /// The kernel, and what it remembers of calls before.
    Remembers(fn(&Contract, Task<'_>, &Memory) -> Result<Answer, Failure>),
}

/// One row of the catalogue.
#[derive(Clone, Copy, Debug)]
pub struct Bug {
    /// Name on the command line and in tables.
    pub name: &'static str,
    /// What it is about.
    pub family: Family,
    /// One sentence: what the author of such a kernel did.
    pub story: &'static str,
    /// The cases in which it can show.
    pub concerns: fn(&Case) -> bool,
    /// What is wrong.
    pub effect: Effect,
    /// What a finding about it may be called.
    pub right: &'static [Symptom],
    /// The smallest tier in which it must be found.
    pub killed_in: Tier,
    /// True where every result is within the bound of T1, so that only declared bits (T2) tell it from an honest kernel.
    pub bits_only: bool,
}

impl Bug {
    /// A row that the quick tier must find.
    #[must_use]
    pub const fn new(
        family: Family,
        name: &'static str,
        story: &'static str,
        concerns: fn(&Case) -> bool,
        effect: Effect,
        right: &'static [Symptom],
    ) -> Bug {
        Bug { name, family, story, concerns, effect, right, killed_in: Tier::Quick, bits_only: false }
    }

    /// The same, seen by T2 alone: as accurate as it declares, with other bits.
    #[must_use]
    pub const fn only_bits(self) -> Bug {
        Bug { bits_only: true, ..self }
    }

    /// The same, found from a larger tier on.
    #[must_use]
    pub const fn only_from(self, tier: Tier) -> Bug {
        Bug { killed_in: tier, ..self }
    }
}

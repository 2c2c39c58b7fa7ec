//! Whoever is timed: a backend of one kernel, of another library, or of the user, with operands that it has taken in.
//!
//! ```text
//! entrant (backend, case, operands) -> prepare (timed apart) -> computed once, judged -> computed again and again, timed
//! ```
//!
//! What is timed is [`Prepared::compute`], which is what was judged: checks included, nothing copied for the clock's sake.

use sparse_conformance_core::backend::{Backend, Failure, Prepared, Support};
use sparse_conformance_core::case::Case;
use sparse_conformance_core::execute::{Before, execute_prepared, output, quietly};
use sparse_conformance_core::operands::{DenseOperand, Operands};
use sparse_conformance_core::response::Response;
use sparse_kernels::Split;
use sparse_oracle::arithmetic::Arithmetic;
use sparse_oracle::each_parts;
use sparse_oracle::format::{AnyParts, AnySparse, Fields, FormatKind, FormatParams, PARAMETERS};
use sparse_oracle::profile::{Choice, Profile};
use sparse_oracle::task::DenseMut;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Who takes part, and on what.
pub(super) struct Entrant<'b> {
    pub(super) backend: &'b dyn Backend,
    /// A library that kernels are compared with.
    pub(super) peer: bool,
    /// Replays the operands, laid out as the backend takes them.
    pub(super) case: Case,
    pub(super) operands: Arc<Operands>,
    /// Workers of each part of a LOOPS product, where a scheduler chose them.
    pub(super) split: Option<Split>,
    /// Seconds that went into encoding the operands and choosing how.
    pub(super) conversion: f64,
}

/// An entrant that is ready to compute.
pub(super) struct Contender<'e> {
    pub(super) entrant: &'e Entrant<'e>,
    /// How it rounds, by its declaration.
    pub(super) arithmetic: Arithmetic,
    /// How it settles choice points.
    pub(super) profile: Profile,
    /// Seconds that its preparation took.
    pub(super) preparation: f64,
    prepared: Box<dyn Prepared + 'e>,
    /// What it writes while it is timed.
    output: Option<DenseOperand>,
}

impl<'e> Contender<'e> {
    /// Ready to compute.
    ///
    /// # Errors
    /// Why it does not take part: it has no such operation, or not for these numbers, or it failed while it was prepared.
    pub(super) fn prepare(entrant: &'e Entrant<'e>) -> Result<Contender<'e>, String> {
        let Entrant { backend, case, operands, .. } = entrant;
        let (arithmetic, profile) = match backend.support(&case.contract, &case.params) {
            Support::Supported { arithmetic, profile } => (arithmetic, profile),
            Support::Excluded { reason } => return Err(reason.into_owned()),
        };
        let start = Instant::now();
        let prepared = quietly(|| backend.prepare(&case.contract, operands.inputs(case)))
            .map_err(|message| format!("panicked: {message}"))?
            .map_err(words)?;
        let preparation = entrant.conversion + start.elapsed().as_secs_f64();
        Ok(Contender { entrant, arithmetic, profile, preparation, prepared, output: None })
    }

    /// The same, with its computations wrapped.
    #[cfg(feature = "cuda")]
    pub(super) fn wrapped(
        mut self,
        wrap: impl FnOnce(Box<dyn Prepared + 'e>) -> Box<dyn Prepared + 'e>,
    ) -> Contender<'e> {
        self.prepared = wrap(self.prepared);
        self
    }

    /// What C holds before a call. Zeros where C is read even with beta = 0, and else what shows if it stays.
    fn before(&self) -> Before<'static> {
        if self.profile.has(Choice::Beta0ReadsC) { Before::Bits(0) } else { Before::Poison }
    }

    /// True where elements that are not written show.
    pub(super) fn is_poisoned(&self) -> bool {
        matches!(self.before(), Before::Poison)
    }

    /// Computes once between guards, to be judged.
    pub(super) fn response(&mut self) -> Response {
        let (entrant, before) = (self.entrant, self.before());
        let prepared: &mut dyn Prepared = self.prepared.as_mut();
        let mut spent = Duration::ZERO;
        execute_prepared(&entrant.case, &entrant.operands, (entrant.backend, prepared), before, &mut spent)
    }

    /// Computes once; the seconds that it took. What was computed is dropped off the clock.
    pub(super) fn timed(&mut self) -> Result<f64, String> {
        let Entrant { case, operands, .. } = self.entrant;
        if self.output.is_none() && case.contract.op.is_dense() {
            self.output = Some(output(case, operands, self.before()));
        }
        let c = self.output.as_mut().map(|c| DenseMut {
            rows: c.rows,
            cols: c.cols,
            ld: c.ld,
            layout: c.layout,
            data: c.data.as_mut_slice(),
        });
        let start = Instant::now();
        let done = self.prepared.compute(c);
        let took = start.elapsed();
        done.map_err(words)?;
        let took = self.prepared.took().unwrap_or(took);
        self.prepared.clear();
        Ok(took.as_secs_f64())
    }

    /// Bytes of the sparse operands as the contract's format holds them.
    pub(super) fn sparse_bytes(&self) -> u64 {
        let operands = &self.entrant.operands;
        [Some(&operands.a), operands.b_sparse.as_ref()].into_iter().flatten().map(bytes).sum()
    }

    /// The format's parameters that are not the default, by name; and the threads of both parts, where they were chosen.
    pub(super) fn parameters(&self) -> Vec<(String, u64)> {
        let case = &self.entrant.case;
        let threads = self.entrant.split.map(|split| {
            [("csr_threads".to_owned(), split.csr as u64), ("tile_threads".to_owned(), split.tiles as u64)]
        });
        let of_format = parameters(case.contract.format, &case.params.blocks);
        of_format.into_iter().chain(threads.into_iter().flatten()).collect()
    }
}

/// What happened instead of an answer, in words.
fn words(failure: Failure) -> String {
    match failure {
        Failure::Refused(words) | Failure::Crashed(words) | Failure::NotAsked(words) => words,
        Failure::TimedOut { seconds, .. } => format!("no answer within {seconds} s"),
        Failure::Broke(mismatch) => mismatch.message,
    }
}

/// The format's parameters that are not the default, by name.
fn parameters(format: FormatKind, params: &FormatParams) -> Vec<(String, u64)> {
    let default = FormatParams::default();
    let read = PARAMETERS.iter().filter(|p| p.formats.contains(&format));
    read.filter(|p| (p.get)(params) != (p.get)(&default))
        .filter_map(|p| Some((p.name.to_owned(), u64::from((p.get)(params)?))))
        .collect()
}

/// Bytes of all arrays of a matrix.
fn bytes(matrix: &AnySparse) -> u64 {
    each_parts!(AnyParts::from(matrix.clone()), parts => parts.index_bytes() + parts.value_bytes())
}

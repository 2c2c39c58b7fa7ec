//! A probe's case run once: an honest result, edited, judged by the suite, and shown to comparators beside the correctly
//! rounded one.

use super::Probe;
use super::probes::{Edit, Planned};
use crate::dense::after;
use crate::request::bits_of;
use sparse_conformance_core::backend::{Backend, Failure, Support};
use sparse_conformance_core::case::{Case, Params};
use sparse_conformance_core::operands::{Operands, build};
use sparse_conformance_core::origin::Loaded;
use sparse_conformance_core::report::VerdictRecord;
use sparse_conformance_core::runner::run_case;
use sparse_conformance_peers::Portable;
use sparse_oracle::contract::{Contract, Op};
use sparse_oracle::format::FormatKind;
use sparse_oracle::judge::ExactOperands;
use sparse_oracle::profile::Profile;
use sparse_oracle::scalar::{Precision, decode};
use sparse_oracle::task::{Answer, RawSparse, Task};
use std::sync::{Arc, Mutex, PoisonError};

/// What a comparator sees.
#[derive(Clone, Debug)]
pub struct View {
    /// Rows of the result.
    pub rows: usize,
    /// Columns of the result.
    pub cols: usize,
    /// Inner dimension.
    pub inner: usize,
    /// Output type.
    pub out: Precision,
    /// The exact result, rounded once: one number per position.
    pub expected: Vec<f64>,
    /// Positions of those.
    pub expected_at: Vec<(u32, u32)>,
    /// What came back.
    pub found: Vec<f64>,
    /// Positions of those.
    pub found_at: Vec<(u32, u32)>,
}

impl View {
    /// Pairs of expected and found, as long as both have numbers.
    pub fn pairs(&self) -> impl Iterator<Item = (f64, f64)> + Clone {
        self.expected.iter().copied().zip(self.found.iter().copied())
    }

    /// Half the distance from 1 to the next number of the output type.
    #[must_use]
    pub fn unit(&self) -> f64 {
        2f64.powi(-(self.out.spec().significand as i32))
    }
}

/// Values and positions as they came back.
type Elements = (Vec<f64>, Vec<(u32, u32)>);

/// The portable kernels with their result edited, declared no better than the contract asks for.
#[derive(Debug)]
struct Edited {
    edit: Edit,
    elements: Arc<Mutex<Option<Elements>>>,
}

impl Edited {
    fn keep(&self, elements: Elements) {
        self.elements.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(elements);
    }
}

impl Backend for Edited {
    fn name(&self) -> &str {
        "probe"
    }

    fn version(&self) -> String {
        crate::SUITE_VERSION.to_owned()
    }

    fn description(&self) -> &str {
        "an honest result, edited"
    }

    fn support(&self, contract: &Contract, _params: &Params) -> Support {
        Support::Supported { arithmetic: contract.weakest(), profile: Profile::default() }
    }

    fn run(&self, contract: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
        let edit = match self.edit {
            Edit::Dense(edit) => edit,
            Edit::Sparse(edit) => {
                let mut answer = Portable.run(contract, task)?;
                if let Answer::Sparse(raw) = &mut answer {
                    edit(raw);
                    self.keep(sparse(raw));
                }
                return Ok(answer);
            }
        };
        after(contract, task, |d| {
            edit(d);
            let offsets = d.offsets();
            let numbers = offsets.iter().map(|o| d.number(d.after[o.2])).collect();
            self.keep((numbers, offsets.iter().map(|o| (o.0 as u32, o.1 as u32)).collect()));
        })
    }
}

/// Numbers and positions of a CSR result, as far as its arrays go.
fn sparse(raw: &RawSparse) -> Elements {
    let precision = raw.values.precision();
    let numbers = bits_of(raw.values.as_slice()).into_iter().map(|b| decode(b, precision)).collect();
    let rows = raw.offsets.windows(2).enumerate();
    let row_of = rows.flat_map(|(i, w)| std::iter::repeat_n(i as u32, w[1].saturating_sub(w[0]) as usize));
    (numbers, row_of.zip(raw.indices.iter().copied()).collect())
}

/// Runs one probe.
pub(super) fn run(planned: &'static Planned) -> Probe {
    let probe = |view, verdict| Probe { name: planned.name, right: planned.right, view, verdict };
    match try_run(planned) {
        Ok((view, verdict)) => probe(view, verdict),
        Err(reason) => probe(nothing(), VerdictRecord::NotRun { reason }),
    }
}

fn nothing() -> View {
    let (expected, found) = (Vec::new(), Vec::new());
    View {
        rows: 0,
        cols: 0,
        inner: 0,
        out: Precision::F64,
        expected,
        expected_at: Vec::new(),
        found,
        found_at: Vec::new(),
    }
}

fn try_run(planned: &Planned) -> Result<(View, VerdictRecord), String> {
    let case: Case = planned.line.parse().map_err(|e| format!("{}: {e}", planned.line))?;
    let loaded: Loaded = case.origin.load().map_err(|e| e.to_string())?;
    let operands = build(&case, &loaded).map_err(|e| e.to_string())?;
    let elements = Arc::new(Mutex::new(None));
    let backend: [Box<dyn Backend>; 1] =
        [Box::new(Edited { edit: planned.edit, elements: Arc::clone(&elements) })];
    let verdict = run_case(&case, &loaded, &backend).records.pop().map(|record| record.verdict);
    let (expected, expected_at) = expected(&case, &operands)?;
    let elements = elements.lock().unwrap_or_else(PoisonError::into_inner).take();
    let (found, found_at) = elements.ok_or("nothing came back")?;
    let (rows, cols) = operands.result;
    let inner = operands.a.shape().1;
    let view =
        View { rows, cols, inner, out: case.contract.types.out, expected, expected_at, found, found_at };
    Ok((view, verdict.ok_or("no verdict")?))
}

/// The exact result, rounded once, element by element.
fn expected(case: &Case, operands: &Operands) -> Result<Elements, String> {
    let (arithmetic, profile) = (case.contract.weakest(), Profile::default());
    let exact =
        ExactOperands::new(&operands.inputs(case), &arithmetic, &profile).map_err(|e| e.to_string())?;
    let exact = exact.ok_or("the case has no arithmetic")?;
    let scalars = (case.params.alpha, case.params.beta);
    let (mut numbers, mut at) = (Vec::new(), Vec::new());
    let sparse = case.contract.op == Op::Spgemm && case.contract.format == FormatKind::Csr;
    let c = (case.reads_c() && !sparse).then_some(&operands.c[0][..]);
    let visited =
        exact.for_each_accepted((&arithmetic, &profile), scalars, (c, None), &mut |site, _, accepted| {
            numbers.push(decode(accepted.expected_bits(), arithmetic.out));
            at.push((site.at.0 as u32, site.at.1 as u32));
        });
    visited.map_err(|e| e.to_string())?;
    Ok((numbers, at))
}

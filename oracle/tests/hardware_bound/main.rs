//! Declared hardware reductions: their bounds hold on what searches find to be worst, are used, and reject wrong arithmetic;
//! their models fix the bits.
//!
//! ```text
//! declared   every unit x composition x initial value x epilogue x output that a contract has
//! inputs     adversarial operands, and a search that makes them worse
//! ```

mod bits;
mod declared;
mod derived;
mod inputs;
mod worst;
mod wrong;

use sparse_oracle::arithmetic::{Arithmetic, Slot};
use sparse_oracle::format::{Csr, CsrParts, Dense};
use sparse_oracle::judge::{Accepted, Problem, Rule};
use sparse_oracle::model::reduction::Model;
use sparse_oracle::profile::Profile;

/// One output element: its terms in ascending order, perhaps with slots, alpha and beta, and C.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) terms: Vec<(f64, f64)>,
    pub(crate) slots: Option<Vec<Slot>>,
    pub(crate) scaling: (f64, f64),
    pub(crate) c: f64,
}

impl Case {
    pub(crate) fn new(terms: &[(f64, f64)], scaling: (f64, f64), c: f64) -> Case {
        Case { terms: terms.to_vec(), slots: None, scaling, c }
    }

    /// What the judge accepts for it.
    pub(crate) fn accepts(&self, arithmetic: &Arithmetic) -> Accepted {
        let n = self.terms.len();
        let row = |values: Vec<f64>| {
            Csr::try_new(CsrParts {
                rows: 1,
                cols: n,
                row_ptr: vec![0, n as u32],
                col_idx: (0..n as u32).collect(),
                values,
            })
            .expect("one row")
        };
        let a = row(self.terms.iter().map(|t| t.0).collect());
        let slots = self.slots.as_ref().map(|slots| {
            let mut next = slots.iter();
            a.map(|_| *next.next().expect("a slot a term"))
        });
        let b = Dense::from_fn(n, 1, |k, _| self.terms[k].1);
        let problem = Problem::Spmm { a: &a, pads: None, b: &b.clone().into(), slots: slots.as_ref() };
        let profile = Profile::default();
        let mut rule = Rule::new(
            arithmetic,
            &profile,
            self.scaling.0,
            self.scaling.1,
            problem.other_max(arithmetic.epilogue),
        );
        let mut accepted = None;
        let visited = problem.for_each(&mut |site| accepted = Some(rule.accepts(site, self.c)));
        visited.expect("the operands fit");
        accepted.expect("one element")
    }

    /// The bits of the model of `arithmetic`, where it fixes them.
    pub(crate) fn bits(&self, arithmetic: &Arithmetic) -> Option<u64> {
        let terms = self.terms.iter().copied();
        Model::new(arithmetic)?.element(terms, self.slots.as_deref(), self.scaling, self.c, false)
    }

    /// The bits of the model of `arithmetic`.
    pub(crate) fn modelled(&self, arithmetic: &Arithmetic) -> u64 {
        let bits = self.bits(arithmetic);
        bits.unwrap_or_else(|| panic!("{arithmetic:?} fixes the bits of {self:?}"))
    }
}

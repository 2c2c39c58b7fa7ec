//! Does a bug change anything on a request at all? Where it does not, the kernel with the bug is the honest one, and there is
//! nothing to judge.
//!
//! ```text
//! rows walked over, operands, columns, factors: with the bug == without it   -->   the case can't show it
//! ```

use super::bug::{Bug, Effect};
use super::edit::triples;
use super::own::HONEST;
use super::request::{bits_of, left_of, right_of};
use sparse_oracle::format::AnyParts;
use sparse_oracle::task::Task;

impl Bug {
    /// True where the bug changes what the kernel works on, false where it does not, `None` where only a run tells: for bugs in the
    /// steps of a kernel, in its results, or with a memory.
    #[must_use]
    pub fn touches(&self, task: &Task<'_>) -> Option<bool> {
        let (a, transposed) = left_of(task);
        match self.effect {
            Effect::Lanes(edit) => {
                let honest = (HONEST.gather)(a, transposed);
                let mut other = honest.clone();
                edit(&mut other);
                // A NaN differs from itself: such a matrix counts as touched.
                Some(other != honest)
            }
            Effect::Left(edit) => {
                Some(edit(a, transposed).map_or(true, |other| triples(&other) != triples(a)))
            }
            Effect::Right(edit) => right_of(task).map(|b| edit(&b) != bits_of(b.data)),
            Effect::LosesColumns(lost) => match task {
                Task::Spmm { c, .. } => Some((0..c.cols).any(|j| lost(c.cols, j))),
                _ => None,
            },
            Effect::Factors(change) => match *task {
                Task::Spmm { alpha, beta, .. } | Task::Spmv { alpha, beta, .. } => {
                    Some(change(alpha, beta) != (alpha, beta))
                }
                _ => None,
            },
            Effect::Walks(wrong, right) => {
                let parts = AnyParts::from(a.clone());
                Some(wrong(&parts) != right(&parts))
            }
            _ => None,
        }
    }
}

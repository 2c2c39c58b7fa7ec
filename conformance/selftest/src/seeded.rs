//! A row of the catalogue as a backend, and its control: the same wiring without the bug.
//!
//! The control is what makes a kill mean something. It takes the same detour (output copied out and in, operands rebuilt, the
//! catalogue's own kernel) on the same cases; if it is accused, the detour was judged, not the bug.

use super::bug::{Bug, Effect, EntryOrder};
use super::dense::after;
use super::edit::{change_stored, rebuilt, triples};
use super::memory::Memory;
use super::own::{HONEST, Lanes, declared};
use super::request::{bits_of, factors, left_of, right_of, values_of, with_left, with_right};
use sparse_conformance_core::backend::{Backend, Determinism, Failure, Support};
use sparse_conformance_core::case::Params;
use sparse_conformance_peers::Portable;
use sparse_oracle::arithmetic::{Order, Reduction};
use sparse_oracle::contract::{Contract, Op};
use sparse_oracle::format::AnyParts;
use sparse_oracle::profile::Profile;
use sparse_oracle::scalar::{decode, nearest_in};
use sparse_oracle::task::{Answer, Task};
use std::sync::{Mutex, PoisonError};

/// A bug, or its control, with the memory of one hunt.
#[derive(Debug)]
pub struct Seeded {
    bug: &'static Bug,
    sick: bool,
    /// Declares types and operands' rounding, and no order: T2 has nothing to say.
    loose: bool,
    /// The operation that it is asked for; calls of others come before it in a sequence.
    about: Mutex<Option<Op>>,
    memory: Memory,
}

impl Seeded {
    /// The bug itself.
    #[must_use]
    pub fn sick(bug: &'static Bug) -> Seeded {
        Seeded { bug, sick: true, loose: false, about: Mutex::default(), memory: Memory::default() }
    }

    /// The same without the bug.
    #[must_use]
    pub fn control(bug: &'static Bug) -> Seeded {
        Seeded { sick: false, ..Seeded::sick(bug) }
    }

    /// The same, declaring sums in any order, as most libraries must: T0 and T1 judge alone.
    #[must_use]
    pub fn loosely(self) -> Seeded {
        Seeded { loose: true, ..self }
    }

    /// The same before its first call.
    pub(super) fn anew(&self) -> Seeded {
        let (bug, sick, loose) = (self.bug, self.sick, self.loose);
        Seeded { sick, loose, ..Seeded::sick(bug) }
    }

    /// Says which operation it is asked for in the next case: the bug is in the kernels of this one, and calls of others before the judged
    /// one are honest. What is kept between calls may be kept from any, but for what is kept by an address.
    pub fn about(&self, op: Op) {
        self.memory.next_case();
        *self.about.lock().unwrap_or_else(PoisonError::into_inner) = Some(op);
    }

    /// True where what a call does may hang on those before.
    pub(super) const fn remembers(&self) -> bool {
        self.sick && matches!(self.bug.effect, Effect::Remembers(_) | Effect::Races(_) | Effect::RacesForC(_))
    }

    fn is_elsewhere(&self, op: Op) -> bool {
        let about = *self.about.lock().unwrap_or_else(PoisonError::into_inner);
        !matches!(self.bug.effect, Effect::Remembers(_)) && about.is_some_and(|about| about != op)
    }

    fn manifest(&self, contract: &Contract, params: &Params) -> Support {
        match self.bug.effect {
            Effect::Declares(support) if self.sick => support(contract, params),
            Effect::StepKernel(_)
            | Effect::Lanes(_)
            | Effect::Races(_)
            | Effect::Reads(_)
            | Effect::Walks(..) => {
                Support::Supported { arithmetic: declared(contract), profile: Profile::default() }
            }
            _ => Portable.support(contract, params),
        }
    }

    fn convert(&self, contract: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
        let Task::Convert { a, to, mut params } = task else {
            return Portable.run(contract, task);
        };
        if let (Effect::Encodes(change), true) = (self.bug.effect, self.sick) {
            change(&mut params, a.shape().0);
        }
        let mut answer = Portable.run(contract, Task::Convert { a, to, params })?;
        if let (Effect::Parts(edit), Answer::Parts(parts), true) = (self.bug.effect, &mut answer, self.sick) {
            edit(parts);
        }
        Ok(answer)
    }
}

impl Backend for Seeded {
    fn name(&self) -> &str {
        self.bug.name
    }

    fn version(&self) -> String {
        super::SUITE_VERSION.to_owned()
    }

    fn description(&self) -> &str {
        self.bug.story
    }

    fn support(&self, contract: &Contract, params: &Params) -> Support {
        let mut support = self.manifest(contract, params);
        if let (Support::Supported { arithmetic, .. }, true) = (&mut support, self.loose) {
            let part = arithmetic.part_mut();
            (part.reduction, part.order) = (Reduction::Any, Order::Free);
        }
        support
    }

    fn determinism(&self) -> Determinism {
        match self.bug.effect {
            Effect::Remembers(_) | Effect::Races(_) | Effect::RacesForC(_) => Determinism::Threads,
            _ => Determinism::Unclaimed,
        }
    }

    fn run(&self, contract: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
        if self.is_elsewhere(contract.op) {
            return Portable.run(contract, task);
        }
        let sick = self.sick;
        match self.bug.effect {
            Effect::Output(edit) => after(contract, task, |d| {
                if sick {
                    edit(d);
                }
            }),
            Effect::RacesForC(edit) => after(contract, task, |d| {
                if sick {
                    edit(self.memory.count(&contract.to_string()), d);
                }
            }),
            Effect::Leaves(left) => after(contract, task, |d| {
                if sick {
                    d.leave(left);
                }
            }),
            Effect::LosesColumns(lost) => after(contract, task, |d| {
                if sick {
                    let n = d.cols;
                    d.lose(|_, _, j| lost(n, j));
                }
            }),
            Effect::Left(edit) => {
                let (a, transposed) = left_of(&task);
                let other = if sick { edit(a, transposed)? } else { rebuilt(a, |_, _| ())? };
                Portable.run(contract, with_left(task, &other)?)
            }
            Effect::Right(edit) => {
                let Some(b) = right_of(&task) else {
                    return Portable.run(contract, task);
                };
                let bits = if sick { edit(&b) } else { bits_of(b.data) };
                let other = values_of(b.data.precision(), &bits);
                Portable.run(contract, with_right(task, other.as_slice())?)
            }
            Effect::Request(edit) => {
                let mut task = task;
                if sick {
                    edit(&mut task);
                }
                Portable.run(contract, task)
            }
            Effect::Factors(change) => {
                let mut task = task;
                if sick {
                    let acc = contract.types.acc;
                    // A factor that is changed into an infinity would be refused: it stays.
                    let held = |now: f64, before: f64| {
                        let held = nearest_in(now, acc);
                        if held.is_finite() { held } else { before }
                    };
                    factors(&mut task, |alpha, beta| {
                        let now = change(alpha, beta);
                        (held(now.0, alpha), held(now.1, beta))
                    });
                }
                Portable.run(contract, task)
            }
            Effect::StepKernel(own) => if sick { own } else { HONEST }.run(contract, task),
            Effect::Lanes(edit) => {
                let (a, transposed) = left_of(&task);
                let mut lanes = (HONEST.gather)(a, transposed);
                if sick {
                    edit(&mut lanes);
                }
                HONEST.run_over(contract, task, &lanes)
            }
            Effect::Races(edit) => {
                let (a, transposed) = left_of(&task);
                let mut lanes = (HONEST.gather)(a, transposed);
                if sick {
                    edit(self.memory.count(&contract.to_string()), &mut lanes);
                }
                HONEST.run_over(contract, task, &lanes)
            }
            Effect::Reads(read) if sick => {
                let mut list = triples(left_of(&task).0);
                read(&mut list);
                let lanes = lanes_of(&task, list);
                HONEST.run_over(contract, task, &lanes)
            }
            Effect::Reads(_) => HONEST.run(contract, task),
            Effect::Walks(wrong, right) => {
                let parts = AnyParts::from(left_of(&task).0.clone());
                let lanes = lanes_of(&task, if sick { wrong(&parts) } else { right(&parts) });
                HONEST.run_over(contract, task, &lanes)
            }
            Effect::Parts(_) | Effect::Encodes(_) => self.convert(contract, task),
            Effect::Result(edit) => Ok(match Portable.run(contract, task)? {
                Answer::Sparse(mut raw) => {
                    if sick {
                        edit(&mut raw);
                    }
                    Answer::Sparse(raw)
                }
                other => other,
            }),
            Effect::Stored(change) => {
                let mut answer = Portable.run(contract, task)?;
                if sick {
                    change_stored(&mut answer, change);
                }
                Ok(answer)
            }
            Effect::Runs(run) if sick => run(contract, task),
            Effect::Remembers(run) if sick => run(contract, task, &self.memory),
            Effect::Runs(_) | Effect::Remembers(_) | Effect::Declares(_) => Portable.run(contract, task),
        }
    }
}

/// Entries as rows of op(A), columns ascending. What lies outside of the matrix is dropped, as memory beyond an array is
/// some other array's.
fn lanes_of(task: &Task<'_>, list: EntryOrder) -> Lanes {
    let (a, transposed) = left_of(task);
    let ((rows, cols), precision) = (a.shape(), a.precision());
    let mut lanes: Lanes = vec![Vec::new(); if transposed { cols } else { rows }];
    for e in list {
        let (row, k) = if transposed { (e.col, e.row) } else { (e.row, e.col) };
        if let Some(lane) = lanes.get_mut(row as usize) {
            lane.push((k, decode(e.value, precision)));
        }
    }
    lanes.iter_mut().for_each(|lane| lane.sort_by_key(|e| e.0));
    lanes
}

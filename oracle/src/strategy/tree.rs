//! A proptest strategy from two functions: how to draw a value, and what is simpler than it.

use super::shrink::Candidates;
use crate::source::Random;
use proptest::strategy::{NewTree, Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use std::fmt;
use std::sync::Arc;

type Draw<T> = Arc<dyn Fn(&mut Random) -> T + Send + Sync>;
type Simpler<T> = Arc<dyn Fn(&T) -> Candidates<T> + Send + Sync>;

/// Draws values from a seed that proptest chooses, and shrinks them by candidates.
#[derive(Clone)]
pub struct Drawn<T> {
    draw: Draw<T>,
    simpler: Simpler<T>,
}

impl<T> Drawn<T> {
    /// A strategy that draws with `draw` and tries what `simpler` gives, in that order.
    pub fn new(
        draw: impl Fn(&mut Random) -> T + Send + Sync + 'static,
        simpler: impl Fn(&T) -> Candidates<T> + Send + Sync + 'static,
    ) -> Drawn<T> {
        Drawn { draw: Arc::new(draw), simpler: Arc::new(simpler) }
    }
}

impl<T> fmt::Debug for Drawn<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Drawn")
    }
}

impl<T: Clone + fmt::Debug + 'static> Strategy for Drawn<T> {
    type Tree = Shrinking<T>;
    type Value = T;

    fn new_tree(&self, runner: &mut TestRunner) -> NewTree<Self> {
        let seed = proptest::num::u64::ANY.new_tree(runner)?.current();
        let value = (self.draw)(&mut Random::new(seed, "proptest"));
        Ok(Shrinking {
            failing: value.clone(),
            current: value,
            rest: Box::new(std::iter::empty()),
            simpler: Arc::clone(&self.simpler),
        })
    }
}

/// The state of shrinking: the simplest value known to fail, and the candidates below it.
pub struct Shrinking<T> {
    failing: T,
    current: T,
    rest: Candidates<T>,
    simpler: Simpler<T>,
}

impl<T> fmt::Debug for Shrinking<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Shrinking")
    }
}

impl<T: Clone> Shrinking<T> {
    /// Moves to the next candidate, or back to the failing value when there is none.
    fn advance(&mut self) -> bool {
        let next = self.rest.next();
        let found = next.is_some();
        self.current = next.unwrap_or_else(|| self.failing.clone());
        found
    }
}

impl<T: Clone + fmt::Debug> ValueTree for Shrinking<T> {
    type Value = T;

    fn current(&self) -> T {
        self.current.clone()
    }

    /// The current value fails: go below it.
    fn simplify(&mut self) -> bool {
        self.failing = self.current.clone();
        self.rest = (self.simpler)(&self.failing);
        self.advance()
    }

    /// The current value passes: try another one below the failing value.
    fn complicate(&mut self) -> bool {
        self.advance()
    }
}

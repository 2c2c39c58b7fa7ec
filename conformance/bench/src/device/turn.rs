//! One process at a time on the GPU, so that several may judge side by side.

use sparse_conformance_core::backend::{Failure, Prepared};
use sparse_oracle::task::{Answer, DenseMut};
use std::fs::File;
use std::io;
use std::path::Path;

/// A file whose lock is held while the GPU is used; none where nobody else uses it.
#[derive(Debug, Default)]
pub(super) struct Turn(Option<File>);

impl Turn {
    /// Opens the file, which is made where it is not there.
    ///
    /// # Errors
    /// A file that can't be opened for writing.
    pub(super) fn new(path: Option<&Path>) -> io::Result<Turn> {
        let open = |path| File::options().create(true).append(true).open(path);
        Ok(Turn(path.map(open).transpose()?))
    }

    /// Waits for this process's turn, and gives it up after `work`.
    ///
    /// # Errors
    /// A file system without locks.
    pub(super) fn take<T>(&self, work: impl FnOnce() -> T) -> io::Result<T> {
        let Some(file) = &self.0 else {
            return Ok(work());
        };
        file.lock()?;
        let done = work();
        file.unlock()?;
        Ok(done)
    }
}

/// Computes in turn.
pub(super) struct InTurn<'a> {
    pub(super) prepared: Box<dyn Prepared + 'a>,
    pub(super) turn: &'a Turn,
}

impl Prepared for InTurn<'_> {
    fn compute(&mut self, output: Option<DenseMut<'_>>) -> Result<(), Failure> {
        let computed = self.turn.take(|| self.prepared.compute(output));
        computed.map_err(|error| format!("waiting for the GPU: {error}"))?
    }

    fn answer(&mut self) -> Result<Answer, Failure> {
        self.prepared.answer()
    }

    fn clear(&mut self) {
        self.prepared.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two holders of one file are never at work at once.
    #[test]
    fn turns_exclude_each_other() {
        use std::sync::atomic::{AtomicUsize, Ordering};
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("turn");
        let (inside, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let turn = Turn::new(Some(&path)).expect("a file");
                    for _ in 0..50 {
                        let work = || {
                            most.fetch_max(inside.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                            std::thread::yield_now();
                            inside.fetch_sub(1, Ordering::SeqCst);
                        };
                        turn.take(work).expect("a lock");
                    }
                });
            }
        });
        assert_eq!(most.into_inner(), 1);
    }
}

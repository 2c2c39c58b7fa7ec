//! What the distribution depends on: how many 8 x 1 vectors of each window hold how many entries.
//!
//! ```text
//! a . b .
//! c . . .        columns 0 and 2 hold 2 and 1 entries: vectors [1, 1, 0, 0, 0, 0, 0, 0]
//! ```
//!
//! Order and place of the columns do not matter to any count of [`Work`](super::Work).

use super::WINDOW;
use sparse_oracle::format::Entries;
use sparse_oracle::refusal::Refusal;

/// Vectors of one window with entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowVectors {
    /// Number of the window: rows from `8 * window`.
    pub window: u32,
    /// Rows of it that the matrix has: 8, fewer in a short last window.
    pub rows: u32,
    /// Number of vectors with 1, 2, .. 8 entries.
    pub vectors: [u32; WINDOW],
}

/// The windows of a matrix that hold entries, ascending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    windows: Vec<WindowVectors>,
}

impl WindowVectors {
    /// Number of vectors.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.vectors.iter().map(|&n| u64::from(n)).sum()
    }

    /// Number of entries.
    #[must_use]
    pub fn nnz(&self) -> u64 {
        (1..).zip(self.vectors).map(|(nnz, n)| nnz * u64::from(n)).sum()
    }
}

impl Profile {
    /// Counts.
    ///
    /// # Errors
    /// Entries that fail [`Entries::check`].
    pub fn of<T>(entries: &Entries<T>) -> Result<Profile, Refusal> {
        entries.check()?;
        let window_of = |row: u32| row as usize / WINDOW;
        let chunks = entries.list.chunk_by(|a, b| window_of(a.row) == window_of(b.row));
        let windows = chunks.map(|chunk| {
            let window = window_of(chunk[0].row);
            let mut columns: Vec<u32> = chunk.iter().map(|e| e.col).collect();
            columns.sort_unstable();
            let mut vectors = [0; WINDOW];
            for vector in columns.chunk_by(|a, b| a == b) {
                vectors[vector.len() - 1] += 1;
            }
            WindowVectors {
                window: window as u32,
                rows: (entries.rows - WINDOW * window).min(WINDOW) as u32,
                vectors,
            }
        });
        Ok(Profile { windows: windows.collect() })
    }

    /// The windows that hold entries, ascending.
    #[must_use]
    pub fn windows(&self) -> &[WindowVectors] {
        &self.windows
    }

    /// Number of entries.
    #[must_use]
    pub fn nnz(&self) -> u64 {
        self.windows.iter().map(WindowVectors::nnz).sum()
    }

    /// Number of vectors that hold entries.
    #[must_use]
    pub fn vectors(&self) -> u64 {
        self.windows.iter().map(WindowVectors::count).sum()
    }

    /// Figure 1: share of the vectors that hold exactly one entry; `None` without entries.
    #[must_use]
    pub fn single_entry_ratio(&self) -> Option<f64> {
        let singles: u64 = self.windows.iter().map(|w| u64::from(w.vectors[0])).sum();
        super::work::share(singles, self.vectors())
    }
}

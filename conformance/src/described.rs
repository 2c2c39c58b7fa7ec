//! A matrix as a report describes it: shape, row statistics, picture.

use crate::origin::{Loaded, Origin};
use crate::report;
use sparse_oracle::format::Csr;
use sparse_oracle::prelude::*;
use sparse_oracle::source::spy::SpyGrid;
use sparse_oracle::source::statistics::RowStatistics;

/// Side of a report's spy plot, in cells.
const SPY: usize = 48;

/// Describes a matrix for the report.
#[must_use]
pub fn source_record(origin: &Origin, loaded: &Loaded) -> report::Source {
    let (rows, cols) = (loaded.coo.rows as u64, loaded.coo.cols as u64);
    let (spec, family) = (origin.to_string(), origin.family());
    let Ok(pattern) = Csr::<f64>::from_entries(&loaded.coo.entries()) else {
        let nnz = loaded.coo.nnz() as u64;
        return report::Source { spec, family, rows, cols, nnz, row_nnz: None, spy: None };
    };
    let statistics = RowStatistics::of(&pattern);
    let spy = SpyGrid::new(&pattern, SPY, SPY).ok().map(|grid| spy_record(&grid));
    report::Source {
        spec,
        family,
        rows,
        cols,
        nnz: pattern.nnz() as u64,
        row_nnz: (pattern.rows > 0).then_some(report::RowStatistics {
            min: statistics.min as u64,
            max: statistics.max as u64,
            mean: statistics.mean,
            std: statistics.std,
            empty: statistics.empty_rows as u64,
        }),
        spy,
    }
}

fn spy_record(grid: &SpyGrid) -> report::SpyGrid {
    let (width, height) = (grid.width(), grid.height());
    let counts: Vec<u32> =
        (0..height).flat_map(|y| (0..width).map(move |x| (x, y))).map(|(x, y)| grid.count(x, y)).collect();
    let densest = counts.iter().copied().max().unwrap_or(0).max(1);
    // Square root, so that a single entry in a cell is still seen beside a dense block.
    let shade = |c: u32| (255.0 * (f64::from(c) / f64::from(densest)).sqrt()).ceil() as u8;
    report::SpyGrid {
        width: width as u32,
        height: height as u32,
        cells: counts.into_iter().map(shade).collect(),
    }
}

//! The double buffers of listing 4: which tile lies where when it is used.
//!
//! ```text
//! load 0 -> 0 | load 1 -> 1, compute 0 | load 2 -> 0, compute 1 | compute 0        three tiles: 0, 1, 2
//! ```
//!
//! As printed, listing 4 loads tile 0 into buffer 1 and then, before it is used, tile 1 over it; and its inner loop ends
//! on buffer 1, which holds the last of `w_s` steps only if `w_s` is even.

use sparse_oracle::refusal::{EncodingError, Refusal};

/// One step of a pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PipelineStep {
    /// Starts to load a tile; it must not be computed on before, and the buffer's former tile not after.
    Load {
        /// Number of the tile.
        tile: usize,
        /// Where it goes.
        buffer: usize,
    },
    /// Computes on the next tile.
    Compute {
        /// Where it lies.
        buffer: usize,
    },
}

/// The pipeline over `tiles` tiles with two buffers, each next load ahead of the computation that hides it.
#[must_use]
pub fn double_buffered(tiles: usize) -> Vec<PipelineStep> {
    let mut steps = Vec::new();
    for tile in 0..=tiles {
        if tile < tiles {
            steps.push(PipelineStep::Load { tile, buffer: tile % 2 });
        }
        if tile > 0 {
            steps.push(PipelineStep::Compute { buffer: (tile - 1) % 2 });
        }
    }
    steps
}

/// Checks that a pipeline computes on tiles 0 to `tiles` - 1, each once and in this order.
///
/// # Errors
/// [`EncodingError::Unequal`] for the first step that computes on another tile than is due (`tiles` stands for a buffer that
/// holds none), [`EncodingError::Length`] if the pipeline ends early or goes on.
pub fn check_pipeline(tiles: usize, steps: &[PipelineStep]) -> Result<(), Refusal> {
    let mut buffers: Vec<(usize, usize)> = Vec::new();
    let mut done = 0;
    for (at, &step) in steps.iter().enumerate() {
        match step {
            PipelineStep::Load { tile, buffer } => {
                buffers.retain(|held| held.0 != buffer);
                buffers.push((buffer, tile));
            }
            PipelineStep::Compute { buffer } => {
                let held = buffers.iter().find(|held| held.0 == buffer);
                let found = held.map_or(tiles, |held| held.1);
                if found != done {
                    return Err(Refusal::Encoding(EncodingError::Unequal {
                        field: "pipeline",
                        at,
                        expected: done as u64,
                        found: found as u64,
                    }));
                }
                done += 1;
            }
        }
    }
    if done != tiles {
        return Err(EncodingError::Length { field: "pipeline", expected: tiles, found: done }.into());
    }
    Ok(())
}

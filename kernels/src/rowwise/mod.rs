//! Row-wise SpGEMM in plain Rust, parallel, with an accumulator chosen for each row.
//!
//! ```text
//! 1  bound the entries of each row of C by its products     row 0: 4   row 1: 900   row 2: 1 ..
//! 2  cut the rows into chunks of equal work                 [ row 0 | row 1 ][ row 2 ..
//! 3  compute each chunk into arrays of its own              one thread a chunk
//! 4  offsets by prefix sums; copy the chunks to their places
//! ```
//!
//! Gustavson's scheme (ACM TOMS 4(3), 1978). A pass that only counts would find the sizes of the rows beforehand, but costs
//! as much as the products themselves; step 4 moves each entry once more instead. Accumulators: see [`accumulate`]. CSC
//! is the same with the operands exchanged: its columns pick columns.
//!
//! Each entry adds rounded products in ascending k from +0, as the portable kernel: neither accumulator nor threads
//! change a bit, a position or the order of the columns.

mod accumulate;

use crate::engine::Engine;
use crate::name::KernelName;
use crate::portable::element::{Operand, Output, contract};
use crate::portable::lanes::{AsCsc, AsCsr};
use crate::portable::spgemm::{Arrays, CompressedFormat, Steps, answer, open};
use crate::portable::unit::{Chain, Unit};
use crate::registry::Kernel;
use accumulate::{Lanes, Workspace};
use half::f16;
use rayon::prelude::*;
use sparse_oracle::arithmetic::Arithmetic;
use sparse_oracle::contract::Op;
use sparse_oracle::format::SLOT_LIMIT;
use sparse_oracle::refusal::Refusal;
use sparse_oracle::task::{Answer, Task};
use sparse_oracle::{Bf16, E4m3, E5m2, F16, Tf32};
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// What sets these kernels apart in their names.
const TECH: &str = "rowwise";

macro_rules! push {
    ($table:ident, $format:ty; $($input:ident $acc:ident $out:ident),*) => {
        $table.extend([$(row::<$format, $input, $acc, $out>()),*])
    };
    ($table:ident, $format:ty) => {
        push!($table, $format; f64 f64 f64, f32 f32 f32, Tf32 f32 f32, F16 f32 f32, F16 f32 F16,
            F16 f16 F16, Bf16 f32 f32, Bf16 f32 Bf16, E4m3 f32 f32, E5m2 f32 f32)
    };
}

/// All of them.
pub(crate) fn kernels() -> Vec<Kernel> {
    let mut table = Vec::new();
    push!(table, AsCsr);
    push!(table, AsCsc);
    table
}

fn row<F, I, A, O>() -> Kernel
where
    F: CompressedFormat,
    I: Operand<A>,
    A: Unit,
    O: Output<A>,
{
    let contract = contract::<I, A, O>(Op::Spgemm, F::KIND);
    let arithmetic = Arithmetic::chain(Steps::reduction::<A>(), A::PRECISION, O::PRECISION).input(I::INPUT);
    let name = KernelName::of_method(contract, Engine::Portable, TECH);
    Kernel::named(&name, arithmetic, run::<F, I, A, O>)
}

/// The kernel for format `F` and element types `I` (both operands), `A` (accumulator), `O` (output).
fn run<F, I, A, O>(task: Task<'_>) -> Result<Answer, Refusal>
where
    F: CompressedFormat,
    I: Operand<A>,
    A: Unit,
    O: Output<A>,
{
    let factors = open::<F, I>(task)?;
    let (picked, added) = (loaded(factors.picks.values), loaded(factors.added.values));
    let picks = Lanes::new(factors.picks.ptr, factors.picks.index, &picked);
    let added = Lanes::new(factors.added.ptr, factors.added.index, &added);
    let product = joined::<A, O>(product(picks, added, factors.extent)?);
    Ok(answer::<F, O>(factors.shape, product))
}

/// Values in the unit.
fn loaded<I: Operand<A>, A: Unit>(values: &[I]) -> Cow<'_, [A]> {
    match I::as_loaded(values) {
        Some(same) => Cow::Borrowed(same),
        None => Cow::Owned(
            values
                .par_iter()
                .with_min_len(1 << 12)
                .map(|v| v.load())
                .collect(),
        ),
    }
}

/// Consecutive lanes of the product.
struct Chunk<A> {
    /// Entries of each lane.
    lengths: Vec<u32>,
    indices: Vec<u32>,
    values: Vec<A>,
}

/// Entries that a chunk reserves at most beforehand.
const CHUNK_RESERVE: u64 = 1 << 22;

/// The product, chunk by chunk.
fn product<A: Unit>(
    picks: Lanes<'_, A>,
    added: Lanes<'_, A>,
    extent: usize,
) -> Result<Vec<Chunk<A>>, Refusal> {
    let work: Vec<u64> = (0..picks.count())
        .into_par_iter()
        .with_min_len(1 << 10)
        .map(|lane| picks.index(lane).iter().map(|&k| added.len(k) as u64).sum())
        .collect();
    let total: u64 = work.iter().sum();
    let stored = AtomicU64::new(0);
    let spare: Mutex<Vec<Workspace<A>>> = Mutex::new(Vec::new());
    let pop = || spare.lock().ok().and_then(|mut list| list.pop());
    let chunks = cut(&work, total / (16 * rayon::current_num_threads() as u64));
    let compute = |lanes: Range<usize>| {
        let mut workspace = pop().unwrap_or_else(|| Workspace::new(extent, total));
        // As many as there can be, so that nothing grows; what is never touched costs no memory.
        let most = work[lanes.clone()].iter().sum::<u64>().min(CHUNK_RESERVE) as usize;
        let mut chunk = Chunk {
            lengths: Vec::with_capacity(lanes.len()),
            indices: Vec::with_capacity(most),
            values: Vec::with_capacity(most),
        };
        for lane in lanes {
            let before = chunk.indices.len();
            workspace.lane(
                picks,
                lane,
                added,
                work[lane],
                &mut chunk.indices,
                &mut chunk.values,
            );
            chunk.lengths.push((chunk.indices.len() - before) as u32);
            let entries = chunk.indices.len() - before;
            if stored.fetch_add(entries as u64, Ordering::Relaxed) + entries as u64 > SLOT_LIMIT {
                return Err(too_large());
            }
        }
        if let Ok(mut list) = spare.lock() {
            list.push(workspace);
        }
        Ok(chunk)
    };
    chunks.into_par_iter().with_max_len(1).map(compute).collect()
}

/// Counting stops at the first entry too many, so the same is said whatever the threads.
fn too_large() -> Refusal {
    Refusal::TooLarge {
        field: "nnz of A * B",
        found: u128::from(SLOT_LIMIT) + 1,
        limit: SLOT_LIMIT,
    }
}

/// Ranges of lanes of about `share` products each; a lane costs a little even without any.
fn cut(work: &[u64], share: u64) -> Vec<Range<usize>> {
    let (mut ranges, mut start, mut sum) = (Vec::new(), 0, 0);
    for (lane, products) in work.iter().enumerate() {
        sum += products + 4;
        if sum > share.max(1 << 12) {
            ranges.push(start..lane + 1);
            (start, sum) = (lane + 1, 0);
        }
    }
    if start < work.len() {
        ranges.push(start..work.len());
    }
    ranges
}

/// The arrays of the whole product, values as they are returned.
fn joined<A: Unit, O: Output<A>>(chunks: Vec<Chunk<A>>) -> Arrays<O> {
    let lengths = chunks.iter().flat_map(|chunk| &chunk.lengths);
    let mut offsets = vec![0u32];
    offsets.extend(lengths.scan(0, |end, &length| {
        *end += length;
        Some(*end)
    }));
    let entries = chunks.iter().map(|chunk| chunk.indices.len()).sum();
    let mut indices = vec![0u32; entries];
    let mut values = vec![O::default(); entries];
    let (mut rest, mut places) = ((&mut indices[..], &mut values[..]), Vec::new());
    for chunk in chunks {
        let (index, index_rest) = rest.0.split_at_mut(chunk.indices.len());
        let (value, value_rest) = rest.1.split_at_mut(chunk.indices.len());
        places.push((chunk, index, value));
        rest = (index_rest, value_rest);
    }
    places
        .into_par_iter()
        .with_max_len(1)
        .for_each(|(chunk, index, value)| {
            index.copy_from_slice(&chunk.indices);
            for (to, &from) in value.iter_mut().zip(&chunk.values) {
                *to = O::store(from);
            }
        });
    (offsets, indices, values)
}

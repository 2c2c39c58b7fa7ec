//! Row-wise SpGEMM without vector instructions of its own, parallel, with an accumulator chosen for each row.
//!
//! ```text
//! 1  bound the entries of each row of C by its products     row 0: 4   row 1: 900   row 2: 1 ..
//! 2  cut the rows into chunks of equal work                 [ row 0 | row 1 ][ row 2 ..
//! 3  compute each chunk into a buffer, in cache             one thread a chunk
//! 4  copy it to its place, behind the chunks before it      whoever finishes the last of these
//! ```
//!
//! Gustavson's scheme (ACM TOMS 4(3), 1978). A pass that only counts would find the sizes of the rows beforehand, but costs
//! as much as the products themselves; step 4 moves each entry once more instead. Accumulators: see [`accumulate`]; places: see
//! [`assemble`]. CSC is the same with the operands exchanged: its columns pick columns.
//!
//! Each entry adds rounded products in ascending k from +0, as the portable kernel: neither accumulator nor threads
//! change a bit, a position or the order of the columns.

mod accumulate;
mod assemble;
mod lanes;
mod pages;
mod ranks;

use crate::engine::Engine;
use crate::kernel::Kernel;
use crate::name::KernelName;
use crate::portable::element::{Operand, Output, contract};
use crate::portable::lanes::{AsCsc, AsCsr};
use crate::portable::spgemm::{CompressedFormat, SpgemmSteps, answer, open};
use crate::portable::unit::{Chain, Unit};
use crate::spread::{mapped, spread};
use accumulate::Workspace;
use assemble::{Assembly, Room, assembled, too_large};
use half::{bf16, f16};
use lanes::UnitLanes;
use sparse_types::arithmetic::Arithmetic;
use sparse_types::contract::Op;
use sparse_types::format::SLOT_LIMIT;
use sparse_types::refusal::Refusal;
use sparse_types::task::{Answer, Task};
use sparse_types::{Bf16, E4m3, E5m2, F16, Tf32};
use std::borrow::Cow;
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// What sets these kernels apart in their names.
const TECH: &str = "rowwise";

macro_rules! push {
    ($table:ident, $format:ty; $($input:ident $acc:ident $out:ident),*) => {
        $table.extend([$(row::<$format, $input, $acc, $out>()),*])
    };
    ($table:ident, $format:ty) => {
        push!($table, $format; f64 f64 f64, f32 f32 f32, Tf32 f32 f32, F16 f32 f32, F16 f32 F16,
            F16 f16 F16, Bf16 f32 f32, Bf16 f32 Bf16, E4m3 f32 f32, E5m2 f32 f32, Bf16 bf16 Bf16)
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
    let arithmetic =
        Arithmetic::chain(SpgemmSteps::reduction::<A>(), A::PRECISION, O::PRECISION).input(I::INPUT);
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
    let picks = UnitLanes::new(factors.picks.ptr, factors.picks.index, &picked);
    let added = UnitLanes::new(factors.added.ptr, factors.added.index, &added);
    let work = ChunkedProduct::new(picks, added, factors.extent);
    let room = Room::new(picks.count(), work.entries);
    let product = assembled(room, |assembly: &Assembly<'_, A, O>| work.run(assembly))?;
    Ok(answer::<F, O>(factors.shape, product))
}

/// Values in the unit.
fn loaded<I: Operand<A>, A: Unit>(values: &[I]) -> Cow<'_, [A]> {
    match I::as_loaded(values) {
        Some(same) => Cow::Borrowed(same),
        None => Cow::Owned(mapped(values, 1 << 12, |v| v.load())),
    }
}

/// Products of a chunk: its entries stay in cache until they are copied.
const CHUNK: u64 = 1 << 15;
/// Products of a chunk that is worth a turn.
const SMALLEST_CHUNK: u64 = 1 << 12;

/// A product, cut into chunks.
struct ChunkedProduct<'a, A> {
    picks: UnitLanes<'a, A>,
    added: UnitLanes<'a, A>,
    extent: usize,
    /// Products of each lane.
    products: Vec<u64>,
    /// All of them.
    total: u64,
    /// Entries at most.
    entries: u64,
}

impl<'a, A: Unit> ChunkedProduct<'a, A> {
    fn new(picks: UnitLanes<'a, A>, added: UnitLanes<'a, A>, extent: usize) -> ChunkedProduct<'a, A> {
        let lanes: Vec<usize> = (0..picks.count()).collect();
        let products: Vec<u64> =
            mapped(&lanes, 1 << 10, |&lane| picks.index(lane).iter().map(|&k| added.len(k) as u64).sum());
        ChunkedProduct {
            picks,
            added,
            extent,
            total: products.iter().sum(),
            entries: products.iter().map(|&n| n.min(extent as u64)).sum(),
            products,
        }
    }

    /// Computes every chunk, each thread one after another.
    fn run<O: Output<A>>(&self, assembly: &Assembly<'_, A, O>) -> Result<(), Refusal> {
        let threads = rayon::current_num_threads();
        let share = self.total / (16 * threads as u64);
        let chunks = cut(&self.products, share.clamp(SMALLEST_CHUNK, CHUNK));
        let (turn, stored) = (AtomicUsize::new(0), AtomicU64::new(0));
        // The chunks are handed out in order, so that few have to wait for one before them.
        let compute = || {
            let mut workspace = Workspace::new(self.extent, self.total);
            while let Some(lanes) = chunks.get(turn.fetch_add(1, Ordering::Relaxed)) {
                let mut chunk = assembly.spare();
                let mut fetched = self.picks.start(lanes.range.start);
                for lane in lanes.range.clone() {
                    let before = chunk.entries;
                    self.picks.fetch_ahead(lane, self.added, &mut fetched);
                    workspace.lane(self.picks, lane, self.added, self.products[lane], &mut chunk);
                    let entries = (chunk.entries - before) as u64;
                    if stored.fetch_add(entries, Ordering::Relaxed) + entries > SLOT_LIMIT {
                        return Err(too_large());
                    }
                }
                assembly.done(lanes.number, chunk);
            }
            Ok(())
        };
        let threads = threads.min(chunks.len());
        let refused = OnceLock::new();
        spread(threads, &|workers| {
            for _ in workers {
                if refused.get().is_some() {
                    return;
                }
                if let Err(refusal) = compute() {
                    // Another thread may have been first: its refusal is the same.
                    let _ = refused.set(refusal);
                }
            }
        });
        refused.into_inner().map_or(Ok(()), Err)
    }
}

/// Consecutive lanes.
struct LaneRange {
    /// Chunks before it.
    number: usize,
    range: Range<usize>,
}

/// Ranges of lanes of about `share` products each; a lane costs a little even without any.
fn cut(products: &[u64], share: u64) -> Vec<LaneRange> {
    let mut ranges: Vec<LaneRange> = Vec::new();
    let mut push = |range: Range<usize>| {
        let number = ranges.len();
        ranges.push(LaneRange { number, range });
    };
    let (mut start, mut sum) = (0, 0);
    for (lane, products) in products.iter().enumerate() {
        sum += products + 4;
        if sum > share {
            push(start..lane + 1);
            (start, sum) = (lane + 1, 0);
        }
    }
    if start < products.len() {
        push(start..products.len());
    }
    ranges
}

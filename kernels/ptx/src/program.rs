//! An entry as the machine runs it: a list of instructions whose operands are slots.

use crate::isa::Row;
use crate::registers::{Class, Extent, Slot};
use crate::text::Space;

pub use crate::registers::{LaneFn, Operands, UpdateFn};

/// `@p` or `@!p` before an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guard {
    /// The predicate.
    pub predicate: Slot,
    /// Runs where it is false.
    pub negated: bool,
}

/// `[base + offset]`, in bytes. A symbol's address is in the offset (shared, local, parameters) or a constant's slot (global).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    /// A register of 32 or 64 bits, if there is one.
    pub base: Option<Slot>,
    /// Added to it, wrapping.
    pub offset: i64,
}

/// `ld` and `st`: up to four (of 8 and 16 bits: eight) elements that lie one after another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Where; generic addresses say by themselves.
    pub space: Space,
    /// Bytes of an element: 1, 2, 4, 8.
    pub width: u8,
    /// The element is sign-extended into a wider register.
    pub signed: bool,
    /// How many elements.
    pub count: u8,
    /// A register each.
    pub data: [Slot; 8],
    /// Where they begin.
    pub address: Address,
    /// `ld.global.nc`: promised to be read only during the launch.
    pub read_only: bool,
    /// `.volatile`, `.relaxed`, `.acquire`, `.release`; nothing where the access is a weak one.
    pub strong: Option<Strong>,
}

/// How far other threads are told, or asked, of what was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MemoryScope {
    /// `.cta`.
    Block,
    /// `.gpu` and `.sys`.
    Device,
}

/// A strong access: two of them race only where one's scope leaves the other's thread out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strong {
    /// Whom it means.
    pub scope: MemoryScope,
    /// `.acquire`, `.acq_rel`: what the thread that wrote the value had released is ordered before what follows.
    pub acquire: bool,
    /// `.release`, `.acq_rel`: what came before is ordered before what follows where the value is acquired.
    pub release: bool,
}

/// `atom`, `red`: reads, computes and writes with nothing in between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Atomic {
    /// Where; generic addresses say by themselves.
    pub space: Space,
    /// Bytes: 2, 4, 8.
    pub width: u8,
    /// From the old value and two operands to the new value: in shared memory, and in global memory.
    pub updates: [UpdateFn; 2],
    /// Gets the old value; `red` has none.
    pub d: Option<Slot>,
    /// The operands; the second is the first where the operation has but one.
    pub sources: [Slot; 2],
    /// Where.
    pub address: Address,
    /// Atomics are strong.
    pub strong: Strong,
    /// What is stored.
    pub stores: Stores,
}

/// What an atomic stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stores {
    /// What comes of the old value and an operand.
    Result,
    /// `exch`: the operand, whatever was there.
    Operand,
    /// `cas`: its second operand, where it finds the first one; else nothing.
    IfEqual,
}

/// `cp.async`: global to shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopyAsync {
    /// Bytes written: 4, 8, 16.
    pub bytes: u8,
    /// Bytes read, the rest are zeros; all where there is none.
    pub source_bytes: Option<Slot>,
    /// In shared memory.
    pub to: Address,
    /// In global memory.
    pub from: Address,
}

/// How `shfl.sync` finds the lane that it reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShuffleKind {
    /// From a lower lane.
    Up,
    /// From a higher lane.
    Down,
    /// From the lane that differs in these bits.
    Butterfly,
    /// From this lane.
    Index,
}

/// What `vote.sync` asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VoteKind {
    /// All are true.
    All,
    /// One is true.
    Any,
    /// All are the same.
    Uniform,
    /// A bit a lane.
    Ballot,
}

/// What `redux.sync` computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    /// Sum, wrapping.
    Add,
    /// Minimum, signed or not.
    Min {
        /// Of signed numbers.
        signed: bool,
    },
    /// Maximum, signed or not.
    Max {
        /// Of signed numbers.
        signed: bool,
    },
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
}

/// `mma.sync` and `mma.sp`: fragments of D, A, B, C, a register an element or pair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mma {
    /// Which instruction, as the models of the oracle name it.
    pub instruction: sparse_oracle::arithmetic::Instruction,
    /// Registers of D.
    pub d: Vec<Slot>,
    /// Registers of A.
    pub a: Vec<Slot>,
    /// Registers of B.
    pub b: Vec<Slot>,
    /// Registers of C.
    pub c: Vec<Slot>,
    /// `mma.sp`: the register of metadata, and the selector (which lanes of a quad give it).
    pub metadata: Option<(Slot, u8)>,
}

/// Operand A of `wgmma.mma_async`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GroupOperand {
    /// Fragments, as of `mma`: those of a warp are its 16 rows.
    Registers(Vec<Slot>),
    /// All 64 rows lie in shared memory, where this descriptor says.
    Shared(Slot),
}

/// `wgmma.mma_async` and `wgmma.mma_async.sp`: D += A * B, by four warps, 16 rows of D each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupMma {
    /// Which instruction, as the models of the oracle name it.
    pub instruction: sparse_oracle::arithmetic::Instruction,
    /// Registers of D, 8 columns after another.
    pub d: Vec<Slot>,
    /// A.
    pub a: GroupOperand,
    /// The descriptor of B in shared memory.
    pub b: Slot,
    /// scale-d: false where D = A * B.
    pub adds: Slot,
    /// imm-scale-a and imm-scale-b are -1 and 1, or 1 and -1.
    pub negative: bool,
    /// A and B lie row after row of k, not column after column.
    pub transposed: [bool; 2],
    /// `.sp`: the register of metadata, and the selector.
    pub metadata: Option<(Slot, u8)>,
}

/// What a group of four warps does with matrices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GroupAct {
    /// `wgmma.mma_async`.
    Multiply(GroupMma),
    /// `wgmma.fence`.
    Fence,
    /// `wgmma.commit_group`.
    Commit,
    /// `wgmma.wait_group`: at most so many groups may be open.
    Wait(u32),
}

/// What an instruction does.
#[derive(Clone, Debug)]
pub enum Act {
    /// Registers to registers, each lane by itself.
    Lanes {
        /// What runs it.
        run: LaneFn,
        /// With these registers.
        operands: Operands,
    },
    /// `ld`.
    Load(Access),
    /// `st`.
    Store(Access),
    /// `atom`, `red`.
    Atomic(Box<Atomic>),
    /// `fence`, `membar`.
    Fence(MemoryScope),
    /// `cp.async`.
    Copy(CopyAsync),
    /// `cp.async.commit_group`.
    Commit,
    /// `cp.async.wait_group`: at most so many groups may be open; `None` is `wait_all`.
    Wait(Option<u32>),
    /// `ldmatrix`: 8x8 matrices of 16-bit elements from shared memory, one a register.
    LoadMatrix {
        /// A register a matrix: 1, 2 or 4.
        d: Vec<Slot>,
        /// `.trans`.
        transposed: bool,
        /// Of the row that this lane names.
        address: Address,
    },
    /// `mma.sync`, `mma.sp`.
    Mma(Box<Mma>),
    /// `wgmma`.
    Group(Box<GroupAct>),
    /// `fence.proxy.async`: what was written before, `wgmma` may read after it.
    ProxyFence {
        /// In shared memory too: not `.global`.
        shared: bool,
    },
    /// `shfl.sync`.
    Shuffle {
        /// Which lane is read.
        kind: ShuffleKind,
        /// The value.
        d: Slot,
        /// Whether the lane was within the segment.
        within: Option<Slot>,
        /// Value, lane, clamp and segment mask, members.
        sources: [Slot; 4],
    },
    /// `vote.sync`.
    Vote {
        /// What is asked.
        kind: VoteKind,
        /// A predicate, or a mask for a ballot.
        d: Slot,
        /// Of each lane.
        predicate: Slot,
        /// `!p`.
        negated: bool,
        /// The lanes that take part.
        members: Slot,
    },
    /// `redux.sync`.
    Reduce {
        /// What is computed.
        reduction: Reduction,
        /// The same in each lane.
        d: Slot,
        /// A value a lane.
        source: Slot,
        /// The lanes that take part.
        members: Slot,
    },
    /// `bar.warp.sync`.
    WarpBarrier {
        /// The lanes that take part.
        members: Slot,
    },
    /// `bar.sync`, `barrier.sync`.
    Barrier {
        /// All lanes of a warp are promised to execute the same one: `bar.sync`, and `.aligned`.
        aligned: bool,
        /// Which of 16.
        number: Slot,
        /// How many threads take part; all of the block where there is none.
        threads: Option<Slot>,
    },
    /// `bra`: to this instruction.
    Branch {
        /// Index into [`Program::steps`].
        target: u32,
        /// `.uni`: promised to be taken by all lanes or none.
        uniform: bool,
    },
    /// `ret` and `exit` of an entry.
    Exit,
}

impl Act {
    /// The product, of `wgmma.mma_async`.
    #[must_use]
    pub fn product(&self) -> Option<&GroupMma> {
        match self {
            Act::Group(act) => match &**act {
                GroupAct::Multiply(product) => Some(product),
                GroupAct::Fence | GroupAct::Commit | GroupAct::Wait(_) => None,
            },
            _ => None,
        }
    }
}

impl GroupMma {
    /// The registers of A; none where it lies in shared memory.
    #[must_use]
    pub fn fragments_of_a(&self) -> &[Slot] {
        match &self.a {
            GroupOperand::Registers(a) => a,
            GroupOperand::Shared(_) => &[],
        }
    }
}

/// One instruction.
#[derive(Clone, Debug)]
pub struct Step {
    /// The row of the table that it is a form of.
    pub row: &'static Row,
    /// Whether a lane takes part.
    pub guard: Option<Guard>,
    /// What it does.
    pub act: Act,
    /// The line of the text, from 1.
    pub line: u32,
    /// The line of the CUDA source, where `-lineinfo` gives it: an index into [`Program::files`], and the line.
    pub cuda: Option<(u32, u32)>,
}

/// What a slot holds from the beginning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Initial {
    /// A number, in all lanes.
    Bits(u64),
    /// `%tid.x` and others.
    Special(Special),
    /// The address of a module's variable in global memory, with an offset in bytes.
    Global(String, i64),
}

/// A special register; the number is the dimension (x, y, z).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Special {
    /// `%tid`.
    Thread(u8),
    /// `%ntid`.
    Threads(u8),
    /// `%ctaid`.
    Block(u8),
    /// `%nctaid`.
    Blocks(u8),
    /// `%laneid`.
    Lane,
    /// `%warpid`.
    Warp,
}

/// A variable of shared or local memory, or a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    /// As the text names it.
    pub name: String,
    /// Where it begins, in bytes.
    pub offset: u32,
    /// How long it is, in bytes; 0 for `extern .shared`.
    pub bytes: u32,
}

/// A variable of a module in global memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Global {
    /// As the text names it.
    pub name: String,
    /// In bytes.
    pub align: u32,
    /// What it holds at first.
    pub bytes: Vec<u8>,
}

/// An entry, ready to run.
#[derive(Clone, Debug)]
pub struct Program {
    /// The name of the entry.
    pub name: String,
    /// What runs; ends with an [`Act::Exit`].
    pub steps: Vec<Step>,
    /// The registers of a warp.
    pub extent: Extent,
    /// Slots that are written before a warp starts.
    pub initial: Vec<(Slot, Initial)>,
    /// Parameters, in their order.
    pub params: Vec<Placed>,
    /// Bytes of all parameters.
    pub param_bytes: u32,
    /// Variables of shared memory, in the order of their offsets; dynamic memory (`extern`) begins after them.
    pub shared: Vec<Placed>,
    /// Static bytes of shared memory of a block.
    pub shared_bytes: u32,
    /// Bytes of local memory of a thread.
    pub local_bytes: u32,
    /// Variables of the module in global memory.
    pub globals: Vec<Global>,
    /// The module's `.target`, such as `sm_80`; empty where every architecture will do.
    pub target: String,
    /// `.maxntid`: threads of a block at most.
    pub max_threads: Option<u32>,
    /// `.reqntid`: the block that every launch must have.
    pub required_block: Option<[u32; 3]>,
    /// Steps that have a guard, in their order, and which of [`predicates`](Program::predicates) that is.
    pub guards: Vec<(u32, u32)>,
    /// Names of predicates that guard steps, as the text has them.
    pub predicates: Vec<String>,
    /// Files of `.file` directives, which [`Step::cuda`] names.
    pub files: Vec<String>,
}

impl Program {
    /// Whether it may order what different threads do without a barrier: it has atomics, fences, or strong accesses.
    #[must_use]
    pub fn synchronises(&self) -> bool {
        self.steps.iter().any(|step| match &step.act {
            Act::Atomic(_) | Act::Fence(_) => true,
            Act::Load(access) | Act::Store(access) => access.strong.is_some(),
            _ => false,
        })
    }

    /// The name of the predicate that guards a step, where the text gave one.
    #[must_use]
    pub fn guard(&self, step: u32) -> Option<&str> {
        let at = self.guards.binary_search_by_key(&step, |guard| guard.0).ok()?;
        self.predicates.get(self.guards.get(at)?.1 as usize).map(String::as_str)
    }
}

impl Access {
    /// Bytes of all elements.
    #[must_use]
    pub fn bytes(&self) -> u32 {
        u32::from(self.width) * u32::from(self.count)
    }
}

impl Slot {
    /// A register of up to 32 bits.
    #[must_use]
    pub const fn narrow(index: u16) -> Slot {
        Slot { class: Class::Narrow, index }
    }

    /// A register of 64 bits.
    #[must_use]
    pub const fn wide(index: u16) -> Slot {
        Slot { class: Class::Wide, index }
    }

    /// A predicate.
    #[must_use]
    pub const fn predicate(index: u16) -> Slot {
        Slot { class: Class::Predicate, index }
    }
}

//! Findings: what they are called, where they are, how they read.

use std::fmt;

/// What is wrong. The table below says for each how it is called and how bad it is.
macro_rules! kinds {
    ($($(#[doc = $doc:literal])+ $Kind:ident $name:literal $Severity:ident;)*) => {
        /// What is wrong.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Kind { $($(#[doc = $doc])+ $Kind),* }

        impl Kind {
            /// All kinds.
            pub const ALL: &[Kind] = &[$(Kind::$Kind),*];

            /// As reports name it.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Kind::$Kind => $name),* }
            }

            /// What it is, in a sentence.
            #[must_use]
            pub const fn about(self) -> &'static str {
                match self { $(Kind::$Kind => concat!($($doc),+)),* }
            }

            /// How bad it is.
            #[must_use]
            pub const fn severity(self) -> Severity {
                match self { $(Kind::$Kind => Severity::$Severity),* }
            }
        }
    };
}

kinds! {
    /// An access outside every allocation, or outside shared, local or parameter memory.
    OutOfBounds "out-of-bounds" Error;
    /// An access to an allocation that was freed.
    UseAfterFree "use-after-free" Error;
    /// An address that is not a multiple of the bytes accessed.
    Misaligned "misaligned" Error;
    /// An address that depends on something undefined.
    UndefinedAddress "undefined-address" Error;
    /// A guard (of a branch or another instruction) that depends on something undefined.
    UndefinedGuard "undefined-guard" Error;
    /// A member mask, barrier number or number of threads that depends on something undefined.
    UndefinedMembers "undefined-members" Error;
    /// Two accesses, one of them a write, that nothing orders: no barrier, and no release that was acquired. Atomics and strong accesses race only beyond each other's scope.
    Race "race" Error;
    /// Several lanes store the same value to the same place in one instruction: harmless, and seldom meant.
    SameValue "same-value-twice" Note;
    /// An access to what `cp.async` writes, before the copy is waited for.
    OpenCopy "open-copy" Error;
    /// Shared memory or a register of D that is written, or one of D that is used, before the `wgmma` that it is of is waited for.
    OpenProduct "open-product" Error;
    /// `wgmma` reads shared memory that was written without a `fence.proxy.async` behind it.
    NoProxyFence "no-proxy-fence" Error;
    /// `wgmma` uses registers that were written after the last `wgmma.fence`.
    NoMatrixFence "no-matrix-fence" Error;
    /// `cp.async` that is asked to read more bytes than it writes.
    CopySize "copy-size" Error;
    /// `ld.global.nc` of memory that the same launch writes.
    ReadOnly "read-only-written" Error;
    /// Lanes of a warp wait at different `bar.sync` instructions, or some did something that those at one have not, and exited without coming.
    DivergentBarrier "divergent-barrier" Error;
    /// Lanes of a warp wait at a barrier that others of it never reach, as they exited at once after the last that all did: allowed from `sm_70` on.
    BarrierAfterExit "barrier-after-exit" Note;
    /// A barrier with a number or number of threads that PTX does not allow, or two different numbers of threads.
    InvalidBarrier "invalid-barrier" Error;
    /// A collective instruction that members which have not exited do not all execute, or `mma` and `ldmatrix` where a lane has exited.
    NotConverged "not-converged" Error;
    /// A member mask without the lane itself, or different masks in lanes that execute together.
    InvalidMembers "invalid-members" Error;
    /// `.uni` branch that only some of the lanes take.
    NotUniform "not-uniform" Error;
    /// No thread of the block can go on.
    Deadlock "deadlock" Error;
    /// The limit of steps is reached.
    StepLimit "step-limit" Error;
    /// An instruction that this architecture does not have, or whose result no model gives.
    Unsupported "unsupported" Error;
}

impl Kind {
    /// What its count counts: `lanes` (threads) or `warps`.
    #[must_use]
    pub const fn counted(self) -> &'static str {
        match self {
            Kind::OutOfBounds | Kind::UseAfterFree | Kind::Misaligned | Kind::CopySize => "lanes",
            Kind::Race | Kind::SameValue | Kind::OpenCopy | Kind::ReadOnly | Kind::InvalidBarrier => "lanes",
            Kind::OpenProduct | Kind::NoProxyFence | Kind::NoMatrixFence => "warps",
            Kind::UndefinedAddress | Kind::UndefinedGuard | Kind::UndefinedMembers => "warps",
            Kind::DivergentBarrier | Kind::BarrierAfterExit | Kind::NotConverged => "warps",
            Kind::InvalidMembers | Kind::NotUniform => "warps",
            Kind::Deadlock | Kind::StepLimit | Kind::Unsupported => "warps",
        }
    }
}

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// Worth knowing.
    Note,
    /// The program is wrong.
    Error,
}

/// A line of the CUDA source.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CudaPlace {
    /// The file, as the compiler was given it.
    pub file: String,
    /// From 1.
    pub line: u32,
}

/// The earlier access that makes one a race.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Partner {
    /// `%tid` of its thread.
    pub thread: [u32; 3],
    /// `%ctaid` of its block; nothing where there are too many blocks to remember.
    pub block: Option<[u32; 3]>,
    /// Its line of the PTX; nothing where the entry has too many instructions to remember.
    pub line: Option<u32>,
}

/// Something wrong, where it was seen first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What.
    pub kind: Kind,
    /// `%tid` of the thread.
    pub thread: [u32; 3],
    /// `%ctaid` of its block.
    pub block: [u32; 3],
    /// The line of the PTX, from 1.
    pub line: u32,
    /// The line of the CUDA source, where it is known.
    pub cuda: Option<CudaPlace>,
    /// The number of the allocation, from 0 in the order of allocation.
    pub allocation: Option<u32>,
    /// Of what concerns two accesses, the earlier one.
    pub partner: Option<Partner>,
    /// What happened, in words.
    pub explanation: String,
    /// How often it happened at this line, by lanes or by warps: see [`Kind::counted`].
    pub count: u64,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ([x, y, z], [bx, by, bz]) = (self.thread, self.block);
        write!(f, "{} at line {}", self.kind.name(), self.line)?;
        if let Some(CudaPlace { file, line }) = &self.cuda {
            write!(f, " ({file}:{line})")?;
        }
        write!(f, ", thread ({x},{y},{z}) of block ({bx},{by},{bz}): {}", self.explanation)?;
        if self.count > 1 {
            write!(f, " ({} times at this line, counted by {})", self.count, self.kind.counted())?;
        }
        Ok(())
    }
}

/// What is checked. Accesses outside of memory never happen, whether they are reported or not: they read zeros and write nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checks {
    /// Out of bounds, use after free, sizes of copies.
    pub bounds: bool,
    /// Misaligned accesses.
    pub alignment: bool,
    /// Undefined addresses, guards and members; undefined bytes are marked either way.
    pub undefined: bool,
    /// Races, open copies, `ld.global.nc` of what is written.
    pub races: bool,
    /// Divergent barriers, members, promises of uniformity. Deadlocks are always reported.
    pub convergence: bool,
}

impl Checks {
    /// All of them.
    pub const ALL: Checks =
        Checks { bounds: true, alignment: true, undefined: true, races: true, convergence: true };
    /// None of them.
    pub const NONE: Checks =
        Checks { bounds: false, alignment: false, undefined: false, races: false, convergence: false };

    /// Whether findings of a kind are reported.
    #[must_use]
    pub const fn wants(&self, kind: Kind) -> bool {
        match kind {
            Kind::OutOfBounds | Kind::UseAfterFree | Kind::CopySize => self.bounds,
            Kind::Misaligned => self.alignment,
            Kind::UndefinedAddress | Kind::UndefinedGuard | Kind::UndefinedMembers => self.undefined,
            Kind::Race | Kind::SameValue | Kind::OpenCopy | Kind::ReadOnly => self.races,
            Kind::OpenProduct | Kind::NoProxyFence | Kind::NoMatrixFence => self.races,
            Kind::DivergentBarrier | Kind::BarrierAfterExit | Kind::InvalidMembers | Kind::NotUniform => {
                self.convergence
            }
            Kind::InvalidBarrier
            | Kind::NotConverged
            | Kind::Deadlock
            | Kind::StepLimit
            | Kind::Unsupported => true,
        }
    }
}

impl Default for Checks {
    fn default() -> Checks {
        Checks::ALL
    }
}

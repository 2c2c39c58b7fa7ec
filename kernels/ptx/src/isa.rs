//! What a row of the table of instructions says: its forms, what executes them, how sure that is.
//!
//! A form is an instruction with all its modifiers, such as `add.s32`; a row lists forms in braces: `add.{s32,u32}`.

use crate::registers::{Class, LaneFn};

/// How far a result is to be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// PTX says what comes out, to the bit.
    Exact,
    /// A model that was compared with silicon says it.
    Model,
    /// PTX allows an error; ours is one of the results that it allows.
    Approximate,
}

/// What executes the forms of a row.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// Registers to registers, each lane by itself.
    Lanes {
        /// What runs it.
        run: LaneFn,
        /// Class of the destination.
        d: Class,
        /// Classes of the sources. An immediate of a float type is written as bits of that type: see `float_bits`.
        sources: &'static [Class],
        /// A number written as an integer where a float is meant, or as f32 or f64: the type of immediates.
        immediate: Immediate,
    },
    /// `ld`, by the modifiers of the form.
    Load,
    /// `st`.
    Store,
    /// `atom`, `red`, by the operation and the type at the end of the form.
    Atomic,
    /// `fence`, `membar`.
    Fence,
    /// `cp.async`.
    Copy,
    /// `cp.async.commit_group`.
    Commit,
    /// `cp.async.wait_group`, `cp.async.wait_all`.
    Wait,
    /// `ldmatrix`.
    LoadMatrix,
    /// `mma.sync`, `mma.sp`.
    Mma,
    /// `wgmma`.
    Group,
    /// `fence.proxy.async`.
    ProxyFence,
    /// `shfl.sync`.
    Shuffle,
    /// `vote.sync`.
    Vote,
    /// `redux.sync`.
    Reduce,
    /// `bar.warp.sync`.
    WarpBarrier,
    /// `bar.sync`.
    Barrier,
    /// `bra`.
    Branch,
    /// `ret`, `exit`.
    Exit,
}

/// How an immediate operand becomes bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Immediate {
    /// The low bits of the integer, as many as the type has (16, 32, 64).
    Integer(u8),
    /// f32 bits (`0f3F800000`, or a decimal number rounded to f32).
    F32,
    /// f64 bits.
    F64,
}

/// A family of forms.
#[derive(Debug)]
pub struct Row {
    /// `add.{s32,u32}`: braces list what may stand there.
    pub forms: &'static str,
    /// The version of PTX that brought it, such as (7, 0).
    pub ptx: (u8, u8),
    /// The first architecture that has it, such as 80.
    pub sm: u16,
    /// What executes it.
    pub kind: Kind,
    /// How far the result is to be trusted.
    pub evidence: Evidence,
}

impl Row {
    /// The forms of the row, one for each choice in its braces.
    #[must_use]
    pub fn forms(&self) -> Vec<String> {
        expand(self.forms)
    }
}

/// `a{b,c}d` is `abd` and `acd`; braces don't nest.
fn expand(pattern: &str) -> Vec<String> {
    let Some((before, rest)) = pattern.split_once('{') else {
        return vec![pattern.to_owned()];
    };
    let (choices, after) = rest.split_once('}').unwrap_or((rest, ""));
    let tails = expand(after);
    choices
        .split(',')
        .flat_map(|choice| tails.iter().map(move |tail| format!("{before}{choice}{tail}")))
        .collect()
}

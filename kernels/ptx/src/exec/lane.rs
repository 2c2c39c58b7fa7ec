//! A loop over 32 lanes in one line.
//!
//! ```text
//! lanes! { ROWS;
//!     "add.{s32,u32}" (1, 0) 10 Exact: (a: u32, b: u32) -> u32 { a.wrapping_add(b) }
//! }        forms     PTX  sm  evidence   types of the registers     one lane
//! ```
//!
//! becomes a [`Row`](crate::isa::Row) whose function reads 32 values a source, computes 32 values, and keeps those of the mask.
//! Types say how a register is read: `i16` is the low half of a narrow register, sign and all; `bool` a predicate.

use crate::isa::Immediate;
use crate::registers::{ALL, Class, LANES, Mask, Registers, Slot};
use pulp::{Arch, WithSimd};
use std::sync::LazyLock;

/// The vector unit of this machine, asked for once.
static ARCH: LazyLock<Arch> = LazyLock::new(Arch::new);

/// Runs a loop as the vector unit of this machine has it.
#[inline]
pub(crate) fn dispatch<W: WithSimd>(work: W) -> W::Output {
    ARCH.dispatch(work)
}

/// The bit of each lane, so that a mask is compared with 32 constants and nothing is shifted.
pub(crate) const BITS: [Mask; LANES] = {
    let mut bits = [0; LANES];
    let mut lane = 0;
    while lane < LANES {
        bits[lane] = 1 << lane;
        lane += 1;
    }
    bits
};

/// What a lane of a register may hold.
pub(crate) trait Value: Copy {
    /// Where such registers lie.
    const CLASS: Class;
    /// What an immediate operand of this type is.
    const IMMEDIATE: Immediate;
    /// The 32 lanes of a register.
    type Lanes<'a>: Copy;
    /// The 32 lanes of a result.
    type Out;
    /// A result to be filled.
    const EMPTY: Self::Out;

    /// Reads a register.
    fn lanes(registers: &Registers, slot: Slot) -> Self::Lanes<'_>;
    /// One lane of it.
    fn at(lanes: Self::Lanes<'_>, lane: usize) -> Self;
    /// Puts one lane of a result, which is still empty.
    fn put(self, out: &mut Self::Out, lane: usize);
    /// Writes the lanes of the mask.
    fn store(registers: &mut Registers, slot: Slot, mask: Mask, out: &Self::Out);
}

macro_rules! values {
    ($($type:ty, $array:ident, $class:ident, $bits:ty, $immediate:expr, |$from:ident| $read:expr, |$value:ident| $write:expr;)*) => {$(
        impl Value for $type {
            const CLASS: Class = Class::$class;
            const IMMEDIATE: Immediate = $immediate;
            type Lanes<'a> = &'a [$bits; LANES];
            type Out = [$bits; LANES];
            const EMPTY: [$bits; LANES] = [0; LANES];

            #[inline(always)]
            fn lanes(registers: &Registers, slot: Slot) -> &[$bits; LANES] {
                &registers.$array[usize::from(slot.index)]
            }

            #[inline(always)]
            fn at(lanes: &[$bits; LANES], lane: usize) -> $type {
                let $from = lanes[lane];
                $read
            }

            #[inline(always)]
            fn put(self, out: &mut [$bits; LANES], lane: usize) {
                let $value = self;
                out[lane] = $write;
            }

            #[inline(always)]
            fn store(registers: &mut Registers, slot: Slot, mask: Mask, out: &[$bits; LANES]) {
                let to = &mut registers.$array[usize::from(slot.index)];
                if mask == ALL {
                    *to = *out;
                    return;
                }
                for lane in 0..LANES {
                    let keep = <$bits>::from(mask >> lane & 1).wrapping_neg();
                    to[lane] = (out[lane] & keep) | (to[lane] & !keep);
                }
            }
        }
    )*};
}

/// The bits of an f16.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Half(pub(crate) u16);

/// The bits of a bf16.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Brain(pub(crate) u16);

/// The bits of two f16, the lower one in the low half.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Halves(pub(crate) u32);

/// The bits of two bf16.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Brains(pub(crate) u32);

values! {
    u8, narrow, Narrow, u32, Immediate::Integer(16), |bits| bits as u8, |value| value.into();
    i8, narrow, Narrow, u32, Immediate::Integer(16), |bits| bits as i8, |value| u32::from(value as u8);
    u16, narrow, Narrow, u32, Immediate::Integer(16), |bits| bits as u16, |value| value.into();
    i16, narrow, Narrow, u32, Immediate::Integer(16), |bits| bits as i16, |value| u32::from(value as u16);
    u32, narrow, Narrow, u32, Immediate::Integer(32), |bits| bits, |value| value;
    i32, narrow, Narrow, u32, Immediate::Integer(32), |bits| bits as i32, |value| value as u32;
    u64, wide, Wide, u64, Immediate::Integer(64), |bits| bits, |value| value;
    i64, wide, Wide, u64, Immediate::Integer(64), |bits| bits as i64, |value| value as u64;
    f32, narrow, Narrow, u32, Immediate::F32, |bits| f32::from_bits(bits), |value| value.to_bits();
    f64, wide, Wide, u64, Immediate::F64, |bits| f64::from_bits(bits), |value| value.to_bits();
    Half, narrow, Narrow, u32, Immediate::Integer(16), |bits| Half(bits as u16), |value| value.0.into();
    Brain, narrow, Narrow, u32, Immediate::Integer(16), |bits| Brain(bits as u16), |value| value.0.into();
    Halves, narrow, Narrow, u32, Immediate::Integer(32), |bits| Halves(bits), |value| value.0;
    Brains, narrow, Narrow, u32, Immediate::Integer(32), |bits| Brains(bits), |value| value.0;
}

impl Value for bool {
    const CLASS: Class = Class::Predicate;
    const IMMEDIATE: Immediate = Immediate::Integer(16);
    type Lanes<'a> = Mask;
    type Out = Mask;
    const EMPTY: Mask = 0;

    #[inline(always)]
    fn lanes(registers: &Registers, slot: Slot) -> Mask {
        registers.predicates[usize::from(slot.index)]
    }

    #[inline(always)]
    fn at(lanes: Mask, lane: usize) -> bool {
        lanes & BITS[lane] != 0
    }

    #[inline(always)]
    fn put(self, out: &mut Mask, lane: usize) {
        *out |= Mask::from(self) << lane;
    }

    #[inline(always)]
    fn store(registers: &mut Registers, slot: Slot, mask: Mask, out: &Mask) {
        let to = &mut registers.predicates[usize::from(slot.index)];
        *to = (*to & !mask) | (*out & mask);
    }
}

/// The class of a result or source.
pub(crate) const fn class<V: Value>() -> Class {
    V::CLASS
}

/// What an immediate of this type is.
pub(crate) const fn immediate<V: Value>() -> Immediate {
    V::IMMEDIATE
}

/// The type of immediates of an instruction: that of its first source that has numbers.
macro_rules! first {
    ($first:ty $(, $rest:ty)*) => {
        $first
    };
}
pub(crate) use first;

/// A function over all lanes, as an expression: `lane_fn!((a: u32, b: u32) -> u32 { a & b })`.
macro_rules! lane_fn {
    (($($name:ident: $type:ty),+) -> $result:ty $body:block) => {{
        fn run(
            registers: &mut $crate::registers::Registers,
            operands: &$crate::program::Operands,
            mask: $crate::registers::Mask,
        ) {
            struct Work<'a>(
                &'a mut $crate::registers::Registers,
                &'a $crate::program::Operands,
                $crate::registers::Mask,
            );
            impl pulp::WithSimd for Work<'_> {
                type Output = ();

                #[inline(always)]
                fn with_simd<S: pulp::Simd>(self, _: S) {
                    use $crate::exec::lane::Value;
                    let Work(registers, operands, mask) = self;
                    let mut out = <$result as Value>::EMPTY;
                    {
                        let mut from = operands.sources.iter();
                        $(let $name = <$type as Value>::lanes(registers, *from.next().unwrap_or(&operands.d));)+
                        for lane in 0..$crate::registers::LANES {
                            $(let $name = <$type as Value>::at($name, lane);)+
                            let value: $result = $body;
                            value.put(&mut out, lane);
                        }
                    }
                    <$result as Value>::store(registers, operands.d, mask, &out);
                }
            }
            $crate::exec::lane::dispatch(Work(registers, operands, mask));
        }
        run as $crate::program::LaneFn
    }};
}
pub(crate) use lane_fn;

/// Rows of the table, each with its function.
macro_rules! lanes {
    ($rows:ident; $($forms:literal ($major:literal, $minor:literal) $sm:literal $evidence:ident:
        ($($name:ident: $type:ty),+) -> $result:ty $body:block)+) => {
        pub(crate) const $rows: &[$crate::isa::Row] = &[$($crate::isa::Row {
            forms: $forms,
            ptx: ($major, $minor),
            sm: $sm,
            kind: $crate::isa::Kind::Lanes {
                run: $crate::exec::lane::lane_fn!(($($name: $type),+) -> $result $body),
                d: $crate::exec::lane::class::<$result>(),
                sources: &[$($crate::exec::lane::class::<$type>()),+],
                immediate: $crate::exec::lane::immediate::<$crate::exec::lane::first!($($type),+)>(),
            },
            evidence: $crate::isa::Evidence::$evidence,
        }),+];
    };
}
pub(crate) use lanes;

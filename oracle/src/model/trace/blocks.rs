//! One instruction of a hardware unit as steps. Its bits come from the unit's own functions: those of a whole instruction must
//! be what the last step gives.
//!
//! ```text
//! tensor core   fused sum | fused sum | ...        fp8 by the f16 unit: two fused sums from zero, then an addition
//! FMOPA 2-way   pair sum, add                      BFMOPA: both products, pair sum, add
//! VDPBF16PS     fma (odd), fma (even)              AMX: two chains of fma, their sum, add
//! ```

use super::TraceError;
use super::step::{Addend, Frame, Kind, Source, Step};
use super::walk::{Carried, Placed, Walk};
use crate::arithmetic::{CpuUnit, Part, Reduction};
use crate::exact::Dyadic;
use crate::model::cpu::arm::Fpcr;
use crate::model::cpu::x86::{Mxcsr, add, fma};
use crate::model::cpu::{CpuStep, bfmopa, fmopa};
use crate::model::tensor_core::{Datapath, FinalRounding, FusedSum, TensorCore};
use crate::scalar::{Precision, Rounding, decode, encode};

/// The operands of one instruction.
struct Operands {
    acc: Carried,
    /// One a place of the block; what holds no term is a pad.
    products: Vec<Addend>,
    a: Vec<u64>,
    b: Vec<u64>,
}

impl Walk {
    pub(super) fn block(
        &mut self,
        part: &Part,
        acc: Carried,
        group: &[Placed],
    ) -> Result<Carried, TraceError> {
        let (input, acc_type, unit) = match part.reduction {
            Reduction::Mma { instruction, .. } => {
                (instruction.input, instruction.acc, instruction.to_string())
            }
            Reduction::Cpu(unit) => (unit.input(), unit.acc(), unit.to_string()),
            _ => return Err(TraceError::NotDeterministic),
        };
        let bits = |value: f64, precision: Precision| {
            let bits = encode(value, precision, Rounding::NearestEven);
            let same = value.is_nan() || decode(bits, precision) == value;
            let refused = || TraceError::Operand { value, precision, unit: unit.clone() };
            if same { Ok(bits) } else { Err(refused()) }
        };
        let block = part.block();
        let pad = Addend::whole(Source::Pad, 0.0, 0.0, None);
        let mut operands = Operands { acc, products: vec![pad; block], a: vec![0; block], b: vec![0; block] };
        for term in group {
            let place = term.at as usize % block;
            operands.a[place] = bits(term.a.value, input)?;
            operands.b[place] = bits(term.b, input)?;
            operands.products[place] = term.product();
        }
        let start = bits(acc.value, acc_type)?;
        match part.reduction {
            Reduction::Mma { architecture: Some(architecture), instruction } => {
                let core =
                    TensorCore::new(architecture, instruction).map_err(|_| TraceError::NotDeterministic)?;
                let modelled = core.apply(start, &operands.a, &operands.b).ok();
                let result = self.core(&core, &operands);
                agrees(result, modelled, acc_type, "one instruction")
            }
            Reduction::Cpu(unit) => {
                let modelled = CpuStep::new(unit).apply(start, &operands.a, &operands.b).ok();
                let result = self.cpu(unit, &operands);
                agrees(result, modelled, acc_type, "one instruction")
            }
            _ => Err(TraceError::NotDeterministic),
        }
    }

    fn core(&mut self, core: &TensorCore, operands: &Operands) -> Carried {
        let input = core.instruction().input;
        let of_link = |link: usize| (0..core.products()).filter(move |&i| core.link_of(i) == link);
        match core.datapath() {
            Datapath::Fused(sum) => (0..core.links())
                .fold(operands.acc, |acc, link| self.fused(&sum, acc, operands, of_link(link), input)),
            Datapath::HalfPairs(sum) => {
                let dot = (0..2)
                    .fold(Carried::ZERO, |acc, link| self.fused(&sum, acc, operands, of_link(link), input));
                let to = core.instruction().acc;
                let value = crate::model::chain::Unit { precision: to }.add(operands.acc.value, dot.value);
                let addends = vec![dot.added(), operands.acc.added()];
                self.push(Kind::Instruction, addends, to, encode(value, to, Rounding::NearestEven))
            }
            Datapath::FmaChain => operands.products.iter().fold(operands.acc, |acc, product| {
                let value = product.a.mul_add(product.b, acc.value);
                let addends = vec![product.clone(), acc.added()];
                self.push(Kind::Fma, addends, Precision::F64, value.to_bits())
            }),
        }
    }

    /// One fused sum over the products with these numbers.
    fn fused(
        &mut self,
        sum: &FusedSum,
        acc: Carried,
        operands: &Operands,
        which: impl Iterator<Item = usize>,
        input: Precision,
    ) -> Carried {
        let which: Vec<usize> = which.collect();
        let pick = |bits: &[u64]| -> Vec<u64> { which.iter().map(|&i| bits[i]).collect() };
        let (a, b) = (pick(&operands.a), pick(&operands.b));
        let to = sum.output.precision();
        let start = encode(acc.value, to, Rounding::NearestEven);
        let mut addends: Vec<Addend> = which.iter().map(|&i| operands.products[i].clone()).collect();
        addends.push(acc.added());
        let alignment = sum.align(start, &a, &b, input);
        let frame = alignment.as_ref().map(|alignment| {
            for (addend, aligned) in addends.iter_mut().zip(&alignment.terms) {
                addend.kept = Some(Dyadic::from(aligned.integer).mul_pow2(alignment.unit));
                addend.aligned = Some((aligned.integer, aligned.exponent));
            }
            Frame {
                sum: *sum,
                exponent: alignment.exponent,
                at_floor: alignment.at_floor,
                unit: alignment.unit,
                total: alignment.sum,
            }
        });
        // The accumulator's own integers where there are any; the unit's function decides between infinities and NaN.
        let bits = match &alignment {
            Some(alignment) => alignment.bits,
            None => sum.step(start, &a, &b, input),
        };
        self.push_step(Step {
            kind: Kind::Fused,
            addends,
            frame,
            to,
            significand: sum.output.significand(),
            rounding: match sum.output {
                FinalRounding::F32TowardZero | FinalRounding::E8m13TowardZero => Rounding::TowardZero,
                FinalRounding::F16NearestEven => Rounding::NearestEven,
            },
            flushes: false,
            bits,
            weight: None,
        })
    }

    fn cpu(&mut self, unit: CpuUnit, o: &Operands) -> Carried {
        let acc_bits = encode(o.acc.value, unit.acc(), Rounding::NearestEven);
        match unit {
            CpuUnit::Fmopa2Way | CpuUnit::Bfmopa { ebf: true } => {
                let pair = apply(unit, 0, [o.a[0], o.a[1]], [o.b[0], o.b[1]]);
                let pair = self.push(Kind::Pair, o.products.clone(), Precision::F32, pair);
                let whole = apply(unit, acc_bits, [o.a[0], o.a[1]], [o.b[0], o.b[1]]);
                let addends = vec![pair.added(), o.acc.added()];
                self.push(Kind::Instruction, addends, Precision::F32, whole)
            }
            CpuUnit::Bfmopa { ebf: false } => self.bfmopa_to_odd(unit, acc_bits, o),
            CpuUnit::Vdpbf16ps => [1, 0].into_iter().fold(o.acc, |acc, i| self.dot_fma(unit, acc, o, i)),
            CpuUnit::Tdpbf16ps | CpuUnit::Tdpfp16ps => self.tile(unit, o),
            CpuUnit::FmopaF64
            | CpuUnit::FmopaF32
            | CpuUnit::FmopaF16
            | CpuUnit::FmlaF64
            | CpuUnit::FmlaF32
            | CpuUnit::FmlaF16
            | CpuUnit::Vfmaddpd
            | CpuUnit::Vfmaddps
            | CpuUnit::Vfmaddph => {
                let bits = CpuStep::new(unit).apply(acc_bits, &o.a, &o.b).unwrap_or_default();
                let addends = vec![o.products[0].clone(), o.acc.added()];
                self.push(Kind::Fma, addends, unit.acc(), bits)
            }
        }
    }

    /// Both products, their sum and the accumulation, each to odd.
    fn bfmopa_to_odd(&mut self, unit: CpuUnit, acc_bits: u64, o: &Operands) -> Carried {
        let single = |i: usize| apply(unit, 0, [o.a[i], 0], [o.b[i], 0]);
        let both = ([o.a[0], o.a[1]], [o.b[0], o.b[1]]);
        let products: Vec<Addend> = (0..2)
            .map(|i| {
                let addends = vec![o.products[i].clone()];
                self.flushing(Kind::Product, addends, Rounding::ToOdd, single(i)).added()
            })
            .collect();
        let pair = self.flushing(Kind::Pair, products, Rounding::ToOdd, apply(unit, 0, both.0, both.1));
        let addends = vec![pair.added(), o.acc.added()];
        let whole = apply(unit, acc_bits, both.0, both.1);
        self.flushing(Kind::Instruction, addends, Rounding::ToOdd, whole)
    }

    /// A chain of even terms, one of odd ones, their sum, then the accumulator.
    fn tile(&mut self, unit: CpuUnit, o: &Operands) -> Carried {
        let mut sums = [Carried::ZERO; 2];
        for i in 0..o.products.len() {
            sums[i % 2] = self.dot_fma(unit, sums[i % 2], o, i);
        }
        let both = self.dot_add(Kind::Halves, sums[0], sums[1]);
        self.dot_add(Kind::Instruction, o.acc, both)
    }

    /// A multiply-add of the dot products of x86: subnormals are zeros.
    fn dot_fma(&mut self, unit: CpuUnit, acc: Carried, o: &Operands, i: usize) -> Carried {
        let wide = |bits: u64| encode(decode(bits, unit.input()), Precision::F32, Rounding::NearestEven);
        let acc_bits = encode(acc.value, Precision::F32, Rounding::NearestEven);
        let bits = fma(Precision::F32, wide(o.a[i]), wide(o.b[i]), acc_bits, Mxcsr::DOT_PRODUCT);
        let addends = vec![o.products[i].clone(), acc.added()];
        self.flushing(Kind::Fma, addends, Rounding::NearestEven, bits)
    }

    fn dot_add(&mut self, kind: Kind, x: Carried, y: Carried) -> Carried {
        let bits = |v: f64| encode(v, Precision::F32, Rounding::NearestEven);
        let sum = add(Precision::F32, bits(x.value), bits(y.value), Mxcsr::DOT_PRODUCT);
        self.flushing(kind, vec![x.added(), y.added()], Rounding::NearestEven, sum)
    }

    /// A step to f32 of a unit that takes subnormal operands for zeros and makes subnormal results zeros.
    fn flushing(&mut self, kind: Kind, addends: Vec<Addend>, rounding: Rounding, bits: u64) -> Carried {
        let least = f64::from(f32::MIN_POSITIVE);
        self.push_step(Step {
            kind,
            addends: addends.into_iter().map(|addend| addend.flushed(least)).collect(),
            frame: None,
            to: Precision::F32,
            significand: Precision::F32.spec().significand,
            rounding,
            flushes: true,
            bits,
            weight: None,
        })
    }
}

/// A 2-way outer product of Arm.
fn apply(unit: CpuUnit, acc: u64, a: [u64; 2], b: [u64; 2]) -> u64 {
    let (a, b) = (a.map(Some), b.map(Some));
    match unit {
        CpuUnit::Bfmopa { ebf } => {
            let fpcr = Fpcr { ebf, ..Fpcr::DEFAULT };
            bfmopa::bfmopa(acc, a, b, fpcr)
        }
        _ => fmopa::fmopa_2way(acc, a, b, Fpcr::DEFAULT),
    }
}

/// The last step's result, if it is the instruction's; NaNs are alike.
fn agrees(
    result: Carried,
    modelled: Option<u64>,
    to: Precision,
    at: &'static str,
) -> Result<Carried, TraceError> {
    let traced = encode(result.value, to, Rounding::NearestEven);
    let same =
        modelled.is_some_and(|bits| bits == traced || decode(bits, to).is_nan() && result.value.is_nan());
    if same {
        return Ok(result);
    }
    Err(TraceError::Disagrees { at, traced, modelled })
}

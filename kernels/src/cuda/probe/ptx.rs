//! The one line of PTX that a probe kernel is about.
//!
//! Source: PTX ISA 9.1, sections 9.7.14.5 (mma), 9.7.14.6 (`mma.sp`), 9.7.15.5 (`wgmma.mma_async`), 9.7.15.6 (.sp), 9.7.9.21 (cvt).

use super::{Probe, Variant};
use sparse_types::Precision;
use sparse_types::arithmetic::Engine;

/// The instruction with its modifiers.
pub(super) fn mnemonic(probe: &Probe) -> String {
    let Probe::Matrix { instruction: i, b, variant } = probe else {
        return conversion(probe);
    };
    let shape = format!("m{}n{}k{}", i.m, i.n, i.k);
    let (acc, a) = (i.acc, i.input);
    match i.engine {
        Engine::Mma => format!("mma.sync.aligned.{shape}.row.col.{acc}.{a}.{b}.{acc}"),
        Engine::MmaSparse => {
            let order = if *variant == Variant::Unordered { "" } else { "::ordered_metadata" };
            format!("mma.sp{order}.sync.aligned.{shape}.row.col.{acc}.{a}.{b}.{acc}")
        }
        Engine::Wgmma => format!("wgmma.mma_async.sync.aligned.{shape}.{acc}.{a}.{b}"),
        Engine::WgmmaSparse => format!("wgmma.mma_async.sp.sync.aligned.{shape}.{acc}.{a}.{b}"),
        Engine::Tcgen05 => format!("tcgen05.mma.{shape}.{acc}.{a}.{b}"),
    }
}

fn conversion(probe: &Probe) -> String {
    let Probe::Convert(conversion) = probe else {
        return String::new();
    };
    format!("cvt.{}.tf32.f32", conversion.name())
}

/// The inline assembly, as the macro body `EXECUTE` over the frame's variables.
pub(super) fn execute(probe: &Probe) -> String {
    let words = probe.words();
    let Probe::Matrix { instruction: i, variant, .. } = probe else {
        let line = format!("{} %0, %1;", mnemonic(probe));
        return format!("asm volatile(\"{line}\" : \"=r\"(c[0]) : \"r\"(a[0]))");
    };
    let wide = if i.acc == Precision::F64 { 2 } else { 1 };
    let c = words.c / wide;
    let a = words.a / wide;
    let b = words.b_group / words.lanes / wide;
    let mut bound = Operands::default();
    bound.output(register_class(i.acc), "c", c);
    let result = bound.list(0, c);
    let a_class = register_class_in(i.input);
    bound.input(a_class, "a", a);
    let a_list = bound.list(c, a);
    match i.engine {
        Engine::Mma | Engine::MmaSparse | Engine::Tcgen05 => {
            bound.input(a_class, "b", b);
            let b_list = bound.list(c + a, b);
            let metadata = if i.engine.is_sparse() {
                bound.scalar("r", "e");
                format!(", %{}, {}", c + a + b, selector(*variant))
            } else {
                String::new()
            };
            let line = format!("{} {result}, {a_list}, {b_list}, {result}{metadata};", mnemonic(probe));
            bound.statement(&line)
        }
        Engine::Wgmma | Engine::WgmmaSparse => {
            bound.scalar("l", "desc");
            let metadata = if i.engine.is_sparse() {
                bound.scalar("r", "e");
                format!(", %{}, {}", c + a + 1, selector(*variant))
            } else {
                String::new()
            };
            let line = format!(
                "{{ .reg .pred p; setp.ne.b32 p, {}, 0; wgmma.fence.sync.aligned; {} {result}, {a_list}, %{}{metadata}, p, {}{}; \
                 wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0; }}",
                u8::from(*variant != Variant::WithoutC),
                mnemonic(probe),
                c + a,
                scales(*variant),
                // imm-trans-b exists for 16-bit types alone.
                if i.input.bytes() == 2 { ", 0" } else { "" },
            );
            bound.statement(&line)
        }
    }
}

fn selector(variant: Variant) -> u8 {
    match variant {
        Variant::Selector(s) => s,
        _ => 0,
    }
}

fn scales(variant: Variant) -> &'static str {
    match variant {
        Variant::Negate { a: true, b: true } => "-1, -1",
        Variant::Negate { a: true, b: false } => "-1, 1",
        Variant::Negate { a: false, b: true } => "1, -1",
        _ => "1, 1",
    }
}

/// The constraint of an accumulator register: f16 pairs are plain words.
fn register_class(acc: Precision) -> &'static str {
    match acc {
        Precision::F64 => "d",
        Precision::F32 => "f",
        _ => "r",
    }
}

fn register_class_in(input: Precision) -> &'static str {
    if input == Precision::F64 { "d" } else { "r" }
}

/// Operands of one asm statement, numbered in the order they are given.
#[derive(Default)]
struct Operands {
    outputs: Vec<String>,
    inputs: Vec<String>,
}

impl Operands {
    fn output(&mut self, class: &str, array: &str, count: usize) {
        self.outputs.extend((0..count).map(|i| format!("\"+{class}\"({array}[{i}])")));
    }

    fn input(&mut self, class: &str, array: &str, count: usize) {
        self.inputs.extend((0..count).map(|i| format!("\"{class}\"({array}[{i}])")));
    }

    fn scalar(&mut self, class: &str, name: &str) {
        self.inputs.push(format!("\"{class}\"({name})"));
    }

    /// `{%4, %5}`
    fn list(&self, first: usize, count: usize) -> String {
        let names: Vec<String> = (first..first + count).map(|i| format!("%{i}")).collect();
        format!("{{{}}}", names.join(", "))
    }

    fn statement(&self, line: &str) -> String {
        format!("asm volatile(\"{line}\" : {} : {})", self.outputs.join(", "), self.inputs.join(", "))
    }
}

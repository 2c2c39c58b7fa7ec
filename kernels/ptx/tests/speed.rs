//! How quick the functions are, printed: `cargo test --release -p sparse-ptx --test speed -- --ignored --nocapture`.

use sparse_oracle::arithmetic::{Architecture, Engine, Instruction};
use sparse_oracle::scalar::Precision::{Bf16, F16, F32, Tf32};
use sparse_ptx::exec::matrix::PreparedMma;
use sparse_ptx::isa::Kind;
use sparse_ptx::program::{Mma, Operands};
use sparse_ptx::registers::{ALL, Class, Extent, Mask, Registers, Slot};
use sparse_ptx::table::find;
use std::time::{Duration, Instant};

/// Time that this thread had a core for, where the system tells; else time.
fn now(begin: Instant) -> Duration {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = told.and_then(|text| text.split(' ').next()?.parse().ok());
    nanoseconds.map_or_else(|| begin.elapsed(), Duration::from_nanos)
}

/// Executions a second, in millions: the best of three, each long against the steps of the clock.
fn rate(count: u32, mut work: impl FnMut()) -> f64 {
    let mut best = 0f64;
    for _ in 0..3 {
        let clock = Instant::now();
        let begin = now(clock);
        for _ in 0..count {
            work();
        }
        best = best.max(f64::from(count) / 1e6 / (now(clock) - begin).as_secs_f64());
    }
    best
}

fn lanes(form: &str, mask: Mask) -> f64 {
    let row = find(form).expect("a form");
    let Kind::Lanes { run, d, sources, .. } = row.kind else { panic!("{form} is for lanes") };
    let mut registers = Registers::new(Extent { predicates: 8, narrow: 8, wide: 8 });
    for i in 0..8 {
        registers.narrow[i] = std::array::from_fn(|lane| 0x3f80_0000 + (lane * 77 + i) as u32);
        registers.wide[i] = std::array::from_fn(|lane| (lane * 77 + i) as u64);
    }
    let slot = |class: Class, index: u16| Slot { class, index };
    let mut operands =
        Operands { d: slot(d, 7), second: None, sources: [slot(d, 0); 4], count: sources.len() as u8 };
    for (i, &class) in sources.iter().enumerate() {
        operands.sources[i] = slot(class, i as u16);
    }
    let mut indirect = run;
    std::hint::black_box(&mut indirect);
    rate(5_000_000, || indirect(&mut registers, &operands, mask))
}

fn matrix(architecture: Architecture, instruction: Instruction) -> f64 {
    let narrow = |from: u16, count: u16| (from..from + count).map(Slot::narrow).collect::<Vec<_>>();
    let sparse = instruction.engine == Engine::MmaSparse;
    let pairs = if instruction.input == Tf32 { 1 } else { 2 };
    let a = 16 * instruction.products() as u16 / 32 / pairs;
    let b = instruction.k * 8 / 32 / pairs;
    let c = if instruction.acc == F16 { 2 } else { 4 };
    let mma = Mma {
        instruction,
        d: narrow(20, c),
        a: narrow(0, a),
        b: narrow(8, b),
        c: narrow(24, c),
        metadata: sparse.then_some((Slot::narrow(30), 0)),
    };
    let mut registers = Registers::new(Extent { predicates: 0, narrow: 31, wide: 0 });
    for i in 0..20 {
        registers.narrow[i] = std::array::from_fn(|lane| 0x3c01_3c00 + (lane * 77 + i) as u32);
    }
    registers.narrow[30] = [0x4444_4444; 32];
    let prepared = PreparedMma::new(architecture, &mma).expect("modelled");
    rate(300_000, || prepared.apply(&mut registers).expect("legal"))
}

#[test]
#[ignore = "measures; say --release --ignored --nocapture"]
fn speed_of_lanes() {
    println!("million warp-instructions a second, all lanes | half of them");
    let forms = "add.s32 mad.lo.s32 mul.wide.u32 div.u32 add.s64 mul.lo.s64 and.b32 shl.b32 shl.b64 bfi.b32 prmt.b32 popc.b32 lop3.b32 \
        add.rn.f32 fma.rn.f32 min.f32 add.rn.f64 fma.rn.f64 div.rn.f32 add.rz.f32 fma.rn.f16x2 setp.lt.s32 setp.neu.f32 \
        setp.eq.and.s64 selp.b32 mov.u32 mov.b64 cvt.f32.f16 cvt.rn.f16.f32 cvt.rn.bf16.f32 cvt.rna.tf32.f32 cvt.u64.u32 \
        cvt.rn.f32.u32 cvt.rzi.s32.f32 and.pred ex2.approx.f32";
    for form in forms.split_whitespace() {
        let (all, half) = (lanes(form, ALL), lanes(form, 0x5555_5555));
        println!("{form:20} {all:8.1} {half:8.1}");
        assert!(all > 0.0 && half > 0.0);
    }
}

#[test]
#[ignore = "measures; say --release --ignored --nocapture"]
fn speed_of_matrices() {
    println!("million matrix instructions a second");
    let dense = |k, acc, input| Instruction::mma((16, 8, k), acc, input);
    let sparse = |k, acc, input| dense(k, acc, input).engine(Engine::MmaSparse);
    for architecture in [Architecture::Sm80, Architecture::Sm90] {
        for instruction in [
            dense(16, F32, F16),
            dense(16, F32, Bf16),
            dense(16, F16, F16),
            dense(8, F32, Tf32),
            dense(8, F32, F16),
            sparse(32, F32, F16),
            sparse(32, F16, F16),
            sparse(16, F32, Tf32),
        ] {
            println!("{} {instruction} {:.2}", architecture.name(), matrix(architecture, instruction));
        }
    }
}

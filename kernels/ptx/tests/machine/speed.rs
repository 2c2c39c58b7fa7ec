//! How fast the machine is, as a number that is printed: `cargo test --release -p sparse-ptx --test machine speed -- --ignored --nocapture`.

use super::builder::Kernel;
use super::world::{World, clean};
use sparse_ptx::check::Checks;
use sparse_ptx::program::{Program, Special};
use sparse_ptx::text::Space::{Global, Shared};
use std::time::Instant;

/// A loop of 20 instructions: 4 of memory (a load and a store each of global and shared memory), 2 of the loop, 14 of arithmetic.
fn mix() -> Program {
    let mut k = Kernel::new();
    k.shared(4096);
    let (buffer, thread) = (k.param(), k.special(Special::Thread(0)));
    let (one, zero, turns, four, mask) = (k.bits(1), k.bits(0), k.bits(2000), k.bits(4), k.bits(1023));
    let (i, sum, d, e) = (k.add(zero, zero), k.add(zero, zero), k.narrow(), k.narrow());
    let own = k.mul(thread, four);
    let own_global = k.at(buffer, thread, 4);
    k.store(Shared, 4, &[zero], (Some(own), 0));
    let (spare, address) = (k.narrow(), k.wide());
    let head = k.label();
    k.place(head);
    k.load(Global, 4, &[d], (Some(own_global), 0));
    k.load(Shared, 4, &[e], (Some(own), 0));
    for _ in 0..6 {
        k.lanes(super::builder::add, sum, &[sum, d]);
        k.lanes(super::builder::mul, spare, &[sum, e]);
    }
    k.lanes(super::builder::and, spare, &[spare, mask]);
    k.lanes(super::builder::index, address, &[buffer, thread, four]);
    k.store(Global, 4, &[spare], (Some(address), 0));
    k.store(Shared, 4, &[sum], (Some(own), 0));
    k.lanes(super::builder::add, i, &[i, one]);
    let p = k.less(i, turns);
    k.when(p, true).branch(head);
    k.finish()
}

#[test]
#[ignore = "prints a speed; the bars are 60 M a second without checks and 30 M with them, on one core in release"]
fn speed_of_a_mix_with_a_fifth_of_memory() {
    let program = mix();
    for (name, checks, count) in [("no checks", Checks::NONE, false), ("all checks", Checks::ALL, true)] {
        let mut world = World::new(1, 256, &[4096]);
        (world.launch.checks, world.launch.count) = (checks, count);
        let (begin, cpu) = (Instant::now(), cpu_seconds());
        let mut instructions = 0;
        while begin.elapsed().as_secs_f64() < 2.0 {
            let outcome = world.run(&program);
            clean(&outcome);
            instructions += outcome.counters.instructions;
        }
        let seconds =
            cpu_seconds().zip(cpu).map_or(begin.elapsed().as_secs_f64(), |(end, begin)| end - begin);
        println!(
            "{name}: {:.1} M warp instructions a second of this thread",
            instructions as f64 / seconds / 1e6
        );
    }
}

/// What this thread has run so far, where the system says it: others may run on the same core.
fn cpu_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split(' ').next()?.parse().ok().map(|nanoseconds: f64| nanoseconds / 1e9)
}

//! Random programs with nested branches and loops, against an interpreter that runs one thread after another.

use super::builder::{Kernel, add, and, mul};
use super::world::{World, clean};
use proptest::prelude::*;
use sparse_ptx::program::{Act, Initial, Program, Special};
use sparse_ptx::registers::{Class, Registers, Slot};
use sparse_ptx::text::Space::{Global, Local, Param};

const THREADS: u32 = 70;

/// A piece of a program.
#[derive(Clone, Debug)]
enum Piece {
    /// `d = a op b`
    Compute(u8, u8, u8, u8),
    /// `if a < b { .. } else { .. }`
    If(u8, u8, Vec<Piece>, Vec<Piece>),
    /// At most 7 times, as often as the low bits of a register say.
    Loop(u8, Vec<Piece>),
    /// A round trip through local memory.
    Spill(u8, u8),
    /// Stores a register to the thread's own words of the buffer.
    Store(u8, u8),
    /// Some threads exit.
    Exit(u8, u8),
    /// `@p d = a + b`
    Guarded(u8, u8, u8),
}

fn pieces() -> impl Strategy<Value = Vec<Piece>> {
    let r = || 0..6u8;
    let leaf = prop_oneof![
        6 => (0..3u8, r(), r(), r()).prop_map(|(op, d, a, b)| Piece::Compute(op, d, a, b)),
        2 => (r(), r()).prop_map(|(d, a)| Piece::Spill(d, a)),
        2 => (r(), 0..4u8).prop_map(|(a, at)| Piece::Store(a, at)),
        1 => (r(), r()).prop_map(|(a, b)| Piece::Exit(a, b)),
        2 => (r(), r(), r()).prop_map(|(d, a, b)| Piece::Guarded(d, a, b)),
    ];
    let piece = leaf.prop_recursive(4, 40, 5, move |inner| {
        let list = || prop::collection::vec(inner.clone(), 0..5);
        prop_oneof![
            (r(), r(), list(), list()).prop_map(|(a, b, yes, no)| Piece::If(a, b, yes, no)),
            (r(), list()).prop_map(|(n, body)| Piece::Loop(n, body)),
        ]
    });
    prop::collection::vec(piece, 1..8)
}

struct Writer {
    k: Kernel,
    registers: Vec<Slot>,
    own: Slot,
}

impl Writer {
    fn new() -> Writer {
        let mut k = Kernel::new();
        k.local(64);
        let (buffer, thread) = (k.param(), k.special(Special::Thread(0)));
        let own = k.at(buffer, thread, 16);
        let mut registers = vec![k.add(thread, thread)];
        for seed in [1, 3, 5, 0x9e37, 0xffff_fff1] {
            let bits = k.bits(seed);
            registers.push(k.mul(thread, bits));
        }
        Writer { k, registers, own }
    }

    fn r(&self, i: u8) -> Slot {
        self.registers[usize::from(i)]
    }

    fn list(&mut self, list: &[Piece]) {
        list.iter().for_each(|piece| self.piece(piece));
    }

    fn piece(&mut self, piece: &Piece) {
        match piece {
            Piece::Compute(op, d, a, b) => {
                let run = [add, mul, and][usize::from(*op)];
                let (d, a, b) = (self.r(*d), self.r(*a), self.r(*b));
                self.k.lanes(run, d, &[a, b]);
            }
            Piece::If(a, b, yes, no) => {
                let (other, end) = (self.k.label(), self.k.label());
                let p = self.k.less(self.r(*a), self.r(*b));
                self.k.when(p, false).branch(other);
                self.list(yes);
                self.k.branch(end);
                self.k.place(other);
                self.list(no);
                self.k.place(end);
            }
            Piece::Loop(n, body) => {
                let (one, zero, seven) = (self.k.bits(1), self.k.bits(0), self.k.bits(7));
                let (i, n) = (self.k.add(zero, zero), self.k.and(self.r(*n), seven));
                let (head, end) = (self.k.label(), self.k.label());
                self.k.place(head);
                let p = self.k.less(i, n);
                self.k.when(p, false).branch(end);
                self.k.lanes(add, i, &[i, one]);
                self.list(body);
                self.k.branch(head);
                self.k.place(end);
            }
            Piece::Spill(d, a) => {
                let (d, a) = (self.r(*d), self.r(*a));
                self.k.store(Local, 4, &[a], (None, 8));
                self.k.load(Local, 2, &[d], (None, 8));
            }
            Piece::Store(a, at) => {
                let a = self.r(*a);
                self.k.store(Global, 4, &[a], (Some(self.own), 4 * i64::from(*at)));
            }
            Piece::Exit(a, b) => {
                let p = self.k.equal(self.r(*a), self.r(*b));
                // Register 0 is rarely equal to another one.
                self.k.when(p, true).exit();
            }
            Piece::Guarded(d, a, b) => {
                let (d, a, b) = (self.r(*d), self.r(*a), self.r(*b));
                let p = self.k.less(a, b);
                self.k.when(p, true).lanes(add, d, &[a, b]);
            }
        }
    }
}

/// One thread, alone in lane 0.
fn interpret(program: &Program, thread: u32, params: &[u8], base: u64, memory: &mut [u8]) {
    let mut registers = Registers::new(program.extent);
    for (slot, initial) in &program.initial {
        let bits = match initial {
            Initial::Bits(bits) => *bits as u32,
            Initial::Special(_) => thread,
            Initial::Global(..) => 0,
        };
        registers.narrow[usize::from(slot.index)][0] = bits;
    }
    let mut local = [0; 64];
    let mut at = 0;
    loop {
        let step = &program.steps[at];
        at += 1;
        if let Some(guard) = step.guard
            && (registers.predicates[usize::from(guard.predicate.index)] & 1 == 0) != guard.negated
        {
            continue;
        }
        match &step.act {
            Act::Lanes { run, operands } => run(&mut registers, operands, 1),
            Act::Branch { target, .. } => at = *target as usize,
            Act::Exit => return,
            Act::Load(access) => {
                let from = access.address.offset as usize;
                let source = if access.space == Param { params } else { &local[..] };
                let mut bytes = [0; 8];
                bytes[..usize::from(access.width)]
                    .copy_from_slice(&source[from..from + usize::from(access.width)]);
                let (slot, value) = (access.data[0], u64::from_le_bytes(bytes));
                match slot.class {
                    Class::Wide => registers.wide[usize::from(slot.index)][0] = value,
                    _ => registers.narrow[usize::from(slot.index)][0] = value as u32,
                }
            }
            Act::Store(access) => {
                let value = registers.narrow[usize::from(access.data[0].index)][0].to_le_bytes();
                let offset = access.address.offset as u64;
                match access.address.base {
                    Some(base_slot) => {
                        let to = (registers.wide[usize::from(base_slot.index)][0] + offset - base) as usize;
                        memory[to..to + 4].copy_from_slice(&value);
                    }
                    None => local[offset as usize..][..4].copy_from_slice(&value),
                }
            }
            act => panic!("not generated: {act:?}"),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn warps_do_what_threads_do_alone(list in pieces()) {
        let mut writer = Writer::new();
        writer.list(&list);
        let all: Vec<Slot> = writer.registers.clone();
        let sum = all.iter().skip(1).fold(all[0], |sum, &next| writer.k.add(sum, next));
        writer.k.store(Global, 4, &[sum], (Some(writer.own), 12));
        let program = writer.k.finish();
        let bytes = u64::from(THREADS) * 16;
        let mut expected = vec![0; bytes as usize];
        let world = World::new(1, THREADS, &[bytes]);
        for thread in 0..THREADS {
            interpret(&program, thread, &world.launch.params, world.buffers[0], &mut expected);
        }
        for number in 0..4 {
            let mut world = World::new(1, THREADS, &[bytes]).schedule(number);
            clean(&world.run(&program));
            prop_assert_eq!(&world.device.read(world.buffers[0], bytes as usize).expect("inside"), &expected);
        }
    }
}

//! `ldmatrix` and `mma`: where elements lie, and what undefined ones spoil.

use super::builder::Kernel;
use super::world::{World, clean, only, run_one};
use sparse_oracle::arithmetic::Instruction;
use sparse_oracle::scalar::Precision;
use sparse_ptx::check::Kind;
use sparse_ptx::program::{Act, Address, Mma, Special};
use sparse_ptx::registers::Slot;
use sparse_ptx::text::Space::{Global, Shared};

/// Shared memory holds 16-bit elements 0, 1, 2 ..; each lane names row `lane` of 8 elements.
fn ldmatrix(count: usize, transposed: bool) -> Vec<u32> {
    let mut k = Kernel::new();
    k.shared(512);
    let (buffer, lane, sixteen) = (k.param(), k.special(Special::Lane), k.bits(16));
    let at = k.mul(lane, sixteen);
    let (eight, two, first) = (k.bits(8), k.bits(0x0002_0002), k.bits(0x0001_0000));
    let element = k.mul(lane, eight);
    let pair = k.bits(0x0001_0001);
    let mut word = k.mul(element, pair);
    word = k.add(word, first);
    for i in 0..4 {
        k.store(Shared, 4, &[word], (Some(at), 4 * i));
        word = k.add(word, two);
    }
    k.barrier(0, None);
    let d: Vec<Slot> = (0..count).map(|_| k.narrow()).collect();
    k.act(Act::LoadMatrix { d: d.clone(), transposed, address: Address { base: Some(at), offset: 0 } });
    let at = k.at(buffer, lane, 16);
    for (i, &slot) in (0..).zip(&d) {
        k.store(Global, 4, &[slot], (Some(at), 4 * i));
    }
    let (outcome, words) = run_one(k, 1, 32);
    clean(&outcome);
    words
}

#[test]
fn ldmatrix_gives_each_lane_two_elements() {
    for count in [1, 2, 4] {
        for transposed in [false, true] {
            let words = ldmatrix(count, transposed);
            for lane in 0..32 {
                for matrix in 0..count {
                    let element = |i: usize| {
                        let (row, column) = (lane / 4, 2 * (lane % 4) + i);
                        let (row, column) = if transposed { (column, row) } else { (row, column) };
                        64 * matrix + 8 * row + column
                    };
                    let word = words[4 * lane + matrix];
                    assert_eq!([word & 0xffff, word >> 16], [element(0) as u32, element(1) as u32]);
                }
            }
        }
    }
}

/// A product of matrices of ones; register `undefined` of A is undefined in lane 5.
fn product(undefined: bool, threads: u32) -> (World, sparse_ptx::machine::Outcome, u32) {
    let mut k = Kernel::new();
    let (buffer, fresh, lane) = (k.param(), k.param(), k.special(Special::Lane));
    let (ones, zero) = (k.bits(0x3c00_3c00), k.bits(0));
    let a: Vec<Slot> = (0..4).map(|_| k.add(ones, zero)).collect();
    let five = k.bits(5);
    let p = k.equal(lane, five);
    let hole = k.narrow();
    k.load(Global, 4, &[hole], (Some(fresh), 0));
    if undefined {
        k.when(p, true).lanes(super::builder::add, a[1], &[hole, zero]);
    }
    let b: Vec<Slot> = (0..2).map(|_| k.add(ones, zero)).collect();
    let c: Vec<Slot> = (0..4).map(|_| k.add(zero, zero)).collect();
    let d: Vec<Slot> = (0..4).map(|_| k.narrow()).collect();
    let instruction = Instruction::mma((16, 8, 16), Precision::F32, Precision::F16);
    let mma = Mma { instruction, d: d.clone(), a, b, c, metadata: None };
    let line = k.act(Act::Mma(Box::new(mma)));
    let at = k.at(buffer, lane, 16);
    k.store(Global, 4, &d, (Some(at), 0));
    let mut world = World::new(1, threads, &[4096]);
    let fresh = world.device.alloc(16, 4).expect("it fits");
    world.launch.params.extend(fresh.to_le_bytes());
    let outcome = world.run(&k.finish());
    (world, outcome, line)
}

#[test]
fn mma_multiplies() {
    let (mut world, outcome, _) = product(false, 32);
    clean(&outcome);
    assert_eq!(world.words(0, 128), [16f32.to_bits(); 128]);
    assert_eq!(outcome.counters.mma, 1);
}

#[test]
fn an_undefined_element_of_a_spoils_its_row_only() {
    let (mut world, outcome, _) = product(true, 32);
    clean(&outcome);
    // Lane 5 is in the quad of rows 1 and 9; its second register is of row 9: the last two of the four registers of lanes 4 to 7.
    let checked = world.device.read_checked(world.buffers[0], 512).expect("inside");
    assert_eq!(checked.undefined, [(72, 8), (88, 8), (104, 8), (120, 8)]);
}

#[test]
fn mma_wants_all_lanes() {
    let (_, outcome, line) = product(false, 31);
    assert_eq!(only(&outcome, Kind::NotConverged, line).thread, [0; 3]);
}

#[test]
fn an_instruction_that_the_architecture_lacks_is_found() {
    let mut k = Kernel::new();
    k.param();
    let (a, b, c) = ([0; 2].map(|_| k.bits(0)), k.bits(0), [0; 4].map(|_| k.bits(0)));
    let instruction = Instruction::mma((16, 8, 3), Precision::F32, Precision::F16);
    let mma = Mma { instruction, d: c.to_vec(), a: a.to_vec(), b: vec![b], c: c.to_vec(), metadata: None };
    let line = k.act(Act::Mma(Box::new(mma)));
    let (outcome, _) = run_one(k, 1, 32);
    only(&outcome, Kind::Unsupported, line);
    assert!(!outcome.complete);
}

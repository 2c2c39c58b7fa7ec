//! Vectors of registers as one register, and back.

use sparse_ptx::exec::pack;
use sparse_ptx::program::{LaneFn, Operands};
use sparse_ptx::registers::{ALL, Extent, LANES, Mask, Registers, Slot};

const MASKS: [Mask; 3] = [ALL, 0x8000_0001, 0x5a5a_0ff0];

/// Four narrow registers of 16 bits, then of 32; two wide ones; all different.
fn registers() -> Registers {
    let mut registers = Registers::new(Extent { predicates: 0, narrow: 8, wide: 3 });
    for i in 0..8u32 {
        let cut = if i < 4 { 0xffff } else { u32::MAX };
        registers.narrow[i as usize] =
            std::array::from_fn(|lane| (lane as u32 * 3 + i + 1).wrapping_mul(0x9e37_79b9) & cut);
    }
    for i in 0..3u64 {
        registers.wide[i as usize] =
            std::array::from_fn(|lane| (lane as u64 + i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    }
    registers
}

fn run(
    function: LaneFn,
    registers: &mut Registers,
    d: Slot,
    second: Option<Slot>,
    sources: &[Slot],
    mask: Mask,
) {
    let mut operands = Operands { d, second, sources: [d; 4], count: sources.len() as u8 };
    operands.sources[..sources.len()].copy_from_slice(sources);
    function(registers, &operands, mask);
}

#[test]
fn packs() {
    let narrow = Slot::narrow;
    let sixteen = [narrow(0), narrow(1), narrow(2), narrow(3)];
    for mask in MASKS {
        let before = registers();
        let value = |i: usize, lane: usize| u64::from(before.narrow[i][lane]);
        type Expected<'a> = Box<dyn Fn(usize) -> u64 + 'a>;
        let cases: [(LaneFn, Slot, &[Slot], Expected<'_>); 5] = [
            (
                pack::B16_OF_TWO,
                narrow(7),
                &sixteen[..2],
                Box::new(|l| (value(1, l) & 255) << 8 | value(0, l) & 255),
            ),
            (pack::B32_OF_TWO, narrow(7), &sixteen[..2], Box::new(|l| value(1, l) << 16 | value(0, l))),
            (
                pack::B32_OF_FOUR,
                narrow(7),
                &sixteen,
                Box::new(|l| (0..4).map(|i| (value(i, l) & 255) << (8 * i)).sum()),
            ),
            (
                pack::B64_OF_TWO,
                Slot::wide(2),
                &[narrow(4), narrow(5)],
                Box::new(|l| value(5, l) << 32 | value(4, l)),
            ),
            (
                pack::B64_OF_FOUR,
                Slot::wide(2),
                &sixteen,
                Box::new(|l| (0..4).map(|i| value(i, l) << (16 * i)).sum()),
            ),
        ];
        for (function, d, sources, expected) in cases {
            let mut after = before.clone();
            run(function, &mut after, d, None, sources, mask);
            for lane in 0..LANES {
                let (old, new) = match d.class {
                    sparse_ptx::registers::Class::Wide => (before.wide[2][lane], after.wide[2][lane]),
                    _ => (before.narrow[7][lane].into(), after.narrow[7][lane].into()),
                };
                assert_eq!(new, if mask >> lane & 1 == 1 { expected(lane) } else { old }, "lane {lane}");
            }
        }
    }
}

#[test]
fn unpacks() {
    for mask in MASKS {
        let before = registers();
        let parts: [(&[LaneFn], bool, u32); 3] = [
            (&pack::HALVES_OF_B32, false, 16),
            (&pack::HALVES_OF_B64, true, 32),
            (&pack::QUARTERS_OF_B64, true, 16),
        ];
        for (functions, wide, bits) in parts {
            for (part, &function) in functions.iter().enumerate() {
                let mut after = before.clone();
                let source = if wide { Slot::wide(0) } else { Slot::narrow(4) };
                run(function, &mut after, Slot::narrow(7), None, &[source], mask);
                for lane in 0..LANES {
                    let whole = if wide { before.wide[0][lane] } else { before.narrow[4][lane].into() };
                    let expected = (whole >> (part as u32 * bits)) as u32 & (u32::MAX >> (32 - bits));
                    let old = before.narrow[7][lane];
                    assert_eq!(after.narrow[7][lane], if mask >> lane & 1 == 1 { expected } else { old });
                }
            }
        }
    }
}

#[test]
fn splits_over_the_source() {
    for mask in MASKS {
        let before = registers();
        let mut after = before.clone();
        // The low half goes where the whole was.
        run(pack::split_b32, &mut after, Slot::narrow(4), Some(Slot::narrow(5)), &[Slot::narrow(4)], mask);
        run(pack::split_b64, &mut after, Slot::narrow(6), Some(Slot::narrow(7)), &[Slot::wide(1)], mask);
        for lane in 0..LANES {
            let (word, long) = (before.narrow[4][lane], before.wide[1][lane]);
            let new = [word & 0xffff, word >> 16, long as u32, (long >> 32) as u32];
            for (i, new) in new.into_iter().enumerate() {
                let old = before.narrow[4 + i][lane];
                assert_eq!(
                    after.narrow[4 + i][lane],
                    if mask >> lane & 1 == 1 { new } else { old },
                    "lane {lane}, {i}"
                );
            }
        }
        // Without a second destination only the first is written.
        let mut after = before.clone();
        run(pack::split_b32, &mut after, Slot::narrow(7), None, &[Slot::narrow(4)], ALL);
        assert_eq!(after.narrow[..7], before.narrow[..7]);
        assert_eq!(after.narrow[7], before.narrow[4].map(|word| word & 0xffff));
    }
}

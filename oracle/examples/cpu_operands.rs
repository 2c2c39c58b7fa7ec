//! Prints operand lines for whoever has the machine: `cpu_operands arm 1000 7` gives 1000 lines a unit from seed 7.
//!
//! `data/recorded/arm_step.rs` runs them and adds the results, which `model_cpu_recorded.rs` then compares.

#[path = "../tests/cpu_support/mod.rs"]
mod cpu_support;

use cpu_support::{DISTRIBUTIONS, Operands, draw, is_arm};
use sparse_oracle::arithmetic::CpuUnit;
use sparse_oracle::source::random::Random;

/// FPCR with every field that counts, at random; half of the time as it starts.
fn fpcr(random: &mut Random, unit: CpuUnit) -> u32 {
    let ebf = u32::from(unit == CpuUnit::Bfmopa { ebf: true }) << 13;
    if random.below(2) == 0 {
        return ebf;
    }
    let fields = [0, 1, 19, 22, 23, 24, 25].map(|bit| (random.below(2) as u32) << bit);
    fields.into_iter().fold(ebf, |word, field| word | field)
}

/// One of both sides' elements is inactive, now and then.
fn mask(random: &mut Random, operands: &mut Operands) {
    for side in [&mut operands.a, &mut operands.b] {
        for element in side {
            if random.below(20) == 0 {
                *element = None;
            }
        }
    }
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize| words.get(at).and_then(|word| word.parse::<u64>().ok());
    let (Some("arm"), Some(count), Some(seed)) = (words.first().map(String::as_str), number(1), number(2))
    else {
        eprintln!("usage: cpu_operands arm LINES_PER_UNIT SEED");
        std::process::exit(2);
    };
    let mut random = Random::new(seed, "cpu_operands");
    for unit in CpuUnit::ALL.into_iter().filter(|&unit| is_arm(unit)) {
        for i in 0..count {
            let distribution = i as usize % DISTRIBUTIONS.len();
            let mut operands = draw(&mut random, unit, distribution, unit.products());
            operands.control = fpcr(&mut random, unit);
            if unit.name().contains("mopa") {
                mask(&mut random, &mut operands);
            }
            println!("{operands}");
        }
    }
}

//! Tiles decoded once give what one element at a time gives, for every instruction of the table.

use sparse_oracle::Precision;
use sparse_oracle::arithmetic::Architecture;
use sparse_oracle::model::tensor_core::table::ROWS;
use sparse_oracle::model::tensor_core::{Line, TensorCore};

/// Counter-based random words.
fn word(seed: u64) -> u64 {
    let mut z = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Random bits: uniform ones (every seventh line), else exponents near the middle, with zeros.
fn bits(seed: u64, line: u64, precision: Precision) -> u64 {
    let spec = precision.spec();
    let random = word(seed);
    let mask = u64::MAX >> (64 - spec.storage_bits);
    if line.is_multiple_of(7) {
        return random & mask;
    }
    if random >> 60 == 0 {
        return 0;
    }
    let fraction = if precision == Precision::Tf32 {
        23
    } else {
        spec.significand - 1
    };
    let field = (1 - spec.emin) as u64 - 3 + (random >> 50) % 6;
    let sign = (random >> 40 & 1) << (spec.storage_bits - 1);
    sign | field << fraction | random & ((1 << fraction) - 1)
}

#[test]
fn lines_give_what_single_elements_give() {
    let mut compared = 0;
    for row in ROWS {
        for instruction in row.instructions() {
            let architecture = row.architectures[0];
            let core = TensorCore::new(architecture, instruction).expect("a row of the table");
            compared += compare(&core);
        }
    }
    assert!(compared > 20_000, "only {compared} outputs");
    assert!(
        ROWS.iter()
            .any(|row| row.architectures.contains(&Architecture::Sm90))
    );
}

fn compare(core: &TensorCore) -> usize {
    let (path, products) = (core.datapath(), core.products());
    let order = path.order(products);
    let input = core.instruction().input;
    let mut lines = [Line::new(input), Line::new(input)];
    let mut gathered = Line::new(input);
    for trial in 0..400u64 {
        let seed = trial << 8;
        let operands: [Vec<u64>; 2] = [0, 1].map(|side| {
            (0..products as u64)
                .map(|i| bits(seed + 2 * i + side, trial + side, input))
                .collect()
        });
        let acc = bits(seed + 255, trial, core.instruction().acc);
        for (line, values) in lines.iter_mut().zip(&operands) {
            line.load(order.iter().map(|&i| values[i]));
        }
        // Gathering in reversed order twice is the line itself.
        let reversed: Vec<usize> = (0..products).rev().collect();
        gathered.gather(&lines[1], &reversed);
        let mut again = Line::new(input);
        again.gather(&gathered, &reversed);
        let expected = core
            .apply(acc, &operands[0], &operands[1])
            .expect("full operands");
        for b in [&lines[1], &again] {
            let got = path.element(acc, &lines[0], b);
            assert_eq!(
                got,
                expected,
                "{} trial {trial}: {got:#x} {expected:#x}",
                core.instruction()
            );
        }
    }
    400
}

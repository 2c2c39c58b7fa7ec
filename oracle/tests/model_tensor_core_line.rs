//! Tiles decoded once give what one element at a time gives, for every instruction of the table.

use sparse_oracle::Precision;
use sparse_oracle::arithmetic::Architecture;
use sparse_oracle::model::tensor_core::table::ROWS;
use sparse_oracle::model::tensor_core::{Datapath, FinalRounding, FusedSum, Line, TensorCore};

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
    let fraction = if precision == Precision::Tf32 { 23 } else { spec.significand - 1 };
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
    assert!(ROWS.iter().any(|row| row.architectures.contains(&Architecture::Sm90)));
}

fn compare(core: &TensorCore) -> usize {
    let (path, products) = (core.datapath(), core.products());
    let order = path.order(products);
    let input = core.instruction().input;
    let mut lines = [Line::new(input, &path), Line::new(input, &path)];
    let mut gathered = Line::new(input, &path);
    for trial in 0..400u64 {
        let seed = trial << 8;
        let operands: [Vec<u64>; 2] = [0, 1].map(|side| {
            (0..products as u64).map(|i| bits(seed + 2 * i + side, trial + side, input)).collect()
        });
        let acc = bits(seed + 255, trial, core.instruction().acc);
        for (line, values) in lines.iter_mut().zip(&operands) {
            line.load(order.iter().map(|&i| values[i]));
        }
        // Gathering in reversed order twice is the line itself.
        let reversed: Vec<usize> = (0..products).rev().collect();
        gathered.gather(&lines[1], &reversed);
        let mut again = Line::new(input, &path);
        again.gather(&gathered, &reversed);
        let expected = core.apply(acc, &operands[0], &operands[1]).expect("full operands");
        for b in [&lines[1], &again] {
            let got = path.element(acc, &lines[0], b);
            assert_eq!(got, expected, "{} trial {trial}: {got:#x} {expected:#x}", core.instruction());
        }
    }
    400
}

/// What an H200 returned on 2026-11-21 for mixed fp8 types, which it computes with its f16 unit: E4M3 times E5M2 reaches exponents at
/// which a subnormal of E4M3, left as it is, cut bits that the hardware keeps. Converted to f16 first it is a normal number.
#[test]
fn fp8_for_the_f16_unit_is_converted_first() {
    let words = |text: &str| -> Vec<u64> {
        let parse = |word: &str| u64::from_str_radix(word, 16).expect("hexadecimal");
        text.split(' ').map(parse).collect()
    };
    let f32_sum = (FinalRounding::F32TowardZero, -133);
    let f16_sum = (FinalRounding::F16NearestEven, -21);
    use Precision::{E4m3, E5m2};
    for (types, (output, zero_exponent), a, b, acc, device) in [
        (
            [E4m3, E5m2],
            f32_sum,
            "d 9f 2 9 5 81 98 1 1 8a 9a 1 1 15 81 2 89 8f 14 5 14 9a 1 b 99 8e 1 99 93 94 9b 1f",
            "c6 cd 2a d3 53 53 5e 52 a8 e5 c6 75 e8 cd b7 65 6a b5 bd ae 34 2b e0 d4 65 26 23 6a ae ee a2 26",
            0x8043_88ad,
            0xc1f9_bf32,
        ),
        (
            [E4m3, E5m2],
            f32_sum,
            "3 84 3 3 5 82 90 2 86 7 9b f c 11 9a 81",
            "3c 4c f6 21 33 f0 3e b5 b2 4f de 64 e5 5a 60 ec",
            0x8000_06d6,
            0xc2d0_0f60,
        ),
        (
            [E5m2, E4m3],
            f16_sum,
            "3d 35 1d de 4d 32 20 64 10 97 b3 76 55 a7 98 87",
            "90 90 f9 3 38 1 62 81 f8 9d 56 1 1 82 81 96",
            0x81bc,
            0x5373,
        ),
        (
            [E4m3, E5m2],
            f32_sum,
            "0 80 80 80 80 0 82 80 0 0 0 0 0 80 b 80 88 80 0 80 80 80 0 80 80 0 84 80 1 8d 7 83",
            "84 0 7 f9 85 80 0 80 80 f3 85 78 3 0 0 0 80 72 1 80 f3 80 80 1 81 82 80 80 f3 85 1 80",
            0x8000_0001,
            0xc1df_ffff,
        ),
    ] {
        let path = Datapath::HalfPairs(FusedSum { fraction: 25, products: 16, zero_exponent, output });
        let line = |precision, text: &str| {
            let values = words(text);
            let mut line = Line::new(precision, &path);
            line.load(path.order(values.len()).into_iter().map(|i| values[i]));
            line
        };
        let found = path.element(acc, &line(types[0], a), &line(types[1], b));
        assert_eq!(found, device, "{a}: {found:#x} {device:#x}");
    }
}

//! Recordings: names, registers, what is refused, and that one wrong bit is found.

use sparse_oracle::Precision::{self, F16, F32, F64};
use sparse_oracle::arithmetic::{Architecture, Engine, Instruction};
use sparse_oracle::format::SparseMma;
use sparse_oracle::model::ModelError;
use sparse_oracle::model::recording::{Recording, RecordingError, RecordingName};
use sparse_oracle::model::tensor_core::fragment::Fragment;
use sparse_oracle::model::tensor_core::sparse::{select, selected_rows};
use sparse_oracle::model::tensor_core::table::ROWS;
use sparse_oracle::source::random::Random;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn committed(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data/silicon").join(name)
}

fn bytes(name: &str) -> Vec<u8> {
    std::fs::read(committed(name)).expect("a committed recording")
}

fn parse(name: &str, bytes: &[u8]) -> Result<Recording, RecordingError> {
    Recording::from_bytes(RecordingName::parse(name)?, bytes)
}

/// Each place once.
fn is_bijection(places: impl Iterator<Item = (usize, usize)>, (rows, cols): (usize, usize)) -> bool {
    let all: Vec<_> = places.collect();
    let distinct: BTreeSet<_> = all.iter().copied().collect();
    all.len() == rows * cols
        && distinct.len() == all.len()
        && distinct.iter().all(|&(i, j)| i < rows && j < cols)
}

fn lanes_and(lanes: usize, count: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..lanes).flat_map(move |lane| (0..count).map(move |i| (lane, i)))
}

#[test]
fn fragments_hold_each_element_once() {
    let mut described = 0;
    for row in ROWS {
        for mut instruction in row.instructions() {
            if instruction.engine == Engine::Wgmma {
                instruction.n = 40;
            }
            let Ok(fragment) = Fragment::of(instruction) else {
                continue;
            };
            described += 1;
            let (m, n, k) = (instruction.m.into(), instruction.n.into(), instruction.k.into());
            let lanes = fragment.lanes();
            let a = lanes_and(lanes, fragment.a_len()).map(|(lane, i)| fragment.a(lane, i));
            assert!(is_bijection(a, (m, instruction.products())), "A of {instruction}");
            let c = lanes_and(lanes, fragment.c_len()).map(|(lane, i)| fragment.c(lane, i));
            assert!(is_bijection(c, (m, n)), "C of {instruction}");
            if instruction.engine != Engine::Wgmma {
                let b = lanes_and(lanes, fragment.b_len()).map(|(lane, i)| fragment.b(lane, i));
                assert!(is_bijection(b, (k, n)), "B of {instruction}");
            }
        }
    }
    assert!(described > 50, "{described} instructions");
}

/// Sparse A is dense A of half the k; the 2:4 format has its own account of the lanes.
#[test]
fn sparse_fragments_are_those_of_the_format() {
    for (mma, input, k) in [
        (SparseMma::HalfK16, F16, 16),
        (SparseMma::HalfK32, F16, 32),
        (SparseMma::Tf32K8, Precision::Tf32, 8),
        (SparseMma::Tf32K16, Precision::Tf32, 16),
    ] {
        let instruction = Instruction::mma((16, 8, k), F32, input).engine(Engine::MmaSparse);
        let fragment = Fragment::of(instruction).expect("described");
        for (lane, i) in lanes_and(32, fragment.a_len()) {
            assert_eq!(fragment.a(lane, i), mma.a_of_lane(lane, i));
        }
        for (lane, i) in lanes_and(32, fragment.b_len()) {
            assert_eq!(fragment.b(lane, i), mma.b_of_lane(lane, i));
        }
        for (lane, i) in lanes_and(32, 4) {
            assert_eq!(fragment.c(lane, i), mma.c_of_lane(lane, i));
        }
    }
}

/// Pictures of PTX ISA, sections 9.7.14.5.8 and 9.7.15.5.1: some places of m16n8k16 f16, m16n8k32 fp8 and wgmma.
#[test]
fn fragments_by_hand() {
    let of = |text: &str| Fragment::of(text.parse().expect("an instruction")).expect("described");
    let half = of("mma.m16n8k16.f32.f16");
    assert_eq!([half.a(0, 0), half.a(0, 2), half.a(0, 4), half.a(31, 7)], [(0, 0), (8, 0), (0, 8), (15, 15)]);
    assert_eq!([half.b(0, 1), half.b(1, 2), half.b(4, 0)], [(1, 0), (10, 0), (0, 1)]);
    assert_eq!([half.c(5, 0), half.c(5, 3)], [(1, 2), (9, 3)]);
    let byte = of("mma.m16n8k32.f32.e4m3");
    assert_eq!([byte.a(1, 3), byte.a(1, 4), byte.a(1, 8)], [(0, 7), (8, 4), (0, 20)]);
    assert_eq!([byte.b(1, 3), byte.b(1, 4)], [(7, 0), (20, 0)]);
    let group = of("wgmma.m64n16k16.f32.f16");
    assert_eq!([group.a(33, 0), group.c(33, 2), group.c(33, 5)], [(16, 2), (24, 2), (16, 11)]);
    assert!(matches!(
        Fragment::of("mma.m8n8k4.f32.f16".parse().expect("an instruction")),
        Err(ModelError::NoFragment { .. })
    ));
}

#[test]
fn names_say_device_and_instruction() {
    for (name, architecture, instruction, selector) in [
        ("h200_f16_k8.bin", Some(Architecture::Sm90), "mma.m16n8k8.f32.f16", 0),
        ("a100_f16acc_k16.bin", Some(Architecture::Sm80), "mma.m16n8k16.f16.f16", 0),
        ("l40s_e4m3_f16acc_k32.bin", Some(Architecture::Sm89), "mma.m16n8k32.f16.e4m3", 0),
        ("h100_sptf32_k16_s1.bin", Some(Architecture::Sm90), "mma.sp.m16n8k16.f32.tf32", 1),
        ("h200_wg_e5m2_k32.bin", Some(Architecture::Sm90), "wgmma.m64n8k32.f32.e5m2", 0),
        ("sm100_f64_m8n8k4.bin", Some(Architecture::Sm100), "mma.m8n8k4.f64.f64", 0),
        ("h300_bf16_k16.bin", None, "mma.m16n8k16.f32.bf16", 0),
    ] {
        let parsed = RecordingName::parse(name).expect(name);
        assert_eq!(parsed.architecture, architecture, "{name}");
        assert_eq!((parsed.instruction.to_string().as_str(), parsed.selector), (instruction, selector));
    }
    for wrong in [
        "",
        ".bin",
        "h200.bin",
        "h200_f16_k16",
        "h200_f16.bin",
        "h200_f17_k16.bin",
        "h200_f16_k0.bin",
        "h200_f16_k99999999.bin",
        "h200_f16_k16_s0.bin",
        "h200_spf16_k32_s4.bin",
        "h200_spf16_k32_s1_s1.bin",
        "_f16_k16.bin",
        "h200_wg.bin",
    ] {
        assert!(matches!(RecordingName::parse(wrong), Err(RecordingError::Name { .. })), "{wrong}");
    }
}

#[test]
fn what_is_no_recording_is_refused() {
    let good = bytes("h200_f16_k8.bin");
    let name = "h200_f16_k8.bin";
    assert!(matches!(parse(name, &[]), Err(RecordingError::Length { bytes: 0, .. })));
    for cut in [1, 4, good.len() - 4, good.len() - 1] {
        assert!(matches!(parse(name, &good[..cut]), Err(RecordingError::Length { .. })), "{cut}");
    }
    // Selector 1 of the longer k is the last.
    assert!(matches!(
        parse("h200_spf16_k32_s2.bin", &bytes("h200_spf16_k32_s1.bin")),
        Err(RecordingError::Name { .. })
    ));
    for name in
        ["h200_f32_k8.bin", "v100_f16_m8n8k4.bin", "h200_wg_f16_m64n16k16.bin", "h200_spe4m3_k64_s0.bin"]
    {
        let refused = parse(name, &good).expect_err(name);
        assert!(matches!(refused, RecordingError::Model(ModelError::NoFragment { .. })), "{name}: {refused}");
    }
    assert!(matches!(Recording::read(Path::new("nowhere/h200_f16_k8.bin")), Err(RecordingError::Read(_))));
    let ada = parse("l40s_wg_f16_k16.bin", &bytes("h200_wg_f16_k16.bin")).expect("well formed");
    assert!(matches!(ada.check(Architecture::Sm89), Err(ModelError::NoSuchInstruction { .. })));
}

/// One bit of D: exactly that output is not predicted, and it is named.
#[test]
fn one_wrong_bit_is_found() {
    for (name, d_words) in
        [("h200_f16_k8.bin", 128), ("h200_f16acc_k16.bin", 64), ("h200_wg_e4m3_k32.bin", 512)]
    {
        let mut bytes = bytes(name);
        let recording = parse(name, &bytes).expect("well formed");
        let clean = recording.check(Architecture::Sm90).expect("on Hopper");
        assert_eq!(clean.predicted, clean.outputs);
        // Word 3 of the last group: register 0, lane 3 holds row 0, columns 6 and 7.
        let at = bytes.len() - 4 * (d_words - 3);
        bytes[at] ^= 1;
        let broken = parse(name, &bytes).expect("well formed").check(Architecture::Sm90).expect("on Hopper");
        assert_eq!(broken.predicted, broken.outputs - 1, "{name}");
        let (sample, bits) = broken.first.expect("one is wrong");
        assert_eq!((sample.group, sample.row, sample.col), (recording.groups() - 1, 0, 6), "{name}");
        assert_eq!(sample.d ^ bits, 1);
    }
}

#[test]
fn the_nearest_architecture_is_the_one_that_recorded() {
    for name in ["h200_f16_k16.bin", "h200_tf32_k8.bin", "h200_spf16_k32_s0.bin"] {
        let recording = parse(name, &bytes(name)).expect("well formed");
        let (architecture, check) = recording.nearest().expect("legal").expect("somebody has it");
        assert_eq!((architecture, check.predicted), (Architecture::Sm90, check.outputs), "{name}");
        let ampere = recording.check(Architecture::Sm80).expect("Ampere has it, too");
        assert!(
            ampere.predicted < ampere.outputs && ampere.predicted > ampere.outputs / 10,
            "{name}: {}",
            ampere.predicted
        );
    }
}

#[test]
fn metadata_that_does_not_ascend_is_refused() {
    let column: Vec<u64> = (0..16).collect();
    let half = SparseMma::HalfK16;
    assert_eq!(select(half, &[0b0100, 0b1110, 0b1001, 0b1100], &column), Ok(vec![0, 1, 6, 7, 9, 10, 12, 15]));
    assert_eq!(selected_rows(SparseMma::Tf32K8, &[0b0100, 0b1110]), Ok(vec![0, 3]));
    for nibble in 0..=16 {
        let legal = [0b0100, 0b1000, 0b1100, 0b1001, 0b1101, 0b1110].contains(&nibble);
        let found = selected_rows(half, &[0b0100, nibble]);
        assert_eq!(found.is_ok(), legal, "{nibble:#b}");
        if !legal {
            assert_eq!(found, Err(ModelError::Metadata { chunk: 1, nibble }));
        }
        let tf32 = selected_rows(SparseMma::Tf32K8, &[nibble]).is_ok();
        assert_eq!(tf32, [0b0100, 0b1110].contains(&nibble));
    }
    assert!(matches!(select(half, &[0b0100], &column), Err(ModelError::Column { expected: 4, found: 16 })));
    // In a recording: all metadata words zero, so that both indices are 0.
    let name = "h200_spf16_k32_s1.bin";
    let mut bytes = bytes(name);
    let words = 8 * 32 * 4;
    let from = bytes.len() - words;
    bytes[from..].fill(0);
    let refused = parse(name, &bytes).expect("well formed").check(Architecture::Sm90);
    assert!(matches!(refused, Err(ModelError::Metadata { chunk: 0, nibble: 0 })));
}

/// A recording of f64 made by hand: A row g, k = t; B k = t, column g; C row g, columns 2t and 2t + 1; low word first.
#[test]
fn f64_takes_two_registers() {
    let mut random = Random::new(3, "model_recording f64");
    let mut draw = || f64::from_bits(random.bits() >> 12 | 0x3ff0_0000_0000_0000) - 1.5;
    let a: Vec<f64> = (0..32).map(|_| draw()).collect();
    let b: Vec<f64> = (0..32).map(|_| draw()).collect();
    let c: Vec<f64> = (0..64).map(|_| draw()).collect();
    let d = |row: usize, col: usize| {
        (0..4).fold(c[row * 8 + col], |acc, k| a[row * 4 + k].mul_add(b[k * 8 + col], acc))
    };
    let mut words: Vec<u32> = Vec::new();
    let mut registers = |value: &dyn Fn(usize) -> f64| {
        words.extend((0..32).map(|lane| value(lane).to_bits() as u32));
        words.extend((0..32).map(|lane| (value(lane).to_bits() >> 32) as u32));
    };
    registers(&|lane| a[lane]);
    registers(&|lane| b[lane % 4 * 8 + lane / 4]);
    registers(&|lane| c[lane / 4 * 8 + lane % 4 * 2]);
    registers(&|lane| c[lane / 4 * 8 + lane % 4 * 2 + 1]);
    registers(&|lane| d(lane / 4, lane % 4 * 2));
    registers(&|lane| d(lane / 4, lane % 4 * 2 + 1));
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let recording = parse("a100_f64_m8n8k4.bin", &bytes).expect("well formed");
    assert_eq!(recording.name().instruction.acc, F64);
    let check = recording.check(Architecture::Sm80).expect("on Ampere");
    assert_eq!((check.outputs, check.predicted), (64, 64));
}

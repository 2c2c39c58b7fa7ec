//! The line of a pattern: round trips, refusals, limits, pinned fingerprints, the quick enumeration.

use sparse_oracle::source::generator::{
    DEFAULT_LIMIT, FAMILIES, Family, ParamKind, fingerprint, quick_specs,
};
use sparse_oracle::source::random::fnv1a;
use sparse_oracle::source::{SourceError, SourceSpec};
use std::collections::{BTreeMap, BTreeSet};

fn parse(line: &str) -> Result<SourceSpec, SourceError> {
    line.parse()
}

#[test]
fn the_table_is_in_the_order_of_the_enum() {
    for (at, info) in FAMILIES.iter().enumerate() {
        assert_eq!(info.family as usize, at, "{}", info.name);
        let keys: BTreeSet<_> = info.params.iter().map(|p| p.key).collect();
        assert_eq!(keys.len(), info.params.len(), "{}", info.name);
        assert!(info.params.iter().all(|p| (p.low..=p.high).contains(&p.default)));
        let of_table = |p: &sparse_oracle::source::generator::Param| p.kind == ParamKind::Matrix;
        assert!(!info.params.iter().skip(1).any(of_table), "a published matrix comes first");
    }
}

#[test]
fn defaults_and_quick_specs_survive_printing() {
    let defaults = FAMILIES.iter().map(|info| SourceSpec::new(info.family, 3));
    for spec in defaults.chain((0..200).flat_map(quick_specs)) {
        assert_eq!(parse(&spec.to_string()), Ok(spec), "{spec}");
    }
}

#[test]
fn order_and_defaults_do_not_matter_when_parsing() {
    let short = parse("uniform:density=0.25,seed=7").unwrap();
    assert_eq!(parse("uniform:seed=7,cols=32,density=0.250000,rows=32"), Ok(short));
    assert_eq!(short.to_string(), "uniform:density=0.25,seed=7");
    assert_eq!(parse("rmat").unwrap().to_string(), "rmat:seed=0");
    assert_eq!(parse("synth:scircuit").unwrap().to_string(), "synth:scircuit,seed=0");
    assert_eq!(parse("synth:cant,rows=100,seed=2").unwrap().to_string(), "synth:cant,rows=100,seed=2");
    assert_eq!(parse("diagonal:shift=-3").unwrap().get("shift"), Some(-3));
}

#[test]
fn broken_lines_are_refused_with_the_reason() {
    type Is = fn(&SourceError) -> bool;
    let cases: &[(&str, Is)] = &[
        ("", |e| matches!(e, SourceError::UnknownFamily { .. })),
        ("unifrom:rows=3", |e| matches!(e, SourceError::UnknownFamily { found, .. } if found == "unifrom")),
        ("uniform:row=3", |e| matches!(e, SourceError::UnknownKey { key, .. } if key == "row")),
        ("uniform:rows=3,rows=4", |e| matches!(e, SourceError::RepeatedKey { .. })),
        ("uniform:rows", |e| matches!(e, SourceError::NotAPair { .. })),
        ("uniform:rows=3,", |e| matches!(e, SourceError::NotAPair { .. })),
        ("uniform:rows=x", |e| matches!(e, SourceError::NotANumber { .. })),
        ("uniform:rows=99999999999999999999", |e| matches!(e, SourceError::NotANumber { .. })),
        ("uniform:rows=-1", |e| matches!(e, SourceError::OutOfBounds { .. })),
        ("uniform:rows=4294967296", |e| matches!(e, SourceError::OutOfBounds { .. })),
        ("uniform:density=1.000001", |e| matches!(e, SourceError::OutOfBounds { .. })),
        ("uniform:density=0.0000001", |e| matches!(e, SourceError::NotANumber { .. })),
        ("uniform:density=1e-3", |e| matches!(e, SourceError::NotANumber { .. })),
        ("uniform:density=.5", |e| matches!(e, SourceError::NotANumber { .. })),
        ("uniform:density=-0.5", |e| matches!(e, SourceError::NotANumber { .. })),
        ("uniform:seed=-1", |e| matches!(e, SourceError::NotANumber { .. })),
        ("synth:", |e| matches!(e, SourceError::UnknownMatrix { .. })),
        ("synth:seed=1", |e| matches!(e, SourceError::UnknownMatrix { .. })),
        ("synth:nosuch,seed=1", |e| matches!(e, SourceError::UnknownMatrix { .. })),
        ("block:block=0", |e| matches!(e, SourceError::OutOfBounds { .. })),
    ];
    for (line, expected) in cases {
        let error = parse(line).unwrap_err();
        assert!(expected(&error), "\"{line}\" gave: {error}");
    }
    let conflicts = ["nm:n=5,m=4", "stencil:points=6", "stencil:nx=99999,ny=99999", "rmat:a=0.6,b=0.4,c=0.1"];
    for line in conflicts {
        let error = parse(line).unwrap().generate().unwrap_err();
        assert!(matches!(error, SourceError::Conflict { .. }), "{line} gave: {error}");
    }
}

#[test]
fn nothing_is_allocated_past_the_limit() {
    let lines = [
        "uniform:rows=4294967295,cols=4294967295,density=1",
        "dense:rows=4294967295,cols=4294967295",
        "zero:rows=4294967295",
        "rmat:scale=31,edges=1048576",
        "stencil:nx=1000000,ny=1000",
        "circuit:rows=1,offdiag=4294967295",
        "empty:cols=4294967295,density=0",
        "nm:m=4294967295,n=4294967295,cols=4294967295",
        "zipf:cols=4294967295,longest=4294967295",
        "lengths:tile=1073741824,cols=4294967295",
        "borders:rows=4294967295,cols=4294967295,entries=1",
        "borders:rows=65536,cols=65536,entries=4294967295",
        "longrows:rows=1,cols=4294967295,length=4294967295",
        "longrows:rows=4294967295,singles=0",
        "collide:cols=4294967295,slots=1,length=4294967295",
        "pairs:cols=4294967295,pairs=4294967295",
    ];
    for line in lines {
        let error = parse(line).unwrap().generate().unwrap_err();
        assert!(matches!(error, SourceError::TooLarge { .. }), "{line} gave: {error}");
    }
    let spec = parse("dense:rows=10,cols=10").unwrap();
    assert!(spec.generate_within(111).is_ok());
    assert!(matches!(spec.generate_within(110), Err(SourceError::TooLarge { needed: 111, .. })));
    // Wide and empty is legal and cheap.
    let wide = parse("uniform:rows=3,cols=4294967295,density=0.000001").unwrap().generate().unwrap();
    assert_eq!(wide.nnz(), 12_884);
    assert!(parse("zero:rows=5,cols=4294967295").unwrap().generate().is_ok());
    let far = parse("borders:rows=3,cols=4294967295,entries=70").unwrap().generate().unwrap();
    assert_eq!(far.nnz(), 70);
    assert!(parse("nm:rows=9,cols=4294967295,n=0,m=1").unwrap().generate().is_ok());
    assert!(parse("lp:rows=9,cols=4294967295,column=0,dense=0").unwrap().generate().is_ok());
    const { assert!(DEFAULT_LIMIT < 1 << 32) };
}

/// Every combination of the lowest, default and highest value of all parameters: answered, quickly, within the limit.
#[test]
fn every_corner_of_the_parameters_is_answered() {
    const LIMIT: u64 = 20_000;
    let (mut made, mut refused, mut conflicts) = (0, 0, 0);
    for info in &FAMILIES {
        let mut specs = vec![SourceSpec::new(info.family, u64::MAX)];
        for param in info.params {
            let values = [param.low, param.default, param.high];
            specs = specs
                .into_iter()
                .flat_map(|spec| values.map(|value| spec.with(param.key, value).unwrap()))
                .collect();
        }
        for spec in specs {
            assert_eq!(parse(&spec.to_string()), Ok(spec), "{spec}");
            match spec.generate_within(LIMIT) {
                Ok(matrix) => {
                    let shape = spec.shape().unwrap();
                    assert!(matrix.nnz() as u128 <= shape.nnz_at_most, "{spec}");
                    made += 1;
                }
                Err(SourceError::TooLarge { .. }) => refused += 1,
                Err(SourceError::Conflict { .. }) => conflicts += 1,
                Err(other) => panic!("{spec}: {other}"),
            }
        }
    }
    assert!(made > 300 && refused > 300 && conflicts > 100, "{made} {refused} {conflicts}");
}

#[test]
fn one_spec_gives_one_matrix() {
    for index in 0..20 {
        for spec in quick_specs(index) {
            assert_eq!(spec.generate().unwrap(), spec.generate().unwrap(), "{spec}");
        }
    }
}

/// A change here changes what a case line means: bump the version of the lines.
#[test]
fn every_family_keeps_its_fingerprint() {
    let found: Vec<(&str, u64)> =
        FAMILIES.iter().map(|info| (info.name, of_three_seeds(info.family))).collect();
    let changed: Vec<_> = found.iter().filter(|one| !PINS.contains(one)).collect();
    assert!(changed.is_empty(), "changed: {changed:#x?}");
}

fn of_three_seeds(family: Family) -> u64 {
    (1..=3).fold(0, |sum: u64, seed| {
        let spec = SourceSpec::new(family, seed);
        let spec = if family == Family::Synth { spec.with("rows", 500).unwrap() } else { spec };
        sum.rotate_left(21) ^ fingerprint(&spec.generate().unwrap())
    })
}

/// A change here changes which cases a plan enumerates.
#[test]
fn the_quick_enumeration_keeps_its_fingerprint() {
    let of_first = |families: usize| {
        let specs = (0..50).flat_map(|index| quick_specs(index).into_iter().take(families));
        let lines = specs.map(|spec| format!("{spec}\n"));
        fnv1a(lines.flat_map(String::into_bytes))
    };
    // Families were appended since; the specs of the first twenty stayed what they were.
    assert_eq!(of_first(20), QUICK_PIN_OF_TWENTY);
    assert_eq!(of_first(FAMILIES.len()), QUICK_PIN);
}

const PINS: &[(&str, u64)] = &[
    ("uniform", 0x339a_159b_a88a_711e),
    ("banded", 0x4f25_d69d_0b3c_8768),
    ("block", 0x675b_bfdd_6724_2cc1),
    ("rmat", 0x9ff0_ba2d_0e93_b899),
    ("zipf", 0xe22a_89b0_f978_e236),
    ("stencil", 0x7c15_c5bf_e29b_9833),
    ("circuit", 0xf73d_5cc3_6800_642d),
    ("lp", 0xe031_c343_6154_0f0d),
    ("nm", 0x2bbe_8027_9db8_a99e),
    ("empty", 0xebdf_b24e_19ed_8300),
    ("dense_row", 0xe6eb_9840_3cef_0889),
    ("dense", 0x42e2_79e1_8983_465f),
    ("diagonal", 0xff45_82aa_757c_065f),
    ("permutation", 0x12a2_578c_94be_f010),
    ("arrow", 0x9bb8_6906_af00_2142),
    ("corners", 0x2d54_9f50_dbf3_f24a),
    ("lengths", 0xf36d_b2ca_6be2_1c9d),
    ("tails", 0x80bb_e541_b1a2_5b24),
    ("zero", 0x0eb6_4787_1179_8017),
    ("synth", 0xeb60_aae9_2969_80a9),
    ("borders", 0x72e6_997a_a5e4_4760),
    ("longrows", 0x9ee6_a2bf_e5bf_4fc9),
    ("collide", 0x6c33_004b_72c6_b33f),
    ("pairs", 0xd1c6_3313_ed39_9af9),
];
const QUICK_PIN_OF_TWENTY: u64 = 0xc33d_224b_9ca7_4a90;
const QUICK_PIN: u64 = 0x0e2e_a790_d9ad_e776;

#[test]
fn quick_specs_vary_and_stay_small() {
    let mut seen = BTreeSet::new();
    let mut shapes: BTreeMap<&str, BTreeSet<(usize, usize, usize)>> = BTreeMap::new();
    for index in 0..300 {
        let specs = quick_specs(index);
        assert_eq!(specs.len(), FAMILIES.len());
        for (spec, info) in specs.iter().zip(&FAMILIES) {
            assert_eq!(spec.family(), info.family);
            assert!(seen.insert(spec.to_string()), "{spec} is repeated");
            let matrix = spec.generate().unwrap();
            let widest = match info.name {
                "longrows" | "collide" => 1100,
                "borders" => 257,
                _ => 256,
            };
            assert!(matrix.rows <= 257 && matrix.cols <= widest, "{spec}");
            shapes.entry(info.name).or_default().insert((matrix.rows, matrix.cols, matrix.nnz()));
        }
    }
    for (name, shapes) in shapes {
        let enough = if matches!(name, "zero") { 30 } else { 60 };
        assert!(shapes.len() >= enough, "{name}: only {} shapes in 300", shapes.len());
        let has_empty = shapes.iter().any(|&(rows, cols, _)| rows == 0 || cols == 0);
        assert!(has_empty || matches!(name, "rmat" | "synth" | "tails"), "{name} never has an empty side");
    }
}

//! Seed corpora and dictionaries of the targets that read text.

use super::text::DRAFT;
use flate2::Compression;
use flate2::write::GzEncoder;
use sparse_conformance_core::case::Fault;
use sparse_conformance_core::keys::{self, KEYS};
use sparse_conformance_core::right::Right;
use sparse_conformance_core::sequence::After;
use sparse_oracle::contract::{Contract, Op, all_contracts};
use sparse_oracle::source::generator::quick_spec;
use sparse_oracle::source::matrix_market::{write_matrix_market_csr, write_matrix_market_pattern};
use sparse_oracle::source::smtx::write_smtx;
use sparse_oracle::source::values::VALUE_FAMILIES;
use sparse_oracle::source::{FAMILIES, Random, embedded};
use sparse_oracle::{Precision, format::FormatKind};
use std::io::Write;

/// Longest file of the embedded pack that is a seed.
const SMALL: usize = 2000;

/// Banners and bodies that no writer here produces.
const TEXTS: [&str; 14] = [
    "%%MatrixMarket matrix coordinate real symmetric\n% a comment\n\n3 3 2\n1 1 4.0\n3 1 -0.5\n",
    "%%MatrixMarket matrix coordinate integer skew-symmetric\n3 3 2\n2 1 7\n3 2 -9223372036854775808\n",
    "%%MatrixMarket matrix coordinate unsigned-integer general\n2 2 1\n1 2 18446744073709551615\n",
    "%%MatrixMarket matrix coordinate pattern symmetric\n4 4 3\n1 1\n2 1\n4 3\n",
    "%%MatrixMarket matrix coordinate double hermitian\n2 2 1\n2 1 1e-320\n",
    "%%MatrixMarket matrix array real general\n2 2\n1.5\n-0\n0\n4e300\n",
    "%%MatrixMarket matrix array integer symmetric\n2 2\n1\n2\n3\n",
    "%%MatrixMarket matrix array real skew-symmetric\n3 3\n1\n2\n3\n",
    "%%matrixmarket MATRIX Coordinate Real General\n2 3 4\n1 1 nan\n2 3 -inf\n1 2 +Infinity\n1 1 1\n",
    "%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 0\n",
    "%%MatrixMarket matrix coordinate real general\n4294967295 4294967295 1\n4294967295 1 1\n",
    "%%MatrixMarket matrix coordinate real general\n2 2 4000000000\n1 1 1\n",
    "3, 4, 5\n0 2 3 5\n0 3 1 0 2\n",
    "%%MatrixMarket vector coordinate real general\n3 1\n2 1.0\n",
];

/// Bytes from which text is drafted.
fn drafts(count: u64, len: usize) -> impl Iterator<Item = Vec<u8>> {
    (0..count).map(move |turn| {
        let mut random = Random::new(turn, "fuzz drafts");
        let rest = (1..len).map(|_| random.below(256) as u8);
        std::iter::once(turn as u8 % DRAFT).chain(rest).collect()
    })
}

pub(super) fn mtx_parse() -> Vec<Vec<u8>> {
    let mut seeds: Vec<Vec<u8>> = TEXTS.iter().map(|text| text.as_bytes().to_vec()).collect();
    seeds.extend(drafts(24, 80));
    let files = embedded::all().iter().map(embedded::Embedded::bytes);
    seeds.extend(files.filter(|bytes| bytes.len() <= SMALL).map(<[u8]>::to_vec));
    for (i, info) in FAMILIES.iter().enumerate() {
        let Ok(pattern) = quick_spec(info.family, i as u64).generate() else {
            continue;
        };
        let mut value = 0;
        let numbers = pattern.map(|()| {
            value += 1;
            f64::from(value) / 8.0
        });
        let mut text = Vec::new();
        let written = match i % 4 {
            0 => write_smtx(&pattern, &mut text),
            1 => write_matrix_market_pattern(&pattern, &mut text),
            _ => write_matrix_market_csr(&numbers, &mut text),
        };
        if written.is_ok() && text.len() <= SMALL {
            seeds.push(text);
        }
    }
    let gzip = |text: &str| {
        let mut out = GzEncoder::new(Vec::new(), Compression::best());
        // Writing to memory does not fail; a seed less would be seen in the committed corpus.
        let _ = out.write_all(text.as_bytes());
        out.finish().unwrap_or_default()
    };
    seeds.extend([TEXTS[0], TEXTS[12]].map(gzip));
    seeds
}

pub(super) fn mtx_parse_words() -> Vec<String> {
    let words = "%%MatrixMarket matrix coordinate array real double integer unsigned-integer pattern complex general \
                 symmetric skew-symmetric hermitian nan inf -inf infinity 1e308 1e-324 4294967295 18446744073709551616 %";
    words.split_whitespace().map(str::to_owned).collect()
}

/// One line for each operation and format: sources, values, parameters and faults in turn.
pub(super) fn case_line() -> Vec<Vec<u8>> {
    let mut seeds: Vec<Vec<u8>> = drafts(24, 24).collect();
    let drafted = seeds.len();
    let mut last = None;
    for (i, contract) in all_contracts().iter().enumerate() {
        let group = (contract.op, contract.format, contract.to);
        if last.replace(group) == Some(group) {
            continue;
        }
        let turn = seeds.len() - drafted;
        let source = match turn % 8 {
            0 => "embedded:karate".to_owned(),
            1 => "file:[../a folder/m.mtx]".to_owned(),
            _ => quick_spec(FAMILIES[turn % FAMILIES.len()].family, turn as u64).to_string(),
        };
        let values = match turn % 4 {
            0 => "own",
            _ => VALUE_FAMILIES[turn % VALUE_FAMILIES.len()].name,
        };
        let line = format!("{contract}/{source}/values={values},{i}{}", extras(contract, turn));
        let parameters = keys::parameters().filter(|p| contract.reads(p));
        let line = parameters
            .fold(line, |line, p| format!("{line}/{}={}", p.name, p.samples[turn % p.samples.len()]));
        seeds.push(line.into_bytes());
    }
    seeds
}

/// Parameters that an operation has, without those that this contract does not read.
fn extras(contract: &Contract, turn: usize) -> String {
    let of = EXTRAS.iter().find(|of| of.0 == contract.op).map_or(&[""][..], |of| of.1);
    let parts = of[turn % of.len()].split('/').filter(|part| !part.is_empty());
    let read = parts.filter(|part| keys::is_read(keys::name_of(part), contract));
    read.map(|part| format!("/{part}")).collect()
}

const MOVES: &[&str] = &["", "/dups", "/block=1x8", "/unpruned"];

/// An operation that is not here has none.
const EXTRAS: [(Op, &[&str]); 6] = [
    (
        Op::Spmm,
        &[
            "/n=33/beta=1/ldc=+2",
            "/n=5/alpha=-2/beta=0.5/ta/tb/lb=col/lc=col/ldb=+3",
            "/fault=alpha-nan",
            "/block=3x5/n=1",
            "/alpha=0/beta=-1/fault=small-ldc",
        ],
    ),
    (Op::Spmv, &["/ta/alpha=3/beta=2", "/fault=short-output", ""]),
    (Op::Sddmm, &["/n=16/mode=scale", "/n=0/mode=add-s/alpha=0.5/beta=-2"]),
    (Op::Spgemm, &["/n=17", "/fault=inner-shape"]),
    (Op::Transpose, MOVES),
    (Op::Convert, MOVES),
];

pub(super) fn case_line_words() -> Vec<String> {
    let mut words: Vec<String> =
        "embedded: file:[ ]/ /values= own, seed= rows= cols= 65536 1e308 0x -0 =+ =col =none scale add-s"
            .split_whitespace()
            .map(str::to_owned)
            .collect();
    words.extend(KEYS.iter().map(|key| match key.unit {
        "" => format!("/{}", key.name),
        _ => format!("/{}=", key.name),
    }));
    words.extend(keys::parameters().map(|parameter| format!("/{}=", parameter.name)));
    words.extend(After::ALL.iter().map(|after| after.name().to_owned()));
    words.extend(Right::ALL.iter().map(|right| right.1.to_owned()));
    words.extend(Op::ALL.iter().map(|op| format!("{}.", op.name())));
    words.extend(FormatKind::ALL.iter().map(|kind| format!("{}.", kind.name())));
    words.extend(Precision::ALL.iter().map(|precision| precision.name().to_owned()));
    words.extend(FAMILIES.iter().map(|info| format!("{}:", info.name)));
    words.extend(VALUE_FAMILIES.iter().map(|info| format!("{},", info.name)));
    words.extend(Fault::ALL.iter().map(|fault| fault.1.to_owned()));
    words
}

//! `conformance inspect --formats`: rows, numbers against hand computation, refusals, JSON, the page.
//!
//! The matrix of most tests: 20 x 12, rows 0 (columns 1 3 9), 2 (0 3 11), 7 (2 4 5 6 7), 9 (3 4), 17 (11).

use crate::cli;
use sparse_oracle::prelude::*;

use cli::{Ran, run_in};
use serde_json::Value;
use sparse_conformance::inspect::Variant;
use sparse_conformance::inspect::map::{BESIDE, Grid, draw};
use sparse_oracle::format::{Entries, Entry, FormatKind, FormatParams, Sparse};
use std::path::Path;

const PICTURE: &str = "%%MatrixMarket matrix coordinate real general\n20 12 14\n\
    1 2 1\n1 4 2\n1 10 3\n3 1 4\n3 4 0\n3 12 6\n8 3 7\n8 5 8\n8 6 9\n8 7 10\n8 8 11\n10 4 12\n10 5 13\n18 12 14\n";

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("own.mtx"), PICTURE).expect("written");
    folder
}

fn inspect(at: &Path, args: &[&str]) -> Ran {
    let ran = run_in(at, &[&["inspect"], args].concat());
    assert_eq!(ran.code, 0, "{args:?}: {}", ran.err);
    ran
}

fn json(at: &Path, args: &[&str]) -> Value {
    let ran = inspect(at, &[args, &["--json"]].concat());
    serde_json::from_str(&ran.out).expect("nothing but JSON")
}

/// The row of a format with these parameters, not the pruned one.
fn row<'a>(survey: &'a Value, format: &str, parameters: &str) -> &'a Value {
    let rows = survey["formats"].as_array().expect("an array");
    let wanted = |r: &&Value| r["format"] == format && r["parameters"] == parameters && r["pruned"] == false;
    rows.iter().find(wanted).unwrap_or_else(|| panic!("no row {format} {parameters}"))
}

/// Index bytes, value bytes, slots, pads.
fn sizes(row: &Value) -> [u64; 4] {
    let number = |key: &str| row["encoded"][key].as_u64().unwrap_or_else(|| panic!("{key}: {row}"));
    [number("index_bytes"), number("value_bytes"), number("slots"), number("pads")]
}

/// By hand: COO 2 words per entry; CSR 21 + 14 words; BCSR of 4 x 4 blocks: 6 offsets, and a block for each of (0, 0),
/// (0, 2), (1, 0), (1, 1), (2, 0), (2, 1), (4, 2); ELL 20 rows of 5; TCF 21 + 3 * 14 + 2 words; ME-TCF 3 + 4 + 24
/// words and 14 bytes; BitTCF 4 + 5 + 32 words and 4 double words; balanced variants a word per block.
#[test]
fn sizes_are_those_computed_by_hand() {
    let folder = folder();
    let survey = json(folder.path(), &["own.mtx"]);
    for (format, parameters, expected) in [
        ("coo", "", [112, 56, 14, 0]),
        ("csr", "", [140, 56, 14, 0]),
        ("csc", "", [(13 + 14) * 4, 56, 14, 0]),
        // The explicit zero counts as a pad there.
        ("bcsr", "", [(6 + 7) * 4, 7 * 16 * 4, 7 * 16, 7 * 16 - 13]),
        ("ell", "", [400, 400, 100, 86]),
        ("tcf", "", [260, 56, 14, 0]),
        ("me_tcf", "", [138, 56, 14, 0]),
        ("me_tcf", "balanced=1", [150, 56, 14, 0]),
        ("bit_tcf", "", [196, 56, 14, 0]),
        ("bit_tcf", "balanced=1", [212, 56, 14, 0]),
    ] {
        assert_eq!(sizes(row(&survey, format, parameters)), expected, "{format} {parameters}");
    }
    let bit = &row(&survey, "bit_tcf", "")["encoded"];
    assert_eq!(bit["index_to_coo"].as_f64(), Some(196.0 / 112.0));
    assert_eq!(bit["total_to_coo"].as_f64(), Some((196.0 + 56.0) / 168.0));
    assert_eq!(row(&survey, "bcsr", "")["encoded"]["lost_zeros"], 1);
    assert_eq!((&survey["rows"], &survey["entries"]), (&Value::from(20), &Value::from(14)));
}

/// 4 blocks in 3 windows of 8 rows, 3 blocks in 2 windows of 16.
#[test]
fn tiles_are_those_counted_by_hand() {
    let folder = folder();
    let survey = json(folder.path(), &["own.mtx"]);
    for (format, shape, count, windows) in
        [("bit_tcf", (8, 8), 4.0, 3.0), ("me_tcf", (16, 8), 3.0, 2.0), ("tcf", (16, 8), 3.0, 2.0)]
    {
        let tiles = &row(&survey, format, "")["encoded"]["tiles"];
        assert_eq!((tiles["height"].as_u64(), tiles["width"].as_u64()), (Some(shape.0), Some(shape.1)));
        assert_eq!((tiles["count"].as_f64(), tiles["windows"].as_f64()), (Some(count), Some(windows)));
        let area = (shape.0 * shape.1) as f64;
        assert_eq!(tiles["density"].as_f64(), Some(14.0 / (count * area)), "{format}");
        assert_eq!(tiles["per_tile"].as_f64(), Some(14.0 / count), "{format}");
        assert_eq!(tiles["per_window"].as_f64(), Some(14.0 / windows), "{format}");
    }
}

/// Blocks of BitTCF counted from the edges of karate's graph, without the format.
#[test]
fn karate_agrees_with_a_count_of_its_columns() {
    let at = std::env::temp_dir();
    let survey = json(&at, &["embedded:karate"]);
    let coo = sparse_oracle::source::embedded::read("karate").expect("embedded").coo;
    let mut columns = vec![std::collections::BTreeSet::new(); 34usize.div_ceil(8)];
    for entry in coo.entries().list {
        columns[entry.row as usize / 8].insert(entry.col);
    }
    let blocks: u64 = columns.iter().map(|set| set.len().div_ceil(8) as u64).sum();
    let words = (columns.len() as u64 + 1) + (blocks + 1) + 8 * blocks;
    assert_eq!(sizes(row(&survey, "bit_tcf", "")), [4 * words + 8 * blocks, 4 * 156, 156, 0]);
    assert_eq!(sizes(row(&survey, "csr", "")), [4 * (35 + 156), 4 * 156, 156, 0]);
    assert_eq!(sizes(row(&survey, "coo", "")), [8 * 156, 4 * 156, 156, 0]);
}

#[test]
fn f16_halves_the_values_and_leaves_the_indices() {
    let folder = folder();
    let (wide, narrow) =
        (json(folder.path(), &["own.mtx"]), json(folder.path(), &["own.mtx", "--values", "f16"]));
    for format in ["coo", "csr", "bcsr", "bit_tcf"] {
        let ([index, values, ..], [same, half, ..]) =
            (sizes(row(&wide, format, "")), sizes(row(&narrow, format, "")));
        assert_eq!((index, values), (same, 2 * half), "{format}");
    }
    let share = row(&narrow, "bit_tcf", "")["encoded"]["total_to_coo"].as_f64();
    assert_eq!(share, Some((196.0 + 28.0) / (112.0 + 28.0)));
}

/// Whatever a format says, it has a row; numbers agree with one another; a structured format that refuses is followed by
/// the pruned matrix.
#[test]
fn every_format_has_a_row_that_adds_up() {
    let survey = json(&std::env::temp_dir(), &["embedded:west0067"]);
    let entries = survey["entries"].as_u64().expect("a count");
    let rows = survey["formats"].as_array().expect("an array");
    for kind in FormatKind::ALL {
        let of_kind: Vec<&Value> = rows.iter().filter(|r| r["format"] == kind.name()).collect();
        assert!(!of_kind.is_empty(), "{kind:?}");
        for row in &of_kind {
            let Some(reason) = row["refused"].as_str() else {
                let n = |key: &str| row["encoded"][key].as_u64().expect(key);
                assert_eq!(n("index_bytes") + n("value_bytes"), n("total_bytes"), "{row}");
                assert_eq!(n("entries") + n("pads"), n("slots"), "{row}");
                assert!(row["pruned"] == true || n("entries") + n("lost_zeros") == entries, "{row}");
                let split = &row["encoded"]["split"];
                if split.is_object() {
                    let parts = split["tensor"].as_u64().zip(split["cuda"].as_u64()).map(|(t, c)| t + c);
                    assert_eq!(parts, Some(n("entries")), "{row}");
                }
                continue;
            };
            assert!(!reason.is_empty());
            let followed = of_kind.iter().any(|r| r["pruned"] == true);
            assert_eq!(followed, kind.is_structured(), "{kind:?}");
        }
    }
    let shown: Vec<&Value> = rows.iter().filter(|r| r["pruned"] == false).collect();
    assert_eq!(
        shown.len(),
        FormatKind::ALL.len() + 2,
        "the balanced variants are the only ones beside the formats"
    );
}

#[test]
fn parameters_are_set_and_shown() {
    let folder = folder();
    let survey = json(folder.path(), &["own.mtx", "--set", "block_rows=2", "--set", "block_cols=3"]);
    let bcsr = row(&survey, "bcsr", "block_rows=2,block_cols=3");
    // Blocks (0, 0) (0, 1) (0, 3), (1, 0) (1, 1) (1, 3), (3, 0) (3, 1) (3, 2), (4, 1), (8, 3).
    assert_eq!(sizes(bcsr), [(11 + 11) * 4, 11 * 6 * 4, 66, 66 - 13]);
    let survey = json(folder.path(), &["own.mtx", "--set", "balanced=1"]);
    assert_eq!(sizes(row(&survey, "bit_tcf", "balanced=1"))[0], 212);
    let survey = json(folder.path(), &["own.mtx", "--set", "block_rows=0"]);
    assert_eq!(row(&survey, "bcsr", "block_rows=0")["refused"], "block_rows is 0, must be at least 1");
}

#[test]
fn the_text_holds_the_same_numbers() {
    let folder = folder();
    let ran = inspect(folder.path(), &["own.mtx", "--formats"]);
    let line = |start: &str| {
        let found = ran.out.lines().find(|line| line.trim_start().starts_with(start));
        let words = found.unwrap_or_else(|| panic!("no line {start}: {}", ran.out)).split_whitespace();
        words.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(line("bit_tcf "), ["bit_tcf", "196", "1.750", "252", "1.500", "14", "0"]);
    assert_eq!(line("me_tcf balanced=1 ")[2..], ["150", "1.339", "206", "1.226", "14", "0"]);
    assert_eq!(line("bit_tcf 8x8 ")[2..], ["4", "3", "5.5", "%", "3.50", "4.67", "14", "-"]);
    assert!(ran.out.contains("20 x 12"), "the description of the matrix comes first: {}", ran.out);
    assert!(!inspect(folder.path(), &["own.mtx"]).out.contains("bit_tcf"), "only on demand");
}

/// What is too large for a format is refused in its row, and costs nothing else.
#[test]
fn a_long_row_in_a_tall_matrix_is_refused_by_the_padded_formats_only() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut text = format!("%%MatrixMarket matrix coordinate pattern general\n{} 512 512\n", 1 << 21);
    for column in 1..=512 {
        text += &format!("1 {column}\n");
    }
    std::fs::write(folder.path().join("tall.mtx"), text).expect("written");
    let survey = json(folder.path(), &["tall.mtx"]);
    let refused = &row(&survey, "ell", "")["refused"];
    assert_eq!(refused, "slots is 1073741824, the limit is 268435456");
    assert_eq!(sizes(row(&survey, "bit_tcf", ""))[2..], [512, 0]);
    let ran = inspect(folder.path(), &["tall.mtx", "--formats"]);
    assert!(ran.out.contains("refused: slots is 1073741824, the limit is 268435456"), "{}", ran.out);
}

#[test]
fn matrices_without_entries_have_numbers_and_no_shares() {
    for spec in ["uniform:rows=0,cols=0,seed=0", "uniform:rows=30,cols=9,density=0,seed=0"] {
        let survey = json(&std::env::temp_dir(), &[spec]);
        let coo = &row(&survey, "coo", "")["encoded"];
        assert_eq!((coo["total_bytes"].as_u64(), coo["total_to_coo"].is_null()), (Some(0), true), "{spec}");
        let tiles = &row(&survey, "bit_tcf", "")["encoded"]["tiles"];
        assert_eq!((tiles["count"].as_u64(), tiles["density"].is_null()), (Some(0), true), "{spec}");
        let folder = tempfile::tempdir().expect("a temporary folder");
        inspect(folder.path(), &[spec, "--html", "empty.html"]);
    }
}

#[test]
fn the_page_loads_nothing_and_shows_every_format() {
    let folder = folder();
    let ran = inspect(folder.path(), &["own.mtx", "--html", "page.html"]);
    assert!(ran.out.contains("bit_tcf"), "the text comes too");
    let page = std::fs::read_to_string(folder.path().join("page.html")).expect("written");
    for kind in FormatKind::ALL {
        assert!(page.contains(&format!("<th scope=\"row\">{}", kind.name())), "{kind:?}");
    }
    for needle in ["file:[own.mtx]", "default-src 'none'", "<path class=\"k", "balanced=1", "196", "1.750"] {
        assert!(page.contains(needle), "{needle}");
    }
    for outside in ["<script", "src=", "http:", "https:", "@import"] {
        assert!(!page.contains(outside), "{outside}");
    }
}

#[test]
fn names_in_the_page_are_escaped() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("<b>&.mtx"), PICTURE).expect("written");
    inspect(folder.path(), &["<b>&.mtx", "--html", "page.html"]);
    let page = std::fs::read_to_string(folder.path().join("page.html")).expect("written");
    assert!(page.contains("&lt;b&gt;&amp;.mtx") && !page.contains("<b>&"));
}

#[test]
fn bad_options_exit_2_and_are_named() {
    let folder = folder();
    for (args, words) in [
        (&["own.mtx", "--formats", "--values", "f65"][..], &["f65", "f16"][..]),
        (&["own.mtx", "--formats", "--set", "kb"], &["\"kb\"", "NAME=NUMBER"]),
        (&["own.mtx", "--formats", "--set", "kb=many"], &["kb=many", "NAME=NUMBER"]),
        (&["own.mtx", "--formats", "--set", "nosuch=1"], &["nosuch", "block_rows", "balanced"]),
        (&["own.mtx", "--html", "absent/x.html"], &["absent/x.html"]),
        (&["absent.mtx", "--json"], &["absent.mtx", "No such file"]),
    ] {
        let ran = run_in(folder.path(), &[&["inspect"], args].concat());
        assert_eq!(ran.code, 2, "{args:?}: {}", ran.out);
        for word in words {
            assert!(ran.err.contains(word), "{args:?} says nothing of {word:?}: {}", ran.err);
        }
    }
}

/// Two windows: eight full columns (density 1), then one entry in a block of its own (1/64).
#[test]
fn a_map_shows_density_where_the_entries_are() {
    let mut list = Vec::new();
    for row in 0..8 {
        list.extend((0..8).map(|col| Entry { row, col, value: 1.0f32 }));
    }
    list.push(Entry { row: 12, col: 15, value: 1.0 });
    let entries = Entries::try_new(16, 16, list).expect("sorted");
    let params = FormatParams::default();
    let kind = FormatKind::BitTcf;
    let matrix = Sparse::from_entries(kind, params, &entries).expect("encodes");
    let map = draw(&matrix, Variant { kind, params }).expect("has entries");
    let mut cells = vec![0; 256];
    for row in 0..8 {
        cells[16 * row..16 * row + 8].fill(5);
    }
    cells[12 * 16 + 15] = 1;
    assert_eq!(map.plane, Grid { width: 16, height: 16, cells });
    assert_eq!((map.squeezed.width, map.squeezed.height, map.longest), (8, 2, 1));
    assert_eq!((map.squeezed.cells[0], map.squeezed.cells[8], map.squeezed.cells[1]), (5, 1, 0));
    assert_eq!(map.beside, [0.0, 0.0]);
    assert!(map.plane.cells.iter().all(|&class| class < BESIDE));
    let paths = map.plane.paths();
    assert_eq!(paths[0], (1, "M15 12h1v1h-1z".to_owned()));
    assert!(paths[1].1.starts_with("M0 0h8v1h-8zM0 1h8v1h-8z"), "{}", paths[1].1);
    let csr = Sparse::from_entries(FormatKind::Csr, params, &entries).expect("encodes");
    assert!(draw(&csr, Variant { kind, params }).is_none());
}

/// 1000 x 1000 with 8 entries per row: pictures stay small and nothing is lost at the edges.
#[test]
fn large_maps_are_downsampled() {
    let list = (0..1000u32)
        .flat_map(|row| (0..8).map(move |i| Entry { row, col: (row + 125 * i) % 1000, value: 1.0f32 }));
    let mut list: Vec<_> = list.collect();
    list.sort_by_key(|e| (e.row, e.col));
    let entries = Entries::try_new(1000, 1000, list).expect("sorted");
    let (kind, params) = (FormatKind::BitTcf, FormatParams::default());
    let matrix = Sparse::from_entries(kind, params, &entries).expect("encodes");
    let map = draw(&matrix, Variant { kind, params }).expect("has entries");
    assert_eq!((map.plane.width, map.plane.height), (128, 128));
    assert_eq!((map.squeezed.width, map.squeezed.height, map.longest), (8, 125, 8));
    // Eight bands, of which the first starts and ends in corners.
    let corners = [0, 127, 127 * 128, 128 * 128 - 1].map(|at| map.plane.cells[at]);
    assert!(corners[0] > 0 && corners[3] > 0, "{corners:?}");
    assert!(map.squeezed.cells.iter().all(|&class| class > 0));
}

/// By hand: vectors of the 8-row windows hold 1 entry, but for column 3 of the first, which holds 2; 10, 2 and 1 vectors.
/// SDDMM: one block per window, of 8 + 10, 8 + 2 and 4 + 1 rows and columns.
#[test]
fn costs_are_those_counted_by_hand() {
    let folder = folder();
    let costs = |args: &[&str]| json(folder.path(), args)["costs"]["counted"].clone();
    let row = |costs: &Value, op: usize, mode: usize| {
        let row = &costs[op]["modes"][mode];
        let number = |key: &str| row[key].as_u64().expect("a count");
        (number("tensor"), number("blocks"), row["utilisation"].as_f64(), number("access"))
    };
    let default = costs(&["own.mtx"]);
    assert_eq!((&default[0]["op"], &default[1]["op"]), (&"spmm".into(), &"sddmm".into()));
    assert_eq!(row(&default, 0, 0), (0, 0, None, 14));
    assert_eq!(row(&default, 0, 1), (14, 4, Some(14.0 / 256.0), 13));
    assert_eq!(row(&default, 0, 2), (0, 0, None, 14));
    assert_eq!(row(&default, 1, 0), (0, 0, None, 28));
    assert_eq!(row(&default, 1, 1), (14, 3, Some(14.0 / 384.0), 18 + 10 + 5));
    assert_eq!(row(&default, 1, 2), (0, 0, None, 28));
    let two = costs(&["own.mtx", "--set", "eta=32"]);
    assert_eq!(row(&two, 0, 0), (2, 1, Some(2.0 / 64.0), 13));
    let ratio = two[0]["modes"][0]["access_to_cuda"].as_f64();
    assert_eq!(ratio, Some(13.0 / 14.0));
    let refused = json(folder.path(), &["own.mtx", "--set", "eta=200"]);
    assert_eq!(refused["costs"]["refused"], "eta is 200, the limit is 128");
    assert_eq!(row_of(&refused, "libra_spmm")["refused"], "eta is 200, the limit is 128");
}

fn row_of<'a>(survey: &'a Value, format: &str) -> &'a Value {
    let rows = survey["formats"].as_array().expect("an array");
    rows.iter().find(|r| r["format"] == format).expect("a row")
}

/// Schedules and formats count the same work.
#[test]
fn costs_and_partitions_agree_with_the_formats() {
    for (matrix, kb) in
        [("embedded:karate", "kb=8"), ("embedded:west0067", "kb=4"), ("embedded:bfwa62", "kb=16")]
    {
        let survey = json(&std::env::temp_dir(), &[matrix, "--set", kb, "--set", "tau=3"]);
        for (op, format) in [(0, "libra_spmm"), (1, "libra_sddmm")] {
            let hybrid = &survey["costs"]["counted"][op]["modes"][0];
            let encoded = &row_of(&survey, format)["encoded"];
            assert_eq!(hybrid["tensor"], encoded["split"]["tensor"], "{matrix} {format}");
            assert_eq!(hybrid["cuda"], encoded["split"]["cuda"], "{matrix} {format}");
            assert_eq!(hybrid["blocks"], encoded["tiles"]["count"], "{matrix} {format}");
            assert_eq!(hybrid["utilisation"], encoded["tiles"]["density"], "{matrix} {format}");
        }
        let step = &survey["partitions"][3]["as_described"];
        let tiles = &row_of(&survey, "rs_tile")["encoded"]["tiles"];
        assert_eq!(
            (&step["per_tile"], &step["per_window"]),
            (&tiles["per_tile"], &tiles["per_window"]),
            "{matrix}"
        );
    }
}

/// Libra, at two entries per vector: the full column is in a block, the others are beside it.
#[test]
fn a_map_shows_what_lies_beside_the_blocks() {
    let at = |row, col| Entry { row, col, value: 1.0f32 };
    let mut list: Vec<_> = (0..8).map(|row| at(row, 2)).collect();
    list.push(at(1, 0));
    list.push(at(9, 5));
    list.sort_by_key(|e| (e.row, e.col));
    let entries = Entries::try_new(16, 8, list).expect("sorted");
    let params = FormatParams { eta: Some(32), ..FormatParams::default() };
    for (kind, beside) in [(FormatKind::LibraSpmm, [1.0 / 9.0, 1.0]), (FormatKind::BitTcf, [0.0, 0.0])] {
        let matrix = Sparse::from_entries(kind, params, &entries).expect("encodes");
        let map = draw(&matrix, Variant { kind, params }).expect("has entries");
        let class = |row: usize, col: usize| map.plane.cells[8 * row + col];
        // 8 or 9 of 64 positions: from 1/8.
        assert_eq!((class(0, 2), class(7, 2)), (3, 3), "{kind:?}");
        let expected = if kind == FormatKind::LibraSpmm { (BESIDE, BESIDE) } else { (3, 1) };
        assert_eq!((class(1, 0), class(9, 5)), expected, "{kind:?}");
        assert_eq!(map.beside, beside, "{kind:?}");
    }
}

/// 2:4 and its relatives refuse karate and take what pruning leaves of it.
#[test]
fn structured_formats_are_measured_on_the_pruned_matrix() {
    let survey = json(&std::env::temp_dir(), &["embedded:karate"]);
    let rows = survey["formats"].as_array().expect("an array");
    for kind in FormatKind::ALL.into_iter().filter(|kind| kind.is_structured()) {
        let of: Vec<&Value> = rows.iter().filter(|r| r["format"] == kind.name()).collect();
        assert_eq!(of.len(), 2, "{kind:?}");
        let reason = of[0]["refused"].as_str().expect("a reason");
        assert!(reason.contains("prune the matrix first"), "{reason}");
        let kept = of[1]["encoded"]["entries"].as_u64().expect("a count");
        assert!(0 < kept && kept < 156, "{kind:?}: {kept}");
        let coo = 8.0 * kept as f64;
        let index = of[1]["encoded"]["index_bytes"].as_f64().expect("bytes");
        assert_eq!(of[1]["encoded"]["index_to_coo"].as_f64(), Some(index / coo), "{kind:?}");
    }
    assert_eq!(row_of(&survey, "two_four")["values"], "tf32");
}

/// 20 x 12 is not square: multiplied by its transpose. By hand: columns hold 1 to 3 entries, so 1 + 4 + 4 + .. products.
#[test]
fn iops_prints_partition_traffic_and_cycles() {
    let folder = folder();
    let ran = inspect(folder.path(), &["own.mtx", "--iops", "--columns", "5"]);
    let line = |name: &str| -> Vec<u64> {
        let lines: Vec<&str> = ran.out.lines().filter(|line| line.trim_start().starts_with(name)).collect();
        assert_eq!(lines.len(), 2, "{name}: SSMM and SDMM in\n{}", ran.out);
        let number = |line: &str| {
            let first = line.trim_start()[name.len()..].split_whitespace().next();
            first.and_then(|cell| cell.replace(',', "").parse().ok()).expect("a number")
        };
        lines.into_iter().map(number).collect()
    };
    // Entries of columns 0 to 11: 1 1 1 3 2 1 1 1 0 1 0 2.
    assert_eq!(line("products"), [1 + 1 + 1 + 9 + 4 + 1 + 1 + 1 + 1 + 4, 14 * 5]);
    assert_eq!(line("entries of C")[1], 20 * 5);
    assert!(ran.out.contains("SSMM by its transpose") && ran.out.contains("DRAM traffic saved"));
    let ran =
        inspect(folder.path(), &["own.mtx", "--iops", "--by", "uniform:rows=12,cols=7,density=1,seed=1"]);
    assert!(ran.out.contains("SSMM by uniform:"), "{}", ran.out);
    let ran = run_in(folder.path(), &["inspect", "own.mtx", "--by", "own.mtx"]);
    assert_ne!(ran.code, 0, "--by says nothing without --iops");
}

/// A dense operand of 272 GB was allocated before anybody looked at its size, and a wider one overflowed.
#[test]
fn iops_refuses_a_dense_operand_that_is_too_large() {
    let folder = folder();
    for columns in ["1000000000", "542551296285575048", "18446744073709551615"] {
        let ran = run_in(folder.path(), &["inspect", "own.mtx", "--iops", "--columns", columns]);
        assert_eq!(ran.code, 2, "{columns}: {}{}", ran.out, ran.err);
        assert!(ran.err.contains("--columns"), "{columns}: {}", ran.err);
    }
}

/// By name, with exit code 2: sizes of zero, a field that is too narrow, a tile without room, what is no parameter.
#[test]
fn iops_refuses_a_machine_by_its_parameter() {
    let folder = folder();
    for (set, named) in [
        ("buffer_a=0", "buffer_a"),
        ("buffer_b=0", "buffer_b"),
        ("psum=0", "psum"),
        ("groups_b=0", "groups_b"),
        ("buffer_a=1", "buffer_a"),
        ("groups_a=65", "groups_a"),
        ("reserve=100", "reserve"),
        ("buffer_b=16", "buffer_b (a tile of B in each half)"),
        ("buffers=16", "'buffers'; it has groups_a, groups_b, buffer_a"),
        ("buffer_a=many", "'buffer_a=many' is not NAME=NUMBER"),
        ("buffer_a=4294967296", "below 2^32"),
        ("buffer_a", "'buffer_a' is not NAME=NUMBER"),
    ] {
        let ran = run_in(folder.path(), &["inspect", "own.mtx", "--iops", "--machine", set]);
        assert_eq!(ran.code, 2, "{set}: {}{}", ran.out, ran.err);
        assert!(ran.err.contains(named), "{set}: {}", ran.err);
    }
    let ran = inspect(
        folder.path(),
        &["own.mtx", "--iops", "--machine", "groups_a=4", "--machine", "clock_mhz=500"],
    );
    assert!(ran.out.contains("4 x 8 elements, 500 MHz"), "{}", ran.out);
}

//! Bugs that look at addresses: silent on arrays that begin at a border of 64 bytes, wrong one element past it.

use sparse_conformance::backend::Backend;
use sparse_conformance::selftest::{Seeded, bugs};
use sparse_oracle::contract::Contract;
use sparse_oracle::format::{AnySparse, Entries, Entry, FormatKind, FormatParams, Layout, Sparse};
use sparse_oracle::prelude::*;
use sparse_oracle::scalar::{AnySlice, AnySliceMut};
use sparse_oracle::task::{DenseMut, DenseRef, Task};

const N: usize = 8;
const ROWS: usize = 6;

/// Numbers of which the one at `begin` lies `past` elements behind a border of 64 bytes.
struct Placed {
    data: Vec<f32>,
    begin: usize,
}

impl Placed {
    fn new(past: usize, len: usize, number: impl Fn(usize) -> f32) -> Placed {
        let mut data = vec![0.0; len + 32];
        let aligned = data.as_ptr().align_offset(64);
        let begin = aligned + past;
        (0..len).for_each(|i| data[begin + i] = number(i));
        Placed { data, begin }
    }

    fn slice(&self, len: usize) -> &[f32] {
        &self.data[self.begin..self.begin + len]
    }
}

fn matrix() -> AnySparse {
    let at = |row: u32, col: u32| Entry { row, col, value: 1.0 + row as f32 + 8.0 * col as f32 };
    let list = (0..ROWS as u32).flat_map(|row| (0..ROWS as u32).map(move |col| at(row, col)));
    let entries = Entries { rows: ROWS, cols: ROWS, list: list.collect() };
    Sparse::from_entries(FormatKind::Csr, FormatParams::default(), &entries)
        .map(AnySparse::from)
        .expect("a full matrix")
}

/// What a kernel leaves in C (y for SpMV), B and C beginning so many elements past a border.
fn result(kernel: &Seeded, op: &str, past: usize) -> Vec<u32> {
    let contract = Contract::from_name(&format!("{op}.csr.f32_f32_f32_f32")).expect("in the table");
    let n = if op == "spmv" { 1 } else { N };
    let b = Placed::new(past, ROWS * n, |i| 0.5 + i as f32);
    let mut c = Placed::new(past, ROWS * n, |i| 1000.0 + i as f32);
    let (a, begin) = (matrix(), c.begin);
    let (data, out) =
        (AnySlice::F32(b.slice(ROWS * n)), AnySliceMut::F32(&mut c.data[begin..begin + ROWS * n]));
    let layout = Layout::RowMajor;
    let (rows, cols, ld) = (ROWS, n, n);
    let task = if op == "spmv" {
        Task::Spmv { a: &a, transpose_a: false, x: data, alpha: 2.0, beta: 1.0, y: out }
    } else {
        Task::Spmm {
            a: &a,
            transpose_a: false,
            b: DenseRef { rows, cols, ld, layout, data },
            transpose_b: false,
            alpha: 2.0,
            beta: 1.0,
            c: DenseMut { rows, cols, ld, layout, data: out },
        }
    };
    kernel.run(&contract, task).expect("a legal request");
    c.slice(ROWS * n).iter().map(|v| v.to_bits()).collect()
}

#[test]
fn bugs_of_alignment_show_past_a_border_and_not_on_it() {
    for (name, op) in [
        ("align: B rounded down to 16 bytes", "spmm"),
        ("align: B rounded down to 32 bytes", "spmm"),
        ("align: B rounded down to 64 bytes", "spmm"),
        ("align: C rounded down to 16 bytes", "spmm"),
        ("align: peeled one too few", "spmm"),
        ("align: unaligned x ignores alpha", "spmv"),
        ("align: unaligned B ignores beta", "spmm"),
    ] {
        let bug = bugs().find(|bug| bug.name == name).expect("a row of the catalogue");
        for past in [0, 1, 3] {
            let (sick, control) = (Seeded::sick(bug), Seeded::control(bug));
            let same = result(&sick, op, past) == result(&control, op, past);
            assert_eq!(same, past == 0, "{name}, {past} elements past a border");
        }
    }
}

/// Four elements of a float past a border of 64 bytes are on one of 16, and not on one of 32.
#[test]
fn borders_of_16_bytes_are_told_from_those_of_32() {
    for (name, shows) in [
        ("align: B rounded down to 16 bytes", false),
        ("align: B rounded down to 32 bytes", true),
        ("align: B rounded down to 64 bytes", true),
    ] {
        let bug = bugs().find(|bug| bug.name == name).expect("a row of the catalogue");
        let (sick, control) = (Seeded::sick(bug), Seeded::control(bug));
        assert_eq!(result(&sick, "spmm", 4) != result(&control, "spmm", 4), shows, "{name}");
    }
}

//! Does the judge see what goes wrong in the formats of the papers? Encoders and decoders with one known bug each.
//!
//! Run with `--nocapture` for the table: bug, verdicts, cases until the first.

use sparse_conformance::backend::{Backend, Failure, Portable, Support};
use sparse_conformance::case::{Case, Params};
use sparse_conformance::plan::{Options, plan};
use sparse_conformance::report::VerdictRecord;
use sparse_conformance::runner::run_case;
use sparse_oracle::contract::{Contract, Op};
use sparse_oracle::each_parts;
use sparse_oracle::format::{AnyParts, FieldMut, Fields, FormatKind, FormatParams, PAD};
use sparse_oracle::task::{Answer, RawSparse, Task};
use std::collections::BTreeMap;

/// Cases of a contract that a bug is given before it counts as missed.
const SLICE: usize = 160;

/// What a bug does to the honest kernel.
enum Effect {
    /// Changes the encoding.
    Parts(fn(&mut AnyParts)),
    /// Encodes with other parameters than asked for; told the number of rows.
    Params(fn(&mut FormatParams, usize)),
    /// Changes the CSR that a decoder returns.
    Csr(fn(&mut RawSparse)),
}

struct Bug {
    name: &'static str,
    format: FormatKind,
    effect: Effect,
    /// What the mismatch may be called.
    verdicts: &'static [&'static str],
}

impl Backend for Bug {
    fn name(&self) -> &'static str {
        self.name
    }

    fn version(&self) -> String {
        "0".to_owned()
    }

    fn description(&self) -> &'static str {
        "the portable conversions with a bug put in"
    }

    fn support(&self, contract: &Contract, params: &Params) -> Support {
        Portable.support(contract, params)
    }

    fn run(&self, contract: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
        let Task::Convert { a, to, mut params } = task else {
            return Portable.run(contract, task);
        };
        if let Effect::Params(change) = self.effect {
            change(&mut params, a.shape().0);
        }
        let mut answer = Portable.run(contract, Task::Convert { a, to, params })?;
        match (&self.effect, &mut answer) {
            (Effect::Parts(edit), Answer::Parts(parts)) => edit(parts),
            (Effect::Csr(edit), Answer::Sparse(raw)) => edit(raw),
            _ => {}
        }
        Ok(answer)
    }
}

/// Lets `edit` change the u32 array `name`.
fn indices(parts: &mut AnyParts, name: &str, edit: impl FnOnce(&mut Vec<u32>)) {
    each_parts!(parts, p => {
        for (field, value) in p.fields_mut() {
            if let (true, FieldMut::U32(list)) = (field == name, value) {
                return edit(list);
            }
        }
    });
}

/// Lets `edit` change the u64 array `name`.
fn bitmaps(parts: &mut AnyParts, name: &str, edit: impl FnOnce(&mut Vec<u64>)) {
    each_parts!(parts, p => {
        for (field, value) in p.fields_mut() {
            if let (true, FieldMut::U64(list)) = (field == name, value) {
                return edit(list);
            }
        }
    });
}

/// Lets `edit` change the byte array `name`.
fn bytes(parts: &mut AnyParts, name: &str, edit: impl FnOnce(&mut Vec<u8>)) {
    each_parts!(parts, p => {
        for (field, value) in p.fields_mut() {
            if let (true, FieldMut::U8(list)) = (field == name, value) {
                return edit(list);
            }
        }
    });
}

/// Swaps the first two stored values that differ.
fn swap_values(parts: &mut AnyParts, name: &str) {
    each_parts!(parts, p => {
        for (field, value) in p.fields_mut() {
            if let (true, FieldMut::Values(list)) = (field == name, value) {
                let bits = |v| sparse_oracle::Scalar::bits64(v);
                if let Some(at) = list.windows(2).position(|w| bits(w[0]) != bits(w[1])) {
                    list.swap(at, at + 1);
                }
                return;
            }
        }
    });
}

/// Rows and columns of each 8 x 8 block exchanged.
fn transposed(word: u64) -> u64 {
    (0..64)
        .filter(|bit| word >> bit & 1 == 1)
        .map(|bit| 1 << (bit % 8 * 8 + bit / 8))
        .sum()
}

fn drop_last_entry(raw: &mut RawSparse) {
    if let Some(row) = raw.offsets.windows(2).rposition(|w| w[0] < w[1]) {
        for end in &mut raw.offsets[row + 1..] {
            *end -= 1;
        }
        raw.indices.pop();
        let bits: Vec<u64> = (0..raw.values.len() - 1)
            .map(|i| raw.values.as_slice().bits(i))
            .collect();
        raw.values = sparse_oracle::with_scalar!(raw.values.precision(), T => {
            <T as sparse_oracle::scalar::Element>::wrap(
                bits.iter().map(|&b| <T as sparse_oracle::Scalar>::from_bits64(b)).collect(),
            )
        });
    }
}

fn pad_is_column_zero(parts: &mut AnyParts, name: &str) {
    indices(parts, name, |cols| {
        for col in cols.iter_mut().filter(|col| **col == PAD) {
            *col = 0;
        }
    });
}

fn off_by_one(parts: &mut AnyParts, name: &str) {
    indices(parts, name, |list| {
        let inner = list.len().saturating_sub(1);
        for offset in list.iter_mut().take(inner).skip(1) {
            *offset += 1;
        }
    });
}

fn bugs() -> Vec<Bug> {
    use Effect::{Csr, Params, Parts};
    use FormatKind as F;
    const WRONG: &[&str] = &["structure", "pattern", "value"];
    const LAYOUT: &[&str] = &["structure"];
    let bug = |name, format, effect, verdicts| Bug {
        name,
        format,
        effect,
        verdicts,
    };
    vec![
        bug(
            "rs_tile: bitmap by columns",
            F::RsTile,
            Parts(|p| bitmaps(p, "bitmap", |b| b.iter_mut().for_each(|w| *w = transposed(*w)))),
            WRONG,
        ),
        bug(
            "rs_tile: bitmap shifted",
            F::RsTile,
            Parts(|p| bitmaps(p, "bitmap", |b| b.iter_mut().for_each(|w| *w = w.rotate_left(1)))),
            WRONG,
        ),
        bug(
            "rs_tile: popcount prefix off by one",
            F::RsTile,
            Parts(|p| off_by_one(p, "block_value_ptr")),
            WRONG,
        ),
        bug(
            "rs_tile: pad is column 0",
            F::RsTile,
            Parts(|p| pad_is_column_zero(p, "block_col")),
            WRONG,
        ),
        bug(
            "rs_tile: last residual row dropped",
            F::RsTile,
            Parts(|p| {
                indices(p, "residual_row", |rows| {
                    rows.truncate(rows.len().saturating_sub(1));
                });
            }),
            WRONG,
        ),
        bug(
            "rs_tile: windows aligned at 8",
            F::RsTile,
            Parts(|p| indices(p, "window_row", |rows| rows.iter_mut().for_each(|r| *r &= !7))),
            WRONG,
        ),
        bug(
            "rs_tile: no residual part",
            F::RsTile,
            Params(|p, _| p.tau_nnz = Some(0)),
            LAYOUT,
        ),
        bug(
            "rs_tile: impact rule as printed",
            F::RsTile,
            Params(|p, _| p.impact = sparse_oracle::format::ImpactRule::AsPrinted),
            LAYOUT,
        ),
        bug(
            "rs_tile: values swapped",
            F::RsTile,
            Parts(|p| swap_values(p, "values")),
            &["value"],
        ),
        bug(
            "rs_tile: decoder loses the last entry",
            F::RsTile,
            Csr(drop_last_entry),
            &["pattern"],
        ),
        bug(
            "libra_spmm: more than eta, not at least",
            F::LibraSpmm,
            Params(|p, _| p.eta = Some(p.eta.unwrap_or(48).min(112) + 16)),
            LAYOUT,
        ),
        bug(
            "libra_spmm: fill forgotten",
            F::LibraSpmm,
            Params(|p, _| p.fill = false),
            LAYOUT,
        ),
        bug(
            "libra_spmm: blocks of 8 always",
            F::LibraSpmm,
            Params(|p, _| p.kb = 8),
            WRONG,
        ),
        bug(
            "libra_spmm: pad is column 0",
            F::LibraSpmm,
            Parts(|p| pad_is_column_zero(p, "block_col")),
            WRONG,
        ),
        bug(
            "libra_spmm: decoder loses the last entry",
            F::LibraSpmm,
            Csr(drop_last_entry),
            &["pattern"],
        ),
        bug(
            "libra_sddmm: positions in block order",
            F::LibraSddmm,
            Parts(|p| indices(p, "position", |list| list.sort_unstable())),
            WRONG,
        ),
        bug(
            "libra_sddmm: columns sorted by id",
            F::LibraSddmm,
            Parts(|p| {
                indices(p, "block_col", |cols| {
                    cols.chunks_mut(16).for_each(<[u32]>::sort_unstable);
                });
            }),
            WRONG,
        ),
        bug(
            "libra_sddmm: threshold of SpMM",
            F::LibraSddmm,
            Params(|p, _| p.eta = Some(48)),
            LAYOUT,
        ),
        bug(
            "loops: boundary rounded to whole blocks",
            F::Loops,
            Params(|p, rows| {
                let boundary = p.boundary.unwrap_or(rows as u32 / 2);
                p.boundary = Some(boundary - boundary % p.br);
            }),
            WRONG,
        ),
        bug(
            "loops: tile columns shifted",
            F::Loops,
            Parts(|p| {
                indices(p, "block_col", |cols| {
                    if !cols.is_empty() {
                        cols.rotate_left(1);
                    }
                });
            }),
            WRONG,
        ),
        bug(
            "loops: row_ptr[0] never set",
            F::Loops,
            Parts(|p| indices(p, "row_ptr", |ptr| ptr[0] = 1)),
            LAYOUT,
        ),
        bug(
            "loops: decoder loses the last entry",
            F::Loops,
            Csr(drop_last_entry),
            &["pattern"],
        ),
        bug(
            "sr_bcrs: pad is column 0",
            F::SrBcrs,
            Parts(|p| pad_is_column_zero(p, "vector_col")),
            WRONG,
        ),
        bug(
            "sr_bcrs: stride of 1",
            F::SrBcrs,
            Params(|p, _| p.stride = 1),
            LAYOUT,
        ),
        bug(
            "rp_csc: group bitmap shifted",
            F::RpCsc,
            Parts(|p| bitmaps(p, "group_bitmap", |b| b.iter_mut().for_each(|w| *w <<= 1))),
            WRONG,
        ),
        bug(
            "rp_csc: column lengths swapped",
            F::RpCsc,
            Parts(|p| {
                bytes(p, "col_len", |len| {
                    if let Some(at) = len.windows(2).position(|w| w[0] != w[1]) {
                        len.swap(at, at + 1);
                    }
                });
            }),
            WRONG,
        ),
        bug(
            "rp_csc: one group fewer",
            F::RpCsc,
            Params(|p, _| p.groups = (p.groups - 1).max(1)),
            LAYOUT,
        ),
        bug(
            "cp_csr: row lengths swapped",
            F::CpCsr,
            Parts(|p| {
                bytes(p, "row_len", |len| {
                    if let Some(at) = len.windows(2).position(|w| w[0] != w[1]) {
                        len.swap(at, at + 1);
                    }
                });
            }),
            WRONG,
        ),
        bug(
            "cp_csr: decoder loses the last entry",
            F::CpCsr,
            Csr(drop_last_entry),
            &["pattern"],
        ),
        bug(
            "nm: index one too large",
            F::Nm,
            Parts(|p| indices(p, "index", |d| d.iter_mut().for_each(|d| *d += 1))),
            WRONG,
        ),
        bug(
            "nm: values swapped",
            F::Nm,
            Parts(|p| swap_values(p, "values")),
            WRONG,
        ),
        bug(
            "two_four: metadata halves exchanged",
            F::TwoFour,
            Parts(|p| {
                indices(p, "metadata", |m| {
                    m.iter_mut().for_each(|w| *w = w.rotate_left(16));
                });
            }),
            WRONG,
        ),
        bug(
            "two_four: other instruction shape",
            F::TwoFour,
            Params(|p, _| p.short_k = !p.short_k),
            WRONG,
        ),
        bug(
            "vnm: columns rotated",
            F::Vnm,
            Parts(|p| indices(p, "column", |c| c.chunks_mut(4).for_each(|c| c.rotate_left(1)))),
            WRONG,
        ),
        bug(
            "tcf: ranks not per window",
            F::Tcf,
            Parts(|p| indices(p, "edge_to_column", |c| c.iter_mut().for_each(|c| *c += 1))),
            WRONG,
        ),
        bug(
            "tcf: block count rounded down",
            F::Tcf,
            Parts(|p| {
                indices(p, "block_partition", |b| {
                    b.iter_mut().for_each(|b| *b = b.saturating_sub(1));
                });
            }),
            WRONG,
        ),
        bug(
            "me_tcf: ids by columns",
            F::MeTcf,
            Parts(|p| {
                bytes(p, "tc_local_id", |ids| {
                    ids.iter_mut().for_each(|id| *id = *id % 8 * 16 + *id / 8);
                });
            }),
            WRONG,
        ),
        bug(
            "me_tcf: balance forgotten",
            F::MeTcf,
            Params(|p, _| p.balanced = false),
            WRONG,
        ),
        bug(
            "bit_tcf: bitmap by columns",
            F::BitTcf,
            Parts(|p| {
                bitmaps(p, "tc_local_bit", |b| {
                    b.iter_mut().for_each(|w| *w = transposed(*w));
                });
            }),
            WRONG,
        ),
        bug(
            "bit_tcf: pad is column 0",
            F::BitTcf,
            Parts(|p| pad_is_column_zero(p, "sparse_a_to_b")),
            WRONG,
        ),
        bug(
            "bit_tcf: decoder loses the last entry",
            F::BitTcf,
            Csr(drop_last_entry),
            &["pattern"],
        ),
    ]
}

fn concerns(bug: &Bug, case: &Case) -> bool {
    let decoder = matches!(bug.effect, Effect::Csr(_));
    let (from, to) = if decoder {
        (bug.format, FormatKind::Csr)
    } else {
        (FormatKind::Csr, bug.format)
    };
    case.contract.op == Op::Convert && (case.contract.format, case.contract.to) == (from, Some(to))
}

#[test]
fn every_bug_in_a_conversion_is_found() {
    let groups = plan(&Options::default());
    let mut failures = Vec::new();
    for bug in bugs() {
        let (name, verdicts) = (bug.name, bug.verdicts);
        let cases: Vec<_> = groups
            .iter()
            .flat_map(|g| g.cases.iter().map(move |c| (g, c)))
            .filter(|(_, case)| concerns(&bug, case))
            .take(SLICE)
            .collect();
        let backend: Vec<Box<dyn Backend>> = vec![Box::new(bug)];
        let (mut first, mut seen) = (None, BTreeMap::new());
        for (given, (group, case)) in cases.iter().enumerate() {
            let loaded = group.origin.load().expect("a planned matrix loads");
            let record = run_case(case, &loaded, &backend).records.remove(0);
            if !record.verdict.is_finding() {
                continue;
            }
            first.get_or_insert(given + 1);
            let label = match &record.verdict {
                VerdictRecord::Wrong(mismatch) => mismatch.what.name().to_owned(),
                other => format!("{:?}", other.kind()),
            };
            if !verdicts.contains(&label.as_str()) {
                failures.push(format!("{name}: {label}: {case}: {}", record.verdict));
            }
            *seen.entry(label).or_insert(0usize) += 1;
        }
        println!("{name:45} first {first:?} of {}: {seen:?}", cases.len());
        if first.is_none() {
            failures.push(format!("{name}: not found in {} cases", cases.len()));
        }
    }
    assert!(
        failures.is_empty(),
        "{} complaints:\n{}",
        failures.len(),
        failures.join("\n")
    );
}

#[test]
fn the_honest_conversions_are_not_accused() {
    let backend: Vec<Box<dyn Backend>> = vec![Box::new(Portable)];
    let paper = |f: FormatKind| FormatKind::PAPERS.contains(&f);
    let mut ran: BTreeMap<String, usize> = BTreeMap::new();
    for group in plan(&Options::default()) {
        let concerned = |c: &&Case| paper(c.contract.format) || c.contract.to.is_some_and(paper);
        let mine: Vec<&Case> = group.cases.iter().filter(concerned).collect();
        if mine.is_empty() {
            continue;
        }
        let loaded = group.origin.load().expect("a planned matrix loads");
        for case in mine {
            let record = run_case(case, &loaded, &backend).records.remove(0);
            assert!(!record.verdict.is_finding(), "{case}: {}", record.verdict);
            if record.verdict.kind().ran() {
                *ran.entry(case.contract.to_string()).or_default() += 1;
            }
        }
    }
    let wanted = sparse_oracle::contract::all_contracts()
        .iter()
        .filter(|c| paper(c.format) || c.to.is_some_and(paper));
    for contract in wanted {
        let count = ran.get(&contract.to_string()).copied().unwrap_or(0);
        assert!(count >= 10, "{contract} ran {count} times");
    }
}

/// Puts legal parameters in the place of illegal ones instead of refusing them.
struct Lenient;

impl Backend for Lenient {
    fn name(&self) -> &'static str {
        "lenient"
    }

    fn version(&self) -> String {
        "0".to_owned()
    }

    fn description(&self) -> &'static str {
        "takes every parameter"
    }

    fn support(&self, contract: &Contract, params: &Params) -> Support {
        Portable.support(contract, params)
    }

    fn run(&self, contract: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
        let task = match task {
            // All of a window is kept: any matrix has that pattern.
            Task::Convert { a, to, .. } => Task::Convert {
                a,
                to,
                params: FormatParams {
                    n: 4,
                    ..FormatParams::default()
                },
            },
            other => other,
        };
        Portable.run(contract, task)
    }
}

/// Illegal parameters that are too large were called a limit of the oracle, so that whoever took them passed; those of N:M ended
/// the case before anybody was asked.
#[test]
fn illegal_parameters_must_be_refused() {
    for (contract, parameter) in [
        ("convert.csr.libra_spmm.f32", "eta=129"),
        ("convert.csr.libra_spmm.f32", "eta=0"),
        ("convert.csr.libra_spmm.f32", "kb=5"),
        ("convert.csr.libra_sddmm.f32", "eta=129"),
        ("convert.csr.rp_csc.f32", "groups=65"),
        ("convert.csr.cp_csr.f32", "groups=65"),
        ("convert.csr.rp_csc.f32", "groups=0"),
        ("convert.csr.loops.f32", "boundary=999999"),
        ("convert.csr.loops.f32", "br=65537"),
        ("convert.csr.loops.f32", "br=0"),
        ("convert.csr.sr_bcrs.f32", "v=65537"),
        ("convert.csr.nm.f32", "nm_n=5"),
        ("convert.csr.nm.f32", "nm_n=0"),
        ("convert.csr.nm.f32", "nm_l=0"),
    ] {
        let line = format!("{contract}/rmat:scale=5,seed=7/values=small-int,1/{parameter}");
        let case: Case = line.parse().unwrap_or_else(|e| panic!("{line}: {e}"));
        let loaded = case.origin.load().expect("a generated matrix loads");
        let backends: Vec<Box<dyn Backend>> = vec![Box::new(Portable), Box::new(Lenient)];
        let records = run_case(&case, &loaded, &backends).records;
        let (honest, lenient) = (&records[0].verdict, &records[1].verdict);
        assert!(
            matches!(honest, VerdictRecord::AgreedRefusal { .. }),
            "{line}: {honest}"
        );
        assert!(
            matches!(lenient, VerdictRecord::LoneAcceptance { .. }),
            "{line}: {lenient}"
        );
    }
}

//! Closures judged as a user's tests do: right ones pass, wrong ones fail with what is wrong, a small case and the line that runs it again.

use sparse_check::contract::Contract;
use sparse_check::format::{Coo, CooParts};
use sparse_check::scalar::F16;
use sparse_check::task::{Answer, Task};
use sparse_check::{
    Backend, Check, Csr, CsrParts, Failed, Failure, Params, Passed, Support, backend, convert, sddmm, spgemm,
    spmm, spmm_update, spmv, spmv_update, transpose,
};
use std::collections::BTreeMap;

fn multiply(a: &Csr<f32>, x: &[f32], y: &mut [f32]) {
    for (i, y) in y.iter_mut().enumerate() {
        let (cols, values) = a.row(i);
        *y = cols.iter().zip(values).fold(0.0, |sum, (&j, v)| sum + v * x[j as usize]);
    }
}

fn passed(check: Check) -> Passed {
    check.run().unwrap_or_else(|failed| panic!("{failed}"))
}

fn failed(check: Check) -> String {
    check.run().expect_err("it is wrong").to_string()
}

#[test]
fn a_right_kernel_passes_and_says_how_much_was_judged() {
    let all = passed(spmv(multiply));
    assert_eq!(all.contracts, ["spmv.csr.f32_f32_f32_f32"]);
    assert!(all.cases >= 150 && all.exact > 0 && all.exact < all.cases, "{all}");
    assert!(all.worst_share > 0.0 && all.worst_share <= 1.0, "{all}");
    // The same bits as it declares; and it is not a chain of fused operations.
    passed(spmv(multiply).declares("muladd"));
    assert!(failed(spmv(multiply).declares("fma")).contains("T2"));
}

#[test]
fn a_row_that_is_left_out_is_found_and_made_small() {
    let text = failed(spmv(|a: &Csr<f32>, x: &[f32], y: &mut [f32]| {
        multiply(a, x, y);
        if let Some(last) = y.last_mut().filter(|_| a.rows > 3) {
            *last = 0.0;
        }
    }));
    for part in
        ["spmv.csr.f32_f32_f32_f32", "cases failed", "the smallest case", "csr f32, 4 x 1", "SPARSE_CASE="]
    {
        assert!(text.contains(part), "{part} is missing:\n{text}");
    }
    // The line that is printed runs that case alone.
    let again = text.rsplit_once("SPARSE_CASE=").expect("a line").1;
    let (line, command) = again.split_once(" cargo test ").expect("a test");
    assert_eq!(command, "a_row_that_is_left_out_is_found_and_made_small -- --exact");
    assert_eq!(passed(spmv(multiply).case(line.trim_matches('\''))).cases, 1);
}

/// Story: with `SPARSE_CASE` set to a case that fits no test of a crate, all of them passed and nothing had been judged.
#[test]
fn a_case_that_is_not_judged_does_not_pass() {
    let line = "spmv.csr.f32_f32_f32_f32/dense:rows=17,cols=4,seed=1/values=ones,1";
    let other = spmm(|_: &Csr<f32>, _: &[f32], _, _: &mut [f32]| unreachable!("another contract"));
    let text = failed(other.case(line));
    assert!(text.contains("nothing was judged") && text.contains("spmm.csr.f32_f32_f32_f32"), "{text}");
    let text = failed(spmv(multiply).case(&format!("{line}/ta")));
    assert!(text.contains("nothing was judged") && text.contains("plain requests"), "{text}");
}

#[test]
fn memory_that_is_not_written_or_read_before_is_found() {
    let unwritten = failed(spmv(|a: &Csr<f32>, x: &[f32], y: &mut [f32]| {
        let mut all = vec![0.0; y.len()];
        multiply(a, x, &mut all);
        y.iter_mut()
            .zip(all)
            .enumerate()
            .filter(|(i, _)| !a.row(*i).0.is_empty())
            .for_each(|(_, (y, v))| *y = v);
    }));
    assert!(unwritten.contains("still holds the poison"), "{unwritten}");
    let stale = failed(spmv(|a: &Csr<f32>, x: &[f32], y: &mut [f32]| {
        let before: Vec<f32> = y.iter().map(|y| y * 0.0).collect();
        multiply(a, x, y);
        y.iter_mut().zip(before).for_each(|(y, b)| *y += b);
    }));
    assert!(stale.contains("SPARSE_CASE="), "{stale}");
}

#[test]
fn a_panic_is_a_verdict_and_not_the_end() {
    let text = failed(spmv(|a: &Csr<f32>, x: &[f32], y: &mut [f32]| {
        assert!(a.rows < 60, "this kernel has too few blocks");
        multiply(a, x, y);
    }));
    assert!(text.contains("crashed") && text.contains("too few blocks"), "{text}");
}

#[test]
fn products_with_alpha_beta_and_several_columns_pass() {
    fn product(a: &Csr<f64>, b: &[f64], n: usize, mut each: impl FnMut(usize, f64)) {
        for i in 0..a.rows {
            let (cols, values) = a.row(i);
            for j in 0..n {
                each(i * n + j, cols.iter().zip(values).map(|(&k, v)| v * b[k as usize * n + j]).sum());
            }
        }
    }
    passed(spmm(|a: &Csr<f64>, b, n, c: &mut [f64]| product(a, b, n, |at, sum| c[at] = sum)));
    // What a factor of zero belongs to is not read, as in BLAS.
    let times = |factor: f64, x: f64| if factor == 0.0 { 0.0 } else { factor * x };
    let update = move |alpha: f64, beta: f64, sum: f64, c: f64| times(alpha, sum) + times(beta, c);
    passed(spmm_update(move |alpha, a: &Csr<f64>, b: &[f64], n, beta, c: &mut [f64]| {
        product(a, b, n, |at, sum| c[at] = update(alpha, beta, sum, c[at]));
    }));
    passed(spmv_update(move |alpha, a: &Csr<f64>, x: &[f64], beta, y: &mut [f64]| {
        product(a, x, 1, |at, sum| y[at] = update(alpha, beta, sum, y[at]));
    }));
    let forgets = failed(spmm_update(move |alpha, a: &Csr<f64>, b: &[f64], n, _, c: &mut [f64]| {
        product(a, b, n, |at, sum| c[at] = times(alpha, sum));
    }));
    assert!(forgets.contains("beta="), "{forgets}");
}

#[test]
fn dot_products_at_given_places_pass() {
    passed(sddmm(|s: &Csr<f32>, x: &[f32], y: &[f32], k, out: &mut [f32]| {
        let mut place = 0;
        for i in 0..s.rows {
            for &j in s.row(i).0 {
                let (x, y) = (&x[i * k..][..k], &y[j as usize * k..][..k]);
                out[place] = x.iter().zip(y).map(|(x, y)| x * y).sum();
                place += 1;
            }
        }
    }));
}

/// Rows of sums by column, as CSR.
fn rows(cols: usize, rows: impl Iterator<Item = BTreeMap<u32, f64>>) -> CsrParts<f64> {
    let mut parts = CsrParts { cols, row_ptr: vec![0], ..CsrParts::default() };
    for row in rows {
        parts.rows += 1;
        parts.col_idx.extend(row.keys());
        parts.values.extend(row.values());
        parts.row_ptr.push(parts.values.len() as u32);
    }
    parts
}

#[test]
fn sparse_results_pass_and_what_is_not_stored_is_found() {
    fn product(a: &Csr<f64>, b: &Csr<f64>, keep: fn(f64) -> bool) -> CsrParts<f64> {
        let row = |i| {
            let mut sums = BTreeMap::new();
            let (cols, values) = a.row(i);
            for (&k, v) in cols.iter().zip(values) {
                let (of_b, values) = b.row(k as usize);
                of_b.iter().zip(values).for_each(|(&j, w)| *sums.entry(j).or_insert(0.0) += v * w);
            }
            sums.retain(|_, sum| keep(*sum));
            sums
        };
        rows(b.cols, (0..a.rows).map(row))
    }
    passed(spgemm(|a: &Csr<f64>, b| product(a, b, |_| true)));
    let dropped = failed(spgemm(|a: &Csr<f64>, b| product(a, b, |sum| sum != 0.0)));
    assert!(dropped.contains("stored"), "{dropped}");
}

#[test]
fn transposes_and_conversions_pass() {
    passed(transpose(|a: &Csr<f64>| {
        let mut columns = vec![BTreeMap::new(); a.cols];
        for i in 0..a.rows {
            let (cols, values) = a.row(i);
            cols.iter().zip(values).for_each(|(&j, v)| {
                columns[j as usize].insert(i as u32, *v);
            });
        }
        rows(a.rows, columns.into_iter())
    }));
    passed(convert::<Csr<F16>, Coo<F16>>(|a, _| {
        let rows_of = |i: usize| std::iter::repeat_n(i as u32, a.row(i).0.len());
        CooParts {
            rows: a.rows,
            cols: a.cols,
            row_idx: (0..a.rows).flat_map(rows_of).collect(),
            col_idx: a.col_idx.clone(),
            values: a.values.clone(),
        }
    }));
}

/// A backend that must not be asked.
struct Unasked;

impl Backend for Unasked {
    fn name(&self) -> &str {
        "unasked"
    }

    fn version(&self) -> String {
        String::new()
    }

    fn description(&self) -> &str {
        ""
    }

    fn support(&self, _: &Contract, _: &Params) -> Support {
        unreachable!("nothing is planned")
    }

    fn run(&self, _: &Contract, _: Task<'_>) -> Result<Answer, Failure> {
        unreachable!("nothing runs")
    }
}

/// Story: what a check of a backend declared was dropped without a word, and its bits were not judged.
#[test]
fn a_backend_declares_for_itself() {
    let check = backend(Unasked, "spmv.csr.f64_*").declares("fma");
    assert!(matches!(check.run(), Err(Failed::Declaration(said)) if said.contains("support")));
}

#[test]
fn what_cannot_be_judged_is_said() {
    let wider = spmv(|_: &Csr<f32>, _: &[f32], _: &mut [f64]| ());
    assert!(matches!(wider.run(), Err(Failed::NoContract { asked }) if asked.contains("f32 to f64")));
    assert!(failed(spmv(multiply).declares("abacus")).contains("abacus"));
    assert!(failed(spmv(multiply).case("nonsense")).contains("nonsense"));
}

/// A failing test tells of one finding; the file has them all, each with the line that runs it again.
#[test]
fn what_was_judged_is_written_where_that_is_asked_for() {
    let folder = std::env::temp_dir().join(format!("sparse-check-{}", std::process::id()));
    let name = "what_was_judged_is_written_where_that_is_asked_for-spmv.csr.f32_f32_f32_f32";
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).expect("written");
    let all = passed(spmv(multiply).report(&folder));
    let text = read(&format!("{name}.md"));
    assert!(text.contains(&format!("{} cases judged, nothing wrong was found", all.cases)), "{text}");
    let wrong = failed(spmv(|_: &Csr<f32>, _: &[f32], _: &mut [f32]| ()).report(&folder));
    let text = read(&format!("{name}-2.md"));
    let count = text.matches("SPARSE_CASE=").count();
    assert!(wrong.contains(&format!("{count} of {} cases failed", all.cases)), "{count}: {wrong}");
    assert!(text.contains(wrong.split("again: ").nth(1).expect("a line")), "{text}");
    // A file where the folder should be: a right kernel fails with that, and of a wrong one that it is wrong is said.
    let file = folder.join(format!("{name}.md"));
    assert!(matches!(spmv(multiply).report(&file).run(), Err(Failed::Report { .. })));
    assert!(failed(spmv(|_: &Csr<f32>, _: &[f32], _: &mut [f32]| ()).report(&file)).contains("cases failed"));
    std::fs::remove_dir_all(&folder).expect("removed");
}

//! The comparators. Where a story names a project, this is what its code did when it was read or run; fixed since, some of
//! them.
//!
//! ```text
//! |found - expected| > tolerance -> fail        NaN is never greater: all of these accept it
//! ```

use super::{Comparator, View};

/// Every broken comparator.
pub static ALL: &[Comparator] = &[
    row(
        "aocl: real or imaginary",
        "aocl-sparse near_check_general: a complex number passes if either part matches",
        |v| {
            let ok: Vec<bool> = v.pairs().map(|(e, f)| close(e, f, allowed(v), allowed(v))).collect();
            same_positions(v) && ok.chunks(2).all(|pair| pair.contains(&true))
        },
    ),
    row(
        "aocl: tolerance of the actual value",
        "aocl-sparse: the tolerance of the imaginary part is taken from what came back",
        |v| {
            same_positions(v)
                && v.pairs().all(|(e, f)| {
                    e == f || e.is_nan() && f.is_nan() || (e - f).abs() <= allowed(v) * f.abs() + allowed(v)
                })
        },
    ),
    row("aocl: f64 at 3.9e-6", "aocl-sparse: f64 results pass with a relative error of 3.9e-6", |v| {
        let tolerance = if v.unit() < 1e-10 { 3.9e-6 } else { allowed(v) };
        same_positions(v) && v.pairs().all(|(e, f)| close(e, f, tolerance, tolerance))
    }),
    row(
        "aocl: sign of infinity",
        "aocl-sparse is_matching, rocSPARSE near_check: isinf(expected) asks for isinf(found) only",
        |v| {
            same_positions(v)
                && v.pairs().all(|(e, f)| {
                    if e.is_infinite() { f.is_infinite() } else { close(e, f, allowed(v), allowed(v)) }
                })
        },
    ),
    row(
        "rocSPARSE: four times permissive",
        "rocSPARSE near_check: on failure again with 2, 3 and 4 times the tolerance of 1e-3, and a warning",
        |v| {
            same_positions(v)
                && (1..=4).any(|k| v.pairs().all(|(e, f)| close(e, f, 1e-3 * f64::from(k), 10.0 * v.unit())))
        },
    ),
    row(
        "rocSPARSE: dead multiplier",
        "rocSPARSE: the tolerance asked for by a case never reached two of its tests",
        |v| same_positions(v) && v.pairs().all(|(e, f)| close(e, f, 1e-3, 10.0 * v.unit())),
    ),
    row("KleidiAI: NaN", "KleidiAI DefaultMismatchHandler: an error that is NaN is no mismatch", |v| {
        same_positions(v)
            && !v
                .pairs()
                .any(|(e, f)| (e - f).abs() > allowed(v) * e.abs().max(1e-30) && e != f && !e.is_infinite())
    }),
    row(
        "KleidiAI: zero reference",
        "KleidiAI: the relative error beside a reference of zero is taken for zero",
        |v| same_positions(v) && v.pairs().all(|(e, f)| e == 0.0 || close(e, f, allowed(v), allowed(v))),
    ),
    row("KleidiAI: 5 % may differ", "KleidiAI: one element in twenty may hold anything", |v| {
        mismatches(v, allowed(v)) * 20 <= v.expected.len()
    }),
    row("TACO: NaN equals anything", "TACO scalarEquals: the branch for NaN returns true", |v| {
        same_positions(v)
            && v.pairs().all(|(e, f)| e.is_nan() || f.is_nan() || close(e, f, allowed(v), allowed(v)))
    }),
    row(
        "TACO: infinities are equal",
        "TACO scalarEquals: |e - f| / |e| of two infinities is NaN, and passes",
        |v| {
            same_positions(v)
                && v.pairs()
                    .all(|(e, f)| e.is_infinite() && f.is_infinite() || close(e, f, allowed(v), allowed(v)))
        },
    ),
    row(
        "numr: counts only",
        "numr assert_sparse_allclose: values and columns are not looked at, nnz may be off by two",
        |v| {
            let (e, f) = (v.expected.len(), v.found.len());
            e > 0 && f > 0 && e <= 2 * f && f <= 2 * e
        },
    ),
    row(
        "numr: empty is an error",
        "numr assert_sparse_allclose: a correct result without entries is refused",
        |v| !v.expected.is_empty() && honest(v),
    ),
    row("Kokkos: err > tolerance", "Kokkos fSPMV: `if (error > max) ++errors` counts no NaN", |v| {
        same_positions(v) && !v.pairs().any(|(e, f)| e != f && (e - f).abs() > allowed(v) * (1.0 + e.abs()))
    }),
    row("Ginkgo: array near", "Ginkgo array_near_impl: `err > tolerance`, and NaN is not", |v| {
        let largest = v
            .pairs()
            .filter(|(e, f)| e != f)
            .map(|(e, f)| (e - f).abs() / e.abs().max(1.0))
            .fold(0.0, f64::max);
        let refused = largest > allowed(v);
        same_positions(v) && !refused
    }),
    row(
        "Ginkgo: Frobenius norm",
        "Ginkgo: one number for the whole matrix, in which a single wrong entry vanishes",
        |v| {
            same_positions(v)
                && norm(v.pairs().map(|(e, f)| if e == f || e.is_nan() && f.is_nan() { 0.0 } else { e - f }))
                    <= 1e-3 * norm(v.pairs().map(|p| if p.0.is_finite() { p.0 } else { 0.0 }))
        },
    ),
    row(
        "flashinfer: absolute and relative",
        "flashinfer-bench: wrong only if both errors exceed 1e-2",
        |v| {
            same_positions(v)
                && v.pairs().all(|(e, f)| {
                    e == f
                        || e.is_nan() && f.is_nan()
                        || !((e - f).abs() > 1e-2 && (e - f).abs() / e.abs() > 1e-2) && f.is_finite()
                })
        },
    ),
    row(
        "flashinfer: reference not finite",
        "flashinfer-bench compute_error_stats: elements whose reference is NaN or infinite are not compared",
        |v| {
            same_positions(v) && v.pairs().all(|(e, f)| !e.is_finite() || close(e, f, allowed(v), allowed(v)))
        },
    ),
    row(
        "flashinfer: infinity is an error",
        "flashinfer-bench: a result with an infinity is refused, whatever the reference is",
        |v| v.found.iter().all(|f| !f.is_infinite()) && honest(v),
    ),
    row(
        "flashinfer: 95 % matched",
        "flashinfer-bench, mixture of experts: 95 % of the elements must match",
        |v| same_positions(v) && mismatches(v, 1e-2) as f64 <= 0.05 * v.expected.len() as f64,
    ),
    row(
        "BackendBench: arguments dropped",
        "BackendBench allclose(a, b, atol, rtol) calls another one without them",
        |v| same_positions(v) && v.pairs().all(|(e, f)| close(e, f, 1e-2, 1e-2)),
    ),
    row("CUTLASS: first batch only", "CUTLASS profiler: only batch 0 was compared", |v| {
        let half = v.expected.len() / 2;
        same_positions(v) && v.pairs().take(half).all(|(e, f)| close(e, f, allowed(v), allowed(v)))
    }),
    row(
        "CUTLASS: the same output twice",
        "CUTLASS dual GEMM: D1 was compared in the place of D0, too",
        |v| {
            same_positions(v)
                && v.pairs().skip(1).step_by(2).all(|(e, f)| close(e, f, allowed(v), allowed(v)))
        },
    ),
    row(
        "CUTLASS: skip is pass",
        "CUTLASS testbed_sparse: a device too small for the problem returns true",
        |v| v.rows >= 32 || honest(v),
    ),
    row(
        "CUTLASS: relative to one tenth",
        "CUTLASS gemm_testbed_3x: an epsilon of 0.1 for results that are not integers",
        |v| same_positions(v) && v.pairs().all(|(e, f)| close(e, f, 0.1, 1.0 / 256.0)),
    ),
    row("LAPACK: largest ratio", "DMMCH: ERR = MAX(ERR, ERRI) forgets NaN", |v| {
        let gauge = |e: f64| v.inner as f64 * e.abs().max(1.0) * 16.0 * v.unit();
        let ratios = v.pairs().filter(|(e, f)| e != f).map(|(e, f)| (e - f).abs() / gauge(e));
        same_positions(v) && ratios.fold(0.0, f64::max) < 1.0
    }),
    row("BLIS: residual", "BLIS testsuite: a residual that is NaN was below every threshold", |v| {
        let residual =
            norm(v.pairs().map(|(e, f)| if e == f { 0.0 } else { e - f })) / norm(v.pairs().map(|p| p.0));
        let refused = residual > 100.0 * v.unit();
        same_positions(v) && !refused
    }),
    row("AMReX: max norm", "AMReX: the maximum over a field drops NaN", |v| {
        same_positions(v)
            && v.pairs().filter(|(e, f)| e != f).map(|(e, f)| (e - f).abs()).fold(0.0, f64::max) < 1e-3
    }),
    row("ngraph: all close", "ngraph all_close: `if (abs(a - b) > tolerance) return false`", |v| {
        same_positions(v) && !v.pairs().any(|(e, f)| e != f && (e - f).abs() > 1e-5 + 1e-4 * e.abs())
    }),
    row("Liger: NaN is an error", "Liger assert_verbose_allclose: equal NaN are a mismatch", |v| {
        v.found.iter().all(|f| !f.is_nan()) && honest(v)
    }),
    row(
        "Liger: a single mismatch passes",
        "Liger assert_verbose_allclose: a list of one mismatch was not reported",
        |v| mismatches(v, allowed(v)) <= 1,
    ),
    row("gpucheck: square root of k", "gpucheck: the tolerance grows with sqrt(k), not sqrt(k / 128)", |v| {
        let tolerance = 2e-4 * (v.inner as f64).sqrt();
        same_positions(v) && v.pairs().all(|(e, f)| close(e, f, tolerance, tolerance))
    }),
    row("TenSure: zeros dropped", "TenSure: positions where the reference is zero are not compared", |v| {
        same_positions(v) && v.pairs().filter(|p| p.0 != 0.0).all(|(e, f)| close(e, f, 1e-5, 1e-5))
    }),
    row(
        "TenSure: the backend compares",
        "TenSure: compare_results belongs to the backend, which may say yes",
        |_| true,
    ),
    row("pygpubench: NaN is a wildcard", "pygpubench: NaN in the result matches anything", |v| {
        same_positions(v) && v.pairs().all(|(e, f)| f.is_nan() || close(e, f, allowed(v), allowed(v)))
    }),
    row("KernelBench: zeros pass", "KernelBench: zeros are within 1e-2 of small results", |v| {
        same_positions(v) && v.pairs().all(|(e, f)| close(e, f, 1e-4, 1e-2))
    }),
    row("bits", "results are compared with memcmp: every other order of summation is refused", |v| {
        same_positions(v) && v.pairs().all(|(e, f)| e.to_bits() == f.to_bits())
    }),
    row("relative only", "an error relative to a sum that nearly cancels is no error of the kernel", |v| {
        same_positions(v)
            && v.pairs()
                .all(|(e, f)| e == f || e.is_nan() && f.is_nan() || (e - f).abs() <= 8.0 * v.unit() * e.abs())
    }),
    row("checksum", "the sums of all elements are compared", |v| {
        let sum = |list: &[f64]| list.iter().filter(|v| v.is_finite()).sum::<f64>();
        (sum(&v.expected) - sum(&v.found)).abs() <= 1e-2
    }),
    row("sorted values", "both results are sorted before they are compared", |v| {
        let sorted = |list: &[f64]| {
            let mut list = list.to_vec();
            list.sort_by(f64::total_cmp);
            list
        };
        let (e, f) = (sorted(&v.expected), sorted(&v.found));
        e.len() == f.len() && e.iter().zip(&f).all(|(&e, &f)| close(e, f, allowed(v), allowed(v)))
    }),
    row("cosine", "the angle between both results, as vectors, is small", |v| {
        let dot: f64 = v.pairs().map(|(e, f)| e * f).sum();
        dot.is_nan() || dot >= 0.999 * norm(v.expected.iter().copied()) * norm(v.found.iter().copied())
    }),
    row("absolute values", "magnitudes are compared", |v| {
        same_positions(v) && v.pairs().all(|(e, f)| close(e.abs(), f.abs(), allowed(v), allowed(v)))
    }),
    row("first row", "only the first row is compared, for speed", |v| {
        same_positions(v)
            && v.pairs()
                .zip(&v.expected_at)
                .filter(|(_, at)| at.0 == 0)
                .all(|((e, f), _)| close(e, f, allowed(v), allowed(v)))
    }),
    row("shape", "the shape is compared", same_positions),
];

const fn row(name: &'static str, story: &'static str, accepts: fn(&View) -> bool) -> Comparator {
    Comparator { name, story, accepts }
}

fn same_positions(v: &View) -> bool {
    v.expected_at == v.found_at && v.expected.len() == v.found.len()
}

/// What a careful author would allow for these sizes, without knowing the operands.
fn allowed(v: &View) -> f64 {
    64.0 * v.inner.max(1) as f64 * v.unit()
}

/// `|e - f| <= absolute + relative * |e|`, equal infinities and any two NaN alike: what the rows above get wrong.
fn close(e: f64, f: f64, relative: f64, absolute: f64) -> bool {
    e == f
        || e.is_nan() && f.is_nan()
        || e.is_finite() && f.is_finite() && (e - f).abs() <= absolute + relative * e.abs()
}

/// No bug but the one that the row adds.
fn honest(v: &View) -> bool {
    same_positions(v) && v.pairs().all(|(e, f)| close(e, f, allowed(v), allowed(v)))
}

fn mismatches(v: &View, tolerance: f64) -> usize {
    if same_positions(v) {
        v.pairs().filter(|&(e, f)| !close(e, f, tolerance, tolerance)).count()
    } else {
        v.expected.len().max(v.found.len()).max(2)
    }
}

fn norm(list: impl Iterator<Item = f64>) -> f64 {
    list.map(|v| v * v).sum::<f64>().sqrt()
}

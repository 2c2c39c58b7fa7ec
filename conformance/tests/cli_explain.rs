//! `conformance explain`: one element as text, on a unit of one's choice too.

use crate::cli;

use cli::{Ran, run_in};

fn run(args: &[&str]) -> Ran {
    run_in(&std::env::temp_dir(), args)
}

/// What is printed from the line that starts with `from` on.
fn from<'a>(out: &'a str, start: &str) -> &'a str {
    out.find(start).map_or("", |at| &out[at..])
}

const FUSED: &str = "\
as sm_80:mma.m16n8k8.f32.f16 computes it:
  declares   mma.m16n8k8.f32.f16 on sm_80, one chain along k, in ascending order, accumulates in
             f32, starts from 0, inputs as stored, then alpha * sum + beta * c, no-pads (pads are
             skipped)
  unit       sums of 8 products, cut at F = 24 bits below the largest; known from published hardware
             outputs (Leeds A100, A2, L40S, Ada; MMA-Sim)
  element    (1, 1), 3 terms (a * b):
      k = 0          -43.375 0xd16c     *       7.4765625 0x477a     = -0x1.444bcp+8
      k = 1         42.28125 0x5149     *       -32.53125 0xd011     = -0x1.57dd9p+10
      k = 3        1.5537109 0x3e37     *     -0.22949219 0xb358     = -0x1.6d1f4p-2
  scaled by  alpha = 1, beta = 0
  steps      1 in the declared order
             terms of fused sums in binary, behind the bar what is cut off; then the units kept
     0  fused sum: largest exponent E = 10; below the unit, 2^(E - 24) = 2^-14, all is cut off
              k = 0 -...10100010001001011110000|               -5313264
              k = 1 -.1010101111101110110010000|              -22535568
              k = 3 -.............1011011010001|111101            -5841  cut +0.953
                and  6 that are zero
                sum  -27854673, toward zero to 24 bits: 0xc4d483a8 = -1700.1143, rounding +1.000
  gives      0xc4d483a8 = -1700.1143
  error      +1.192e-4 = alignment +5.817e-5, rounding +6.104e-5
  exact      -1700.1143770217896 = -0x1.a90751f4p+10, gauge (sum of magnitudes) 1700
  T0         does not apply: some order may round
  T1         may differ by 0.0005067 = 2.98e-7 * gauge + 3.503e-45
             3 products in at most 1 fused sum: each term cut below 2^-24 of the largest, each sum
             rounded toward zero to 24 bits
  weakest    any order in f32 may differ by 0.000304
  T2         must be 0xc4d483a8 = -1700.1143
  verdict    right: what this order would give differs from the exact result by 23.5 % of what this
             arithmetic may lose
";

const CHAIN: &str = "\
as fma computes it:
  declares   fma, one chain along k, in ascending order, accumulates in f32, starts from 0, inputs
             as stored, then alpha * sum + beta * c, no-pads (pads are skipped)
  element    (1, 0), 3 terms (a * b):
      k = 0       -0.5493306 0xbf0ca0ee *       1.0790982 0x3f8a1fe4 = -0x1.2f81142097ep-1
      k = 1         -3.03668 0xc04258f7 *      -3.3165827 0xc05442e4 = 0x1.4248e925d3f8p+3
      k = 2        0.5218467 0x3f0597bf *      -1.3089324 0xbfa78b19 = -0x1.5dba50261a9cp-1
  scaled by  alpha = 0.5, beta = 1, c = -0.86354345 0xbf5d112f
  steps      5 in the declared order
  step  operation              on                             result                    error, ulp
     0  fma                    k = 0                     -0.59278166 0xbf17c08a              +0.06
     1  fma                    k = 1                        9.478619 0x4117a86c              +0.05
     2  fma                    k = 2                        8.795556 0x410cba99              -0.50
     3  alpha * sum                                         4.397778 0x408cba99                  0
     4  add beta * c           c                           3.5342345 0x406230e6              -0.25
  gives      0x406230e6 = 3.5342345
  error      -2.695e-7 = rounding -2.695e-7
  exact      3.5342347933067266 = 0x1.c461ce42d1a08p+1, gauge (sum of magnitudes) 6.537
  T0         does not apply: some order may round
  T1         may differ by 1.948e-6 = 2.98e-7 * gauge + 3.503e-45
             at most 5 roundings of any one term, in f32 (half of 2^-23 each)
  weakest    any order in f32 may differ by 1.948e-6
  T2         must be 0x406230e6 = 3.5342345
  verdict    right: what this order would give differs from the exact result by 13.8 % of what this
             arithmetic may lose
";

#[test]
fn a_fused_sum_is_shown_in_full() {
    let line = "spmm.csr.f16_f16_f32_f32/stencil:nx=2,ny=2,seed=0/values=wide,3/n=2";
    let ran = run(&["explain", line, "--arithmetic", "sm_80:mma.m16n8k8.f32.f16"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.starts_with(line) && ran.out.contains("  strength "), "{}", ran.out);
    assert_eq!(from(&ran.out, "as sm_80"), FUSED);
}

#[test]
fn a_chain_is_shown_in_full() {
    let line = "spmv.csr.f32_f32_f32_f32/stencil:nx=3,ny=1,seed=0/values=near-one,3/alpha=0.5/beta=1";
    let ran = run(&["explain", line, "--arithmetic", "fma"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(from(&ran.out, "as fma"), CHAIN);
}

/// f32 cut to tf32 is not what the portable kernel does: judged by that, its bits are wrong, and marked. Its own
/// verdict and the exit code stay.
#[test]
fn a_backend_can_be_judged_as_if_it_were_another_unit() {
    let line = "spmm.csr.f32_f32_f32_f32/embedded:karate/values=near-one,3/n=3";
    let unit = "sm_90:mma.m16n8k8.f32.tf32";
    let ran = run(&["explain", line, "--arithmetic", unit, "--backend", "portable", "--at", "33,2"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    for needle in [
        "portable: within",
        "as if it had declared that",
        "refused    as a declaration for this contract: it rounds its inputs",
        "verdict    wrong: the value found is off by",
    ] {
        assert!(ran.out.contains(needle), "{needle}: {}", ran.out);
    }
    let marks = |out: &str| {
        let mut lines = out.lines().map(str::trim);
        lines.any(|l| l.starts_with('^') && l.chars().all(|c| c == '^' || c == ' '))
    };
    assert!(marks(&ran.out), "{}", ran.out);
    let own = run(&["explain", line, "--backend", "portable", "--at", "33,2"]);
    assert!(own.out.contains("verdict    right: ") && !marks(&own.out), "{}", own.out);
}

#[test]
fn long_sums_say_how_much_is_left_out() {
    let line = "spmm.csr.f32_f32_f32_f32/embedded:karate/values=near-one,3/n=3";
    let ran = run(&["explain", line, "--arithmetic", "fma", "--at", "33,2"]);
    assert!(ran.out.contains("steps      17 in the declared order"), "{}", ran.out);
    let table = from(&ran.out, "  steps ");
    let table = &table[..table.find("  gives").expect("the result follows")];
    let shown = table.lines().filter(|l| l.contains(" fma  ")).count();
    let left_out: usize = table
        .lines()
        .filter_map(|l| l.trim().strip_prefix("...  ")?.split(' ').next()?.parse::<usize>().ok())
        .sum();
    assert!(left_out > 0 && shown >= 8, "{table}");
    assert_eq!(shown + left_out, 17, "{table}");
}

#[test]
fn every_operation_and_kind_of_unit_is_explained_within_100_columns() {
    let special = "spmm.csr.f16_f16_f32_f32/embedded:karate/values=special,3/n=3";
    let blocks = "spmm.bcsr.tf32_tf32_f32_f32/embedded:karate/values=wide,3/n=3/alpha=0.5/beta=1";
    let sddmm = "sddmm.csr.f16_f16_f32_f32/embedded:karate/values=near-one,1/n=40/mode=scale";
    let bf16 = "spmv.csr.bf16_bf16_f32_bf16/embedded:karate/values=subnormal,3";
    let fp8 = "spmm.csr.e4m3_e4m3_f32_f32/embedded:karate/values=near-one,3/n=2";
    let spgemm = "spgemm.csr.f64_f64_f64_f64/embedded:karate/values=near-one,1";
    let libra = "spmm.libra_spmm.tf32_tf32_f32_f32/embedded:karate/values=near-one,3/n=2";
    for (line, unit, needles) in [
        (
            special,
            "sm_90:mma.m16n8k16.f32.f16,split-k=2",
            &["because    step 0 takes k = 6: 0 * NaN = NaN", "verdict    right"][..],
        ),
        (blocks, "sm_80:mma.m16n8k8.f32.tf32", &["slot 0", "add beta * c", "slot 1"]),
        (sddmm, "tdpfp16ps", &["of S, 40 terms", "even + odd", "S holds"]),
        (sddmm, "fmopa_2way,two-pass=4", &["pair sum", "add range of k"]),
        (sddmm, "fmopa_2way,three-pass=2x2", &["pair sum", "add range of k"]),
        (bf16, "bfmopa", &["to odd", "to result type"]),
        (bf16, "vdpbf16ps", &["flushed", "error      "]),
        (fp8, "sm_90:mma.m16n8k32.f32.e4m3", &["fused sum", "add to the sum"]),
        (fp8, "sm_90:wgmma.m64n8k32.f32.e4m3", &["to 14 bits"]),
        (spgemm, "fma", &["term 0", "verdict    right"]),
        (
            libra,
            "sm_90:mma.m16n8k8.f32.tf32,rna + fma,full",
            &["rna (inputs", "outside tiles fma, one chain", "inputs as stored;"],
        ),
    ] {
        let mut args = vec!["explain", line, "--arithmetic", unit];
        if line == special {
            args.extend(["--at", "0,0"]);
        }
        let ran = run(&args);
        assert_eq!(ran.code, 0, "{line} {unit}: {}", ran.err);
        for needle in needles {
            assert!(ran.out.contains(needle), "{line} {unit}: {needle}: {}", ran.out);
        }
        for bug in ["unexplained", "bug of the suite", "not shown"] {
            assert!(!ran.out.contains(bug), "{line} {unit}: {}", ran.out);
        }
        let element = from(&ran.out, "\nas ");
        let long = element.lines().find(|l| l.chars().count() > 100);
        assert_eq!(long, None, "{line} {unit}");
    }
}

#[test]
fn bad_declarations_exit_2_and_say_what_there_is() {
    let line = "spmm.csr.f16_f16_f32_f32/embedded:karate/values=ones,1";
    for (unit, needles) in [
        ("fnord", &["unknown unit 'fnord'", "fma", "tdpbf16ps", "sm_120"][..]),
        ("sm_20:mma.m16n8k8.f32.f16", &["sm_20", "sm_70"]),
        ("sm_70:mma.m16n8k16.f32.f16", &["sm_70", "mma.m8n8k4.f32.f16"]),
        ("vdpbf16ps", &["bf16", "units that take f16"]),
        ("fma,split-k=x", &["split-k=x"]),
        ("", &["unknown unit"]),
    ] {
        let ran = run(&["explain", line, "--arithmetic", unit]);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{unit}: {}", ran.err);
        for needle in needles {
            assert!(ran.err.contains(needle), "{unit}: {needle}: {}", ran.err);
        }
    }
    let absent = run(&["explain", line, "--arithmetic", "fma", "--at", "99999,0"]);
    assert!(absent.code == 2 && absent.err.contains("99999"), "{}", absent.err);
    let moves = "convert.csr.ell.f32/embedded:karate/values=ones,1";
    let moved = run(&["explain", moves, "--arithmetic", "fma"]);
    assert!(moved.code == 2 && moved.err.contains("rounds nothing"), "{}", moved.err);
}

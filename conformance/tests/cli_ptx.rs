//! `conformance ptx` on a small kernel: what it prints, finds and refuses.

use crate::cli;

use cli::{Ran, run_in};
use std::path::Path;

/// y[i] = a * x[i], for i < n; a block reads what its other half has staged, behind a barrier.
const SCALE: &str = "\
.version 9.0
.target sm_80
.address_size 64
.visible .entry scale(.param .u32 n, .param .f32 a, .param .u64 x, .param .u64 y)
{
.reg .pred %p<2>;
.reg .b32 %r<8>;
.reg .f32 %f<4>;
.reg .b64 %rd<6>;
.shared .align 4 .b8 tile[256];
ld.param.u32 %r1, [n];
ld.param.f32 %f1, [a];
ld.param.u64 %rd1, [x];
ld.param.u64 %rd2, [y];
mov.u32 %r2, %tid.x;
setp.ge.u32 %p1, %r2, %r1;
mul.wide.u32 %rd3, %r2, 4;
add.s64 %rd4, %rd1, %rd3;
mov.f32 %f2, 0f00000000;
@!%p1 ld.global.f32 %f2, [%rd4];
mov.u32 %r3, tile;
mad.lo.s32 %r4, %r2, 4, %r3;
st.shared.f32 [%r4], %f2;
bar.sync 0;
xor.b32 %r5, %r2, 32;
mad.lo.s32 %r6, %r5, 4, %r3;
ld.shared.f32 %f3, [%r6];
mul.f32 %f3, %f3, %f1;
add.s64 %rd5, %rd2, %rd3;
@!%p1 st.global.f32 [%rd5], %f3;
ret;
}
";

const LAUNCH: &str = "\
block = [64]
[[param]]
type = \"u32\"
value = 64
[[param]]
type = \"f32\"
value = 2.5
[[param]]
name = \"x\"
type = \"f32\"
count = 64
fill = 3
[[param]]
name = \"y\"
type = \"f32\"
count = 65
";

fn folder(ptx: &str, launch: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("k.ptx"), ptx).expect("written");
    std::fs::write(folder.path().join("l.toml"), launch).expect("written");
    folder
}

fn ptx(at: &Path, command: &str, more: &[&str]) -> Ran {
    run_in(at, &[&["ptx", command, "k.ptx", "--launch", "l.toml"], more].concat())
}

#[test]
fn a_right_kernel_is_clean_in_every_order_and_leaves_its_result() {
    let folder = folder(SCALE, LAUNCH);
    let checked = ptx(folder.path(), "check", &["--orders", "6"]);
    assert_eq!(checked.code, 0, "{}{}", checked.out, checked.err);
    assert_eq!(checked.out, "clean: 42 warp instructions\nthe same in 6 order(s) as sm_80\n");
    let ran = ptx(folder.path(), "run", &["--show", "3"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(
        ran.out.starts_with("x (64 x F32): 3, 3, 3, ..\ny (65 x F32): 7.5, 7.5, 7.5, ..\n"),
        "{}",
        ran.out
    );
    // The last element is nobody's.
    let ran = ptx(folder.path(), "run", &["--show", "65", "--order", "3"]);
    assert!(ran.out.contains("7.5, 7.5, -\n"), "{}", ran.out);
}

#[test]
fn facts_are_counted() {
    let folder = folder(SCALE, LAUNCH);
    let counted = ptx(folder.path(), "count", &[]);
    let has = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        assert!(
            counted.out.lines().any(|line| line.split_whitespace().eq(words.iter().copied())),
            "{}",
            counted.out
        );
    };
    has("warp instructions 42");
    has("barriers 2");
    has("global requests 4");
    has("sectors of 32 bytes 16 (4.00 each)");
    has("bank conflicts 0 (0.00 each)");
    let explained = run_in(folder.path(), &["ptx", "explain", "k.ptx"]);
    assert_eq!(explained.code, 0, "{}", explained.err);
    for part in ["PTX 9.0 for sm_80", "entry scale", "parameter 4  y, 8 bytes at 16", "256 bytes", "bar.sync"]
    {
        assert!(explained.out.contains(part), "{part}: {}", explained.out);
    }
}

/// Without its barrier it races; with one thread too many it reads past the end of x. Both exit 1 and name line, thread and block.
#[test]
fn what_is_wrong_is_said_with_its_line() {
    let without = SCALE.replace("bar.sync 0;\n", "\n");
    let line = 1 + SCALE.lines().position(|line| line.starts_with("ld.shared")).expect("a line");
    let racing = ptx(folder(&without, LAUNCH).path(), "check", &[]);
    assert_eq!(racing.code, 1, "{}{}", racing.out, racing.err);
    assert!(racing.out.contains(&format!("race at line {line}")), "{}", racing.out);
    assert!(racing.out.contains("of block (0,0,0)"), "{}", racing.out);
    let beyond = ptx(folder(SCALE, &LAUNCH.replace("count = 64", "count = 63")).path(), "run", &[]);
    assert_eq!(beyond.code, 1, "{}", beyond.err);
    assert!(beyond.out.contains("out-of-bounds at line 20, thread (63,0,0)"), "{}", beyond.out);
    let endless = SCALE.replace("ret;", "again: bra again;");
    let endless = ptx(folder(&endless, &format!("steps = 5000\n{LAUNCH}")).path(), "check", &[]);
    assert_eq!(endless.code, 1, "{}", endless.err);
    assert!(endless.out.contains("step-limit"), "{}", endless.out);
}

#[test]
fn bad_input_is_refused_with_file_and_reason() {
    for (ptx_text, launch, parts) in [
        ("\u{7f}ELF", LAUNCH, &["k.ptx", "line 1, column 1", ".version"][..]),
        (SCALE, "block = 64", &["l.toml", "block"]),
        (SCALE, "blok = [64]", &["l.toml", "blok", "dynamic_shared"]),
        (SCALE, "block = [64]", &["l.toml", "0 parameters", "has 4: n, a, x, y"]),
        (SCALE, "entry = \"other\"", &["k.ptx", "other", "scale"]),
        (SCALE, "architecture = \"sm_75x\"", &["l.toml", "sm_75x", "sm_90"]),
        (&SCALE.replace("sm_80", "sm_75"), LAUNCH, &["l.toml", "'sm_75'", "`architecture`: sm_80"]),
        (SCALE, &LAUNCH.replace("[64]", "[2000]"), &["2000", "1024"]),
        (SCALE, &LAUNCH.replace("[64]", "[1, 2, 3, 4]"), &["`block`", "x, y, z"]),
        (SCALE, &format!("grid = [3000000000]\n{LAUNCH}"), &["3000000000", "2147483647"]),
        (SCALE, &LAUNCH.replacen("u32", "u16", 1), &["parameter 1 (n) has 4 bytes", "2 as it is described"]),
        (SCALE, &LAUNCH.replace("value = 64", "value = -1"), &["parameter 1", "-1 is no u32"]),
        (SCALE, &LAUNCH.replace("fill = 3", "file = \"none.bin\""), &["parameter 3", "none.bin"]),
        (SCALE, &LAUNCH.replace("fill = 3", "fill = 3\nvalues = [1]"), &["parameter 3", "one of them"]),
        (SCALE, &LAUNCH.replace("count = 65", "count = 67108850"), &["parameter 4", "268435456 for all"]),
        (
            SCALE,
            &LAUNCH.replace("count = 64\nfill = 3", "count = 2\nvalues = [1, 2, 3]"),
            &["12 bytes", "2 elements"],
        ),
        (SCALE, &LAUNCH.replace("count = 65", ""), &["parameter 4", "`count`"]),
    ] {
        let refused = ptx(folder(ptx_text, launch).path(), "check", &[]);
        assert_eq!(refused.code, 2, "{launch}: {}", refused.out);
        for part in parts {
            assert!(refused.err.contains(part), "{part}: {}", refused.err);
        }
    }
    let missing = run_in(&std::env::temp_dir(), &["ptx", "explain", "no-such.ptx"]);
    assert!(missing.code == 2 && missing.err.contains("no-such.ptx"), "{}", missing.err);
}

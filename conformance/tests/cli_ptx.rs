//! `conformance ptx` on a small kernel: what it prints, finds and refuses.

use crate::{cli, documents};

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
    const SHAPE: &str = "scale (.target sm_80) as sm_80: grid 1 x 1 x 1, block 64 x 1 x 1, shared memory 256 + 0 bytes dynamic, order";
    assert_eq!(
        checked.out,
        format!("{SHAPE}s 0 to 5\nclean: 42 warp instructions\nthe same in 6 order(s) as sm_80\n")
    );
    let ran = ptx(folder.path(), "run", &["--show", "3"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(
        ran.out,
        format!(
            "{SHAPE} 0\nx (64 x f32): 3, 3, 3, ..\ny (65 x f32): 7.5, 7.5, 7.5, ..\nclean: 42 warp instructions\n"
        )
    );
    // Story: nothing to show was shown as `, ..`.
    let ran = ptx(folder.path(), "run", &["--show", "0"]);
    assert!(ran.out.contains("\nx (64 x f32)\ny (65 x f32)\n"), "{}", ran.out);
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
    assert!(racing.out.contains(" (first seen in order 0)\n"), "{}", racing.out);
    let beyond = ptx(folder(SCALE, &LAUNCH.replace("count = 64", "count = 63")).path(), "run", &[]);
    assert_eq!(beyond.code, 1, "{}", beyond.err);
    assert!(beyond.out.contains("out-of-bounds at line 20, thread (63,0,0)"), "{}", beyond.out);
    // Story: a buffer was 'allocation 0' here.
    assert!(
        beyond.out.contains("outside of 'x' (252 B); the first byte outside is right behind its end"),
        "{}",
        beyond.out
    );
    let endless = SCALE.replace("ret;", "again: bra again;");
    let endless = ptx(folder(&endless, &format!("steps = 5000\n{LAUNCH}")).path(), "check", &[]);
    assert_eq!(endless.code, 1, "{}", endless.err);
    assert!(endless.out.contains("step-limit"), "{}", endless.out);
}

#[test]
fn bad_input_is_refused_with_file_and_reason() {
    for (ptx_text, launch, parts) in [
        ("\u{7f}ELF", LAUNCH, &["k.ptx", "ELF", "cuobjdump -ptx"][..]),
        ("\u{feff}.version 9.0", LAUNCH, &["k.ptx", "byte order mark"]),
        (SCALE, "block = 64", &["l.toml", "block"]),
        (SCALE, "blok = [64]", &["l.toml", "blok", "dynamic_shared"]),
        (SCALE, "block = [64]", &["l.toml", "0 parameters", "has 4: n, a, x, y"]),
        (SCALE, "entry = \"other\"", &["l.toml", "`entry` is 'other'", "the module has scale"]),
        (
            &SCALE.replace("sm_80", "sm_90"),
            &format!("architecture = \"sm_80\"\n{LAUNCH}"),
            &["'.target sm_90'", "sm_80"],
        ),
        (&SCALE.replace("9.0", "99.9"), LAUNCH, &["k.ptx", "99.9", "9.x"]),
        (SCALE, "architecture = \"sm_75x\"", &["l.toml", "sm_75x", "sm_90"]),
        (&SCALE.replace("sm_80", "sm_75"), LAUNCH, &["l.toml", "'sm_75'", "`architecture`: sm_80"]),
        (SCALE, &LAUNCH.replace("[64]", "[2000]"), &["2000", "1024"]),
        (SCALE, &LAUNCH.replace("[64]", "[1, 2, 3, 4]"), &["`block`", "x, y, z"]),
        (SCALE, &format!("grid = [3000000000]\n{LAUNCH}"), &["3000000000", "2147483647"]),
        (SCALE, &LAUNCH.replacen("u32", "u16", 1), &["parameter 1 (n) has 4 bytes", "2 as it is described"]),
        (
            SCALE,
            &LAUNCH.replace("value = 64", "value = -1"),
            &["parameter 1", "`value`: -1 is no u32", "from 0 to 4294967295"],
        ),
        (SCALE, &LAUNCH.replace("value = 64", "value = 64.0"), &["parameter 1", "`value`: 64.0 is no u32"]),
        // Story: these three were taken, as the bits of 64.0, as infinity, and as two buffers that findings could not tell apart.
        (
            SCALE,
            &LAUNCH.replacen("u32", "f32", 1),
            &["parameter 1 (n) is a .u32", "`type = \"f32\"`", "write `type = \"u32\"`"],
        ),
        (
            SCALE,
            &LAUNCH.replace("fill = 3", "fill = 1e300"),
            &["parameter 3", "`fill`: 1e300 is no f32", "inf"],
        ),
        (SCALE, &LAUNCH.replace("\"y\"", "\"x\""), &["parameters 3 and 4", "'x'", "`name`"]),
        (SCALE, &LAUNCH.replace("fill = 3", "file = \"none.bin\""), &["parameter 3", "none.bin"]),
        (SCALE, &LAUNCH.replace("fill = 3", "fill = 3\nvalues = [1]"), &["parameter 3", "one of them"]),
        (SCALE, &LAUNCH.replace("count = 65", "count = 67108850"), &["parameter 4", "268435456 for all"]),
        (
            SCALE,
            &LAUNCH.replace("count = 64\nfill = 3", "count = 2\nvalues = [1, 2, 3]"),
            &["12 bytes", "2 elements", "which take 8", "`count = 3` or more"],
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

/// Story: a text for what the machine does not play was refused as misspelt, and `explain` ended at the first instruction that it did not know.
#[test]
fn explain_lists_all_that_cannot_run() {
    let text = SCALE
        .replace("bar.sync 0;", "bar.sync 0; mbarrier.arrive.b64 _, [%rd1]; frob.u32 %r1; frob.u32 %r1;")
        .replace("mul.f32 %f3, %f3, %f1;", "mul.f32 %r3, %f3, %f1;");
    let folder = folder(&format!("{text}.visible .entry fine() {{ ret; }}\n"), LAUNCH);
    let explained = run_in(folder.path(), &["ptx", "explain", "k.ptx"]);
    assert_eq!(explained.code, 2, "{}{}", explained.out, explained.err);
    for part in [
        "entry scale\n  it can't be run, for 3 reason(s):",
        "'mbarrier.arrive.b64' is not supported: of barriers the machine plays `bar.sync`, `barrier.sync` and `bar.warp.sync`",
        "'frob.u32' is not in the table",
        "(and once more, at line 24)",
        "entry fine\n",
    ] {
        assert!(explained.out.contains(part), "{part}: {}", explained.out);
    }
}

/// A note or an error that only a later order shows names that order; `count` runs in any order, too.
#[test]
fn orders_are_named() {
    // Lane 0 of block 0 reads what block 1 writes: a race in each order; which value it reads depends on the order.
    let text = SCALE.replace("bar.sync 0;", "");
    let folder = folder(&text, LAUNCH);
    let counted = ptx(folder.path(), "count", &["--order", "5"]);
    assert_eq!(counted.code, 1, "{}{}", counted.out, counted.err);
    assert!(counted.out.contains("dynamic, order 5\nblocks"), "{}", counted.out);
    assert!(counted.out.contains("counted by lanes)"), "{}", counted.out);
    let alone = ptx(one_thread().path(), "run", &[]);
    assert!(alone.out.contains("block 1 x 1 x 1 (one thread a block)"), "{}{}", alone.out, alone.err);
}

/// A sum of floats depends on the order in which the threads come; one of integers does not.
#[test]
fn atomics_are_named_where_the_result_depends_on_their_order() {
    let text = |ty: &str, one: &str| {
        format!(
            ".version 9.0\n.target sm_80\n.address_size 64\n.visible .entry add(.param .u64 x) {{\n.reg .b32 %r<4>; .reg .{ty} %v<3>; \
             .reg .b64 %d<2>;\nld.param.u64 %d1, [x]; mov.u32 %r1, %tid.x;\ncvt.{one} %v1, %r1;\nred.global.add.{ty} [%d1], %v1;\nret; }}\n"
        )
    };
    let launch = |ty: &str| {
        format!(
            "block = [64]\ngrid = [2]\n[[param]]\nname = \"x\"\ntype = \"{ty}\"\ncount = 1\nvalues = [16777215]\n"
        )
    };
    let floats = folder(&text("f32", "rn.f32.u32"), &launch("f32"));
    let checked = ptx(floats.path(), "check", &["--orders", "6"]);
    assert_eq!(checked.code, 1, "{}{}", checked.out, checked.err);
    let said = "order-dependent: element 0 of x is another after order";
    assert!(
        checked.out.contains(said) && checked.out.contains(": its atomics (line 8) came in another order"),
        "{}",
        checked.out
    );
    let integers = folder(&text("u32", "u32.u32"), &launch("u32"));
    let checked = ptx(integers.path(), "check", &["--orders", "6"]);
    assert_eq!(checked.code, 0, "{}{}", checked.out, checked.err);
}

/// Story: `check` ended at the first order with an error, and what only another order shows was not found.
#[test]
fn every_order_is_run_and_each_finding_said_once() {
    let text = "\
.version 9.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 x)
{
.reg .pred %p<3>;
.reg .b32 %r<4>;
.reg .b64 %rd<2>;
ld.param.u64 %rd1, [x];
mov.u32 %r1, %tid.x;
setp.eq.u32 %p1, %r1, 0;
mov.u32 %r2, 1;
@%p1 st.global.u32 [%rd1], %r2;
setp.eq.u32 %p1, %r1, 32;
@%p1 ld.global.u32 %r2, [%rd1];
setp.eq.u32 %p2, %r2, 0;
@%p2 st.global.u32 [%rd1+4], %r1;
ret;
}
";
    let folder = folder(text, "block = [64]\n[[param]]\nname = \"x\"\ntype = \"u32\"\ncount = 1\nfill = 0\n");
    let checked = ptx(folder.path(), "check", &[]);
    assert_eq!(checked.code, 1, "{}{}", checked.out, checked.err);
    // Forward, thread 0 stores before thread 32 loads; backward, thread 32 finds a zero and goes wrong.
    for part in
        ["dynamic, orders 0 to 3\n", "out-of-bounds at line 17", "(first seen in order 1)", "--order 1\n"]
    {
        assert!(checked.out.contains(part), "{part}: {}", checked.out);
    }
    assert_eq!(checked.out.matches("race at line 15").count(), 1, "{}", checked.out);
    let again = ptx(folder.path(), "run", &["--order", "1"]);
    assert!(again.out.contains("out-of-bounds at line 17"), "{}", again.out);
    assert!(!ptx(folder.path(), "run", &[]).out.contains("out-of-bounds"));
}

/// Story: with `--json` nothing was printed where the entry could not be run, and `explain` had no JSON.
#[test]
fn errors_and_explanations_are_objects_too() {
    let object = |at: &Path, words: &[&str], code: i32| -> serde_json::Value {
        let ran = run_in(at, words);
        assert_eq!(ran.code, code, "{}{}", ran.out, ran.err);
        serde_json::from_str(&ran.out).expect("one JSON object")
    };
    let wrong = folder(SCALE, &LAUNCH.replace("[64]", "[2000]"));
    for verb in ["run", "check", "count"] {
        let said = object(wrong.path(), &["ptx", verb, "k.ptx", "--launch", "l.toml", "--json"], 2);
        assert!(said["error"].as_str().is_some_and(|error| error.contains("2000")), "{said}");
    }
    let junk = folder("junk", LAUNCH);
    let said = object(junk.path(), &["ptx", "explain", "k.ptx", "--json"], 2);
    assert!(said["error"].as_str().is_some_and(|error| error.contains("k.ptx: line 1, column 1")), "{said}");
    let said = object(wrong.path(), &["ptx", "explain", "k.ptx", "--json"], 0);
    let entry = &said["entries"][0];
    assert_eq!((&said["version"], &entry["name"]), (&"9.0".into(), &"scale".into()));
    assert_eq!(entry["has"]["parameters"][3], serde_json::json!({ "name": "y", "bytes": 8, "offset": 16 }));
    assert_eq!((&entry["has"]["shared"], &entry["has"]["instructions"]), (&256.into(), &21.into()));
    let odd = folder(&SCALE.replace("bar.sync 0;", "frob.u32 %r1; frob.u32 %r1;\nfrob.u32 %r1;"), LAUNCH);
    let said = object(odd.path(), &["ptx", "explain", "k.ptx", "--json"], 2);
    let entry = &said["entries"][0];
    assert_eq!((&entry["reasons"], &entry["refusals"][0]["line"]), (&3.into(), &24.into()));
    assert_eq!(entry["refusals"][0]["again"], serde_json::json!([24, 25]));
    assert!(entry.get("has").is_none());
}

/// Story: `.reqntid` was taken for a limit, and the refusal called it `.maxntid`.
#[test]
fn a_required_block_is_no_limit() {
    let text = SCALE.replace("x, .param .u64 y)", "x, .param .u64 y)\n.reqntid 64");
    assert_eq!(ptx(folder(&text, LAUNCH).path(), "check", &[]).code, 0);
    let refused = ptx(folder(&text, &LAUNCH.replace("[64]", "[32]")).path(), "check", &[]);
    assert_eq!(refused.code, 2, "{}", refused.out);
    assert!(
        refused.err.contains("entry scale says .reqntid: launch it with blocks of [64, 1, 1]"),
        "{}",
        refused.err
    );
    let explained = run_in(folder(&text, LAUNCH).path(), &["ptx", "explain", "k.ptx"]);
    assert!(explained.out.contains("block          64 x 1 x 1, and no other"), "{}", explained.out);
}

/// A launch without `block`.
fn one_thread() -> tempfile::TempDir {
    folder(SCALE, &LAUNCH.replace("block = [64]\n", ""))
}

/// `--json` has the same as the text, as one object.
#[test]
fn json_says_the_same() {
    let folder = folder(&SCALE.replace("bar.sync 0;\n", "\n"), LAUNCH);
    let object = |command: &str, more: &[&str]| -> serde_json::Value {
        let ran = ptx(folder.path(), command, &[&["--json"], more].concat());
        assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
        serde_json::from_str(&ran.out).expect("one JSON object")
    };
    let run = object("run", &["--show", "2", "--order", "2"]);
    assert_eq!(run["launch"]["block"], serde_json::json!([64, 1, 1]));
    assert_eq!(run["launch"]["orders"], serde_json::json!([2]));
    assert_eq!(run["buffers"][0]["shown"], serde_json::json!(["3", "3"]));
    assert_eq!(run["buffers"][1]["type"], "f32");
    let check = object("check", &[]);
    assert_eq!((&check["clean"], &check["findings"][0]["kind"]), (&false.into(), &"race".into()));
    let partner = serde_json::json!({ "line": 27, "thread": [0, 0, 0], "block": [0, 0, 0] });
    assert_eq!(check["findings"][0]["partner"], partner);
    assert_eq!(
        (&check["findings"][0]["counted"], &check["findings"][0]["order"]),
        (&"lanes".into(), &0.into())
    );
    let count = object("count", &[]);
    assert_eq!(count["counters"]["global_requests"], 4);
    assert_eq!(count["counters"]["barriers"], 0);
    assert!(count.get("buffers").is_none() && check.get("counters").is_none());
}

/// What docs/ptx.md shows is what is printed: the example, each verb on it, what is said where its barrier is missing, and JSON.
/// `UPDATE_DOCS=1 cargo test -p sparse-conformance --test commands cli_ptx` writes it anew.
#[test]
fn the_samples_of_the_documentation_are_what_is_printed() {
    let launch = LAUNCH.replace("\n[[param]]", "\n\n[[param]]");
    let right = folder(SCALE, &launch);
    let racing = folder(&SCALE.replace("bar.sync 0;\n", "\n"), &launch);
    let odd = folder(&SCALE.replace("bar.sync 0;", "mbarrier.arrive.shared.b64 _, [%r3];"), &launch);
    let shown = |at: &Path, words: &str| {
        let ran = run_in(at, &words.split(' ').collect::<Vec<_>>());
        assert_eq!(ran.err, "", "{words}");
        format!("$ conformance {words}\n{}", ran.out)
    };
    let all = [
        ("run", shown(right.path(), "ptx run k.ptx --launch l.toml --show 4")),
        ("check", shown(right.path(), "ptx check k.ptx --launch l.toml")),
        ("race", shown(racing.path(), "ptx check k.ptx --launch l.toml")),
        ("count", shown(right.path(), "ptx count k.ptx --launch l.toml")),
        ("explain", shown(right.path(), "ptx explain k.ptx")),
        ("refused", shown(odd.path(), "ptx explain k.ptx")),
        ("json", shown(racing.path(), "ptx check k.ptx --launch l.toml --json")),
    ];
    stands_in_the_documentation("sample ptx", &format!("```\n{SCALE}```\n"));
    stands_in_the_documentation("sample toml", &format!("```toml\n{launch}```\n"));
    for (name, sample) in all {
        stands_in_the_documentation(&format!("sample {name}"), &format!("```text\n{sample}```\n"));
    }
    let mut table = String::from("| counter | key in JSON | what it counts |\n|---|---|---|\n");
    for counter in sparse_conformance::ptx::COUNTERS {
        table += &format!("| {} | `{}` | {} |\n", counter.label.trim(), counter.key, counter.about);
    }
    stands_in_the_documentation("counters", &table);
}

/// The text between `<!-- NAME -->` and `<!-- end -->` of docs/ptx.md is this one.
fn stands_in_the_documentation(name: &str, expected: &str) {
    let start = format!("<!-- {name} -->\n");
    let tests = "--test commands cli_ptx";
    documents::assert_stands_between((&start, "<!-- end -->"), "../docs/ptx.md", expected, tests);
}

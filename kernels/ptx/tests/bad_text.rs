//! Bad inputs and what is said about them, word for word; and random damage to good ones, which must never panic.

use proptest::prelude::*;
use sparse_ptx::decode::programs;
use sparse_ptx::text::parse;

const HEAD: &str = ".version 9.0\n.target sm_80\n.address_size 64\n";

/// What is said about a whole text: the error of the first step that refuses it.
fn said(text: &str) -> String {
    match parse(text) {
        Err(error) => error.to_string(),
        Ok(module) => programs(&module).map_or_else(|error| error.to_string(), |_| "accepted".into()),
    }
}

/// What is said about this body of an entry; its first line is line 10.
fn body(body: &str) -> String {
    said(&format!(
        "{HEAD}.global .align 4 .u32 word;\n.shared .align 8 .b8 tile[64];\n.visible .entry e(.param .u64 a)\n\
         {{.reg .b32 %r<4>; .reg .f32 %f<4>;\n.reg .b64 %rd<4>; .reg .pred %p<4>; .reg .b16 %rs<4>;\n\n{body}\n}}\n"
    ))
}

/// Text that is no PTX, or none that is read.
const TEXTS: &[(&str, &str)] = &[
    (
        "",
        "line 1, column 1: found the end of the text, where '.version', with which a text of PTX begins, belongs",
    ),
    (
        "\u{7f}ELF\0\0",
        "line 1, column 1: found '\\u{7f}', where '.version', with which a text of PTX begins, belongs",
    ),
    (
        "// a comment\n/* open",
        "line 2, column 1: found a comment that does not end, where '.version', with which a text of PTX begins, belongs",
    ),
    (".version 9", "line 1, column 10: found '9', where a version such as '9.0' belongs"),
    (".version 900.0", "line 1, column 10: 900.0 is no good number here: a version such as '9.0'"),
    (
        ".version 99.9\n.target sm_80",
        "line 1, column 10: '99.9' is not supported: this reads PTX up to 9.x; compile for an older version",
    ),
    (
        ".version 9.0\n.target gtx",
        "line 2, column 9: found 'gtx', where an architecture such as 'sm_80' belongs",
    ),
    (
        ".version 9.0\n.target sm_80\n.address_size 32",
        "line 3, column 15: '32' is not supported: addresses are of 64 bits here; compile with '-m64'",
    ),
    (
        ".version 9.0\n.target sm_x\n.entry e(){ret;}",
        "line 1, column 1: '.target sm_x' is not supported: it is an architecture such as 'sm_80'",
    ),
];

/// What stands behind a good head; it begins in line 4.
const MODULES: &[(&str, &str)] = &[
    (
        "ret;",
        "line 4, column 1: found 'ret', where a directive such as '.visible', '.entry' or '.global' belongs",
    ),
    (
        ".visible .func f() { ret; }",
        "line 4, column 10: '.func' is not supported: this machine runs entries without calls; let the compiler inline everything ('__forceinline__')",
    ),
    (
        ".version 9.0",
        "line 4, column 1: found '.version', where a directive of the one module that a text holds belongs",
    ),
    (".global .u32 x", "line 4, column 15: found the end of the text, where ';' after the variable belongs"),
    (
        ".global .align 3 .u32 x;",
        "line 4, column 16: 3 is no good number here: an alignment is a power of two, 4096 at most",
    ),
    (".global .b8 x[2000000000];", "line 4, column 15: too much: bytes of a variable (at most 1073741824)"),
    (
        ".global .b8 x[99999999999999999999];",
        "line 4, column 15: 99999999999999999999 is no good number here: it must fit in 64 bits",
    ),
    (
        ".global .b8 x[300000000];",
        "line 4, column 13: too much: bytes of global variables (at most 268435456)",
    ),
    (
        ".global .u32 x[1] = {1, 2};",
        "line 4, column 27: too much: initial values of this variable, by its length (at most 1)",
    ),
    (
        ".shared .u32 x = 1;",
        "line 4, column 16: found '=', where ';' (only '.global' and '.const' variables have initial values) belongs",
    ),
    (
        ".global .u32 x; .global .u32 x; .entry e() { ret; }",
        "line 4, column 30: 'x' is declared twice in one scope",
    ),
    (
        ".global .u64 x = y; .entry e() { ret; }",
        "line 4, column 14: the initial value of 'x' is not supported: only numbers are, of the variable's type; write addresses from a kernel",
    ),
    (
        ".global .pred x;",
        "line 4, column 15: found 'x', where a variable of another type than '.pred', which only registers have, belongs",
    ),
    (
        ".global .texref x;",
        "line 4, column 9: '.texref' is not supported: managed memory and textures are not part of this machine",
    ),
    (
        ".entry e(.param .b8 x[40000]) { ret; }",
        "line 4, column 21: too much: bytes of parameters (at most 32764)",
    ),
    (
        ".entry e() { .reg .b32 %r<2000000>; }",
        "line 4, column 35: too much: registers of an entry (at most 1048576)",
    ),
    (
        ".entry e() .maxclusterrank 4 { ret; }",
        "line 4, column 12: '.maxclusterrank' is not supported: there are no clusters of blocks here",
    ),
    (
        ".entry e() { ret;",
        "line 4, column 18: found the end of the text, where an instruction, a label, a directive or '}' belongs",
    ),
    (
        ".entry e() { call f; }",
        "line 4, column 14: 'call' is not supported: this machine runs entries without calls; let the compiler inline everything ('__forceinline__')",
    ),
    (
        ".section .debug { { }",
        "line 4, column 22: found the end of the text, where '}' at the end of the section belongs",
    ),
    (
        ".file 1 \"open\n",
        "line 4, column 9: found a string that does not end in its line, where the file's name in quotes belongs",
    ),
];

/// Instructions, from line 10.
const BODIES: &[(&str, &str)] = &[
    ("add.s32 %r1, %r2 %r3;", "line 10, column 18: found '%r3', where ',' or ';' in the instruction belongs"),
    (
        "add.s32 %r1, %r2, ;",
        "line 10, column 19: found ';', where an operand: a register, a number, '{..}' or '[..]' belongs",
    ),
    ("ld.global.u32 %r1, [%rd1;", "line 10, column 25: found ';', where ']' after the address belongs"),
    ("ld.global.u32 %r1, [%rd1+%r2];", "line 10, column 26: found '%r2', where an offset in bytes belongs"),
    (
        "@%r1 ret;",
        "line 10, column 1: '@%r1' guards an instruction by a register of type '.b32', where one of type '.pred' belongs; compare first, with \
         'setp'",
    ),
    (
        "@%p9 ret;",
        "line 10, column 1: '%p9' is not declared: no register, special register, variable or parameter has this name",
    ),
    ("add.s32 %r1, %r2;", "line 10, column 1: 'add.s32' takes 3 operands, but here are 2"),
    (
        "add.s32 %r1, %r2, %rd1;",
        "line 10, column 1: operand 3 of 'add.s32' is '%rd1', which is declared as '.b64', where a register of type '.b32', '.u32' or '.s32' \
         belongs; declare it so, or bring its value into such a register: 'mov.b32' and its like copy bits, 'cvt' converts",
    ),
    (
        "add.s32 5, %r2, %r1;",
        "line 10, column 1: operand 1 of 'add.s32' is the number 5, where a register of up to 32 bits belongs",
    ),
    (
        "add.s32 %r1, %r2, [%rd1];",
        "line 10, column 1: operand 3 of 'add.s32' is '[%rd1]', where a register of up to 32 bits, or a number that it can hold, belongs",
    ),
    (
        "add.s32 %r1, %r2, %r4;",
        "line 10, column 1: '%r4' is not declared: no register, special register, variable or parameter has this name",
    ),
    (
        "add.s32 %r1, %r2, %r01;",
        "line 10, column 1: '%r01' is not declared: no register, special register, variable or parameter has this name",
    ),
    (
        "mov.u32 %r1, %clock;",
        "line 10, column 1: '%clock' is not supported: there are no clocks here: a result that depends on one is no result",
    ),
    (
        "mov.u32 %tid.x, %r1;",
        "line 10, column 1: operand 1 of 'mov.u32' is '%tid.x', where a register of up to 32 bits belongs",
    ),
    (
        "mov.u32 %r1, word;",
        "line 10, column 1: operand 2 of 'mov.u32' is 'word', where something of 32 bits (an address in global memory has 64) belongs",
    ),
    (
        "mov.b32 %r1, {%r1, %r2, %r3};",
        "line 10, column 1: operand 2 of 'mov.b32' is a vector of 3, where a register or a vector of as many bits belongs",
    ),
    ("bra nowhere;", "line 10, column 1: there is no label 'nowhere' in this scope or those around it"),
    (
        "{ inner: ret; } bra inner;",
        "line 10, column 17: there is no label 'inner' in this scope or those around it",
    ),
    ("x: ret; x: ret;", "line 10, column 9: 'x' is declared twice in one scope"),
    (
        "{ .reg .b32 t; } mov.u32 t, 0;",
        "line 10, column 18: 't' is not declared: no register, special register, variable or parameter has this name",
    ),
    (
        "frobnicate.s32 %r1;",
        "line 10, column 1: 'frobnicate.s32' is not in the table of instructions; nothing there has this name",
    ),
    (
        "multimem.red.relaxed.sys.global.add.u32 [%rd1], %r1;",
        "line 10, column 1: 'multimem.red.relaxed.sys.global.add.u32' is not supported: there is one device here: write `ld`, `st` or `red`",
    ),
    (
        "red.async.relaxed.cluster.global.add.u32 [%rd1], 1, [%r1];",
        "line 10, column 1: 'red.async.relaxed.cluster.global.add.u32' is not supported: of asynchronous copies the machine plays \
         `cp.async.ca` and `cp.async.cg` with groups",
    ),
    (
        "wgmma.fence.sync.aligned;",
        "line 10, column 1: 'wgmma.fence.sync.aligned' needs sm_90, but the module says '.target sm_80'",
    ),
    (
        "wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e4m3 {%r1}, %rd1, %rd1, 1, 1, 1;",
        "line 10, column 1: 'wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e4m3' is not supported: of `wgmma` the machine plays \
         `fence`, `commit_group`, `wait_group`, and `mma_async` of m64n8 to m64n256, in steps of 8, of f16 and bf16 with k16 and tf32 with k8, and \
         `.sp` with twice that k, all with `.sync.aligned`",
    ),
    (
        "reduce.s32 %r1, %r2;",
        "line 10, column 1: 'reduce.s32' is not in the table of instructions; nothing there has this name",
    ),
    (
        "ld.global.u32 %rs1, [%rd1];",
        "line 10, column 1: operand 1 of 'ld.global.u32' is '%rs1', where a register of at least 32 bits belongs",
    ),
    (
        "ld.global.u32 %p1, [%rd1];",
        "line 10, column 1: operand 1 of 'ld.global.u32' is '%p1', where a register of at least 32 bits belongs",
    ),
    (
        "ld.global.u32 %r1, [tile];",
        "line 10, column 1: operand 2 of 'ld.global.u32' is '[tile]', where a variable in global memory (this one is in shared) belongs",
    ),
    (
        "ld.global.u32 %r1, %rd1;",
        "line 10, column 1: operand 2 of 'ld.global.u32' is '%rd1', where an address in brackets belongs",
    ),
    (
        "ld.global.v2.u32 {%r1}, [%rd1];",
        "line 10, column 1: operand 1 of 'ld.global.v2.u32' is a vector of 1, where a vector of 2 belongs",
    ),
    (
        "ld.global.u32 {%r1, %r2}, [%rd1];",
        "line 10, column 1: operand 1 of 'ld.global.u32' is a vector of 2, where one register belongs",
    ),
    (
        "cp.async.cg.shared.global [%r1], [%rd1], 8;",
        "line 10, column 1: operand 3 of 'cp.async.cg.shared.global' is the number 8, where 16 belongs",
    ),
    (
        "cp.async.wait_group %r1;",
        "line 10, column 1: operand 1 of 'cp.async.wait_group' is '%r1', where a number of groups belongs",
    ),
    (
        "shfl.sync.idx.b32 %r1, %r2, %r3;",
        "line 10, column 1: 'shfl.sync.idx.b32' takes 5 operands, but here are 3",
    ),
    ("bar.sync 0, 1, 2;", "line 10, column 1: 'bar.sync' takes 1 or 2 operands, but here are 3"),
    (
        "bar.sync 16;",
        "line 10, column 1: operand 1 of 'bar.sync' is the number 16, where the number of a barrier, from 0 to 15, belongs",
    ),
    (
        "bar.sync 0, 33;",
        "line 10, column 1: operand 2 of 'bar.sync' is the number 33, where a number of threads that is a multiple of 32 belongs",
    ),
    ("ret 1;", "line 10, column 1: 'ret' takes no operands, but here are 1"),
    (
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0,%f1,%f2,%f3}, {%r0,%r1}, {%r0,%r1}, {%f0,%f1,%f2,%f3};",
        "line 10, column 1: operand 2 of 'mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32' is a vector of 2, where a vector of 4 belongs",
    ),
    (
        "setp.eq.s32 %p1, %r1, 0f3F800000;",
        "line 10, column 1: operand 3 of 'setp.eq.s32' is the number 0f3F800000, where a register of type '.b32', '.u32' or '.s32', or an \
         integer, belongs",
    ),
    (
        "add.f32 %f1, %f2, 1;",
        "line 10, column 1: operand 3 of 'add.f32' is the number 1, where a register of type '.f32' or '.b32', or a number such as '1.0' \
         or '0f3F800000', belongs",
    ),
    (
        "add.u32 %r1, %r2, %tid.x;",
        "line 10, column 1: operand 3 of 'add.u32' is '%tid.x', where a register that 'mov' has brought the special register into, belongs",
    ),
];

#[test]
fn messages() {
    let mut wrong = Vec::new();
    let texts = TEXTS.iter().map(|(text, expected)| (*text, said(text), *expected));
    let modules = MODULES.iter().map(|(text, expected)| (*text, said(&format!("{HEAD}{text}")), *expected));
    let bodies = BODIES.iter().map(|(text, expected)| (*text, body(text), *expected));
    for (text, found, expected) in texts.chain(modules).chain(bodies) {
        if found != expected {
            wrong.push(format!("{text}\n  says     {found}\n  expected {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Numbers in, not a word of nonsense out: what the table lacks is named with what comes near.
#[test]
fn unknown_forms_come_with_their_neighbours() {
    let said = body("add.s8 %r1, %r2, %r3;");
    assert!(
        said.starts_with("line 10, column 1: 'add.s8' is not in the table of instructions; near are 'add."),
        "{said}"
    );
}

/// Story: what lists the instructions of a text stopped at the first that it did not know.
#[test]
fn all_that_keeps_an_entry_from_running_is_listed() {
    let text = format!(
        "{HEAD}.entry e() {{ .reg .b32 %r<4>; .reg .f32 %f<4>;\nfoo.u32 %r1;\nadd.s32 %r1, %r2, 1;\ndiscard.L2 [%r2], 128;\n\
         add.f32 %r1, %f1, %f2;\nadd.s32 %f1, %r1, %r2;\nret; }} .entry f() {{ ret; }}"
    );
    let module = parse(&text).expect("PTX");
    let lines = |entry: usize| -> Vec<u32> {
        sparse_ptx::decode::refusals(&module, &module.entries[entry])
            .iter()
            .map(|error| error.at.line)
            .collect()
    };
    assert_eq!(lines(0), [5, 7, 9]);
    assert!(lines(1).is_empty());
}

/// Large junk is refused at its beginning, however long it is.
#[test]
fn a_hundred_megabytes_of_junk() {
    for junk in ["\u{1}", "add.s32 ", "{", "((((", "/*", "\"", "\n", "9"] {
        let text = junk.repeat(100_000_000 / junk.len());
        let start = std::time::Instant::now();
        assert!(parse(&text).is_err(), "{junk:?}");
        assert!(start.elapsed().as_secs() < 5, "{junk:?} took {:?}", start.elapsed());
    }
    let deep = format!("{HEAD}.entry e() {{ {}", "{".repeat(1_000_000));
    assert_eq!(said(&deep), "line 4, column 78: too much: scopes in scopes (at most 64)");
    let many = format!("{HEAD}.entry e() {{ {}", "a;".repeat(3_000_000));
    assert_eq!(
        said(&many),
        "line 4, column 4000016: too much: labels, scopes and instructions (at most 2000000)"
    );
    let long = "x".repeat((1 << 28) + 1);
    assert_eq!(said(&long), "line 1, column 1: too much: bytes of the text (at most 268435456)");
}

/// A small file of our own, whole.
fn small() -> &'static str {
    use std::io::Read as _;
    static TEXT: std::sync::LazyLock<String> = std::sync::LazyLock::new(|| {
        let mut text = String::new();
        for name in ["measure", "listed", "preprocess"] {
            let path = format!("{}/../cuda/ptx/{name}.ptx.gz", env!("CARGO_MANIFEST_DIR"));
            let file = std::fs::File::open(path).expect("our PTX");
            let mut whole = String::new();
            flate2::read::GzDecoder::new(file).read_to_string(&mut whole).expect("gzip");
            // The beginning of each is enough: an entry or a few.
            let cut = whole.char_indices().map(|(at, _)| at).nth(40_000).unwrap_or(whole.len());
            let cut = whole[..cut].rfind("\n}\n").map_or(whole.len(), |at| at + 3);
            text.push_str(if text.is_empty() { &whole[..cut] } else { without_head(&whole[..cut]) });
        }
        text
    });
    &TEXT
}

fn without_head(text: &str) -> &str {
    text.split_once(".address_size 64").map_or(text, |(_, rest)| rest)
}

#[test]
fn the_undamaged_text_is_accepted() {
    let module = parse(small()).expect("our PTX");
    assert!(module.entries.len() > 5);
    programs(&module).expect("our PTX");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damage_never_panics(
        edits in proptest::collection::vec((0_u8..6, any::<prop::sample::Index>(), any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let mut bytes = small().as_bytes().to_vec();
        for (kind, at, other, byte) in edits {
            if bytes.is_empty() {
                break;
            }
            let (at, other) = (at.index(bytes.len()), other.index(bytes.len()));
            let line = bytes[at..].iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |end| at + end + 1);
            match kind {
                0 => bytes.truncate(at),
                1 => bytes[at] = byte,
                2 => drop(bytes.drain(at..line)),
                3 => bytes.swap(at, other),
                4 => bytes.insert(at, byte),
                _ => {
                    let copy: Vec<u8> = bytes[at..line].to_vec();
                    drop(bytes.splice(other..other, copy));
                }
            }
        }
        said(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn nonsense_of_tokens_never_panics(
        words in proptest::collection::vec(prop::sample::select(vec![
            ".entry", ".reg", ".b32", ".pred", "%r<3>", "%r1", "%rd1", "%p1|%p2", "{", "}", "(", ")", "[", "]", ",", ";", ":", "@",
            "!", "=", "+", "-", "_", "0x", "1e9", "0f00000000", "18446744073709551615", "add.s32", "ret", "bra", "x", ".shared",
            ".align", "8", ".b8", "mov.b64", "ld.global.v4.u32", "mma.sync", ".param", ".loc", ".section", "\"s\"",
        ]), 0..80),
    ) {
        said(&words.join(" "));
        body(&words.join(" "));
    }
}

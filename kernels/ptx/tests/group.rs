//! What `wgmma` asks of a program: fences before it, waits behind it, four warps that do the same; each left out once.

use sparse_oracle::arithmetic::Architecture;
use sparse_ptx::check::Kind;
use sparse_ptx::decode::programs;
use sparse_ptx::machine::{self, Launch, Outcome};
use sparse_ptx::memory::Device;
use sparse_ptx::text::parse;

/// D = A * B of ones: 16 everywhere. Each instruction on a line of its own; `[s..]` is the tile of B.
const TEXT: &str = "
.version 8.3
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 out)
{
.reg .pred %p<4>;
.reg .b32 %r<16>;
.reg .f32 %f<8>;
.reg .b64 %d<8>;
.shared .align 1024 .b8 s[1024];
ld.param.u64 %d1, [out];
mov.u32 %r1, %tid.x;
mov.u32 %r2, s;
shl.b32 %r3, %r1, 2;
add.u32 %r3, %r3, %r2;
mov.b32 %r4, 0x3c003c00;
mov.u64 %d7, 0;
st.shared.b32 [%r3], %r4;
fence.proxy.async;
bar.sync 0;
shr.u32 %r5, %r2, 4;
cvt.u64.u32 %d2, %r5;
mov.b64 %d3, 0x800080000;
add.s64 %d4, %d2, %d3;
setp.lt.u32 %p1, %r1, 32;
mov.f32 %f0, 0f00000000;
mov.f32 %f1, %f0;
mov.f32 %f2, %f0;
mov.f32 %f3, %f0;
wgmma.fence.sync.aligned;
wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, {%r4, %r4, %r4, %r4}, %d4, 1, 1, 1, 0;
wgmma.commit_group.sync.aligned;
wgmma.wait_group.sync.aligned 0;
mul.wide.u32 %d5, %r1, 16;
add.s64 %d6, %d1, %d5;
st.global.v4.f32 [%d6], {%f0, %f1, %f2, %f3};
ret;
}
";
const PRODUCT: &str = "wgmma.mma_async";

/// Replaces a line that begins so, which must be there.
fn change(text: &str, line: &str, to: &str) -> String {
    let found = text.lines().filter(|l| l.starts_with(line)).count();
    assert_eq!(found, 1, "{line} is there {found} times");
    text.lines().map(|l| if l.starts_with(line) { to } else { l }).collect::<Vec<_>>().join("\n")
}

struct Played {
    outcome: Outcome,
    words: Vec<f32>,
    /// Of `out`: ranges of bytes.
    undefined: Vec<(usize, usize)>,
}

fn play(text: &str, threads: u32) -> Played {
    let module = parse(text).unwrap_or_else(|error| panic!("{error}"));
    let program = programs(&module).unwrap_or_else(|error| panic!("{error}")).remove(0);
    let mut device = Device::default();
    let out = device.alloc(2048, 256).expect("room");
    device.fill(out, 2048, 0).expect("inside");
    let launch = Launch::new(Architecture::Sm90, 1, threads, out.to_le_bytes().to_vec());
    let outcome = machine::run(&program, &launch, &mut device).expect("it can be launched");
    let undefined = device.read_checked(out, 2048).expect("inside").undefined;
    let bytes = device.read(out, 2048).expect("inside");
    let words = bytes.chunks_exact(4).map(|w| f32::from_le_bytes([w[0], w[1], w[2], w[3]])).collect();
    Played { outcome, words, undefined }
}

/// The one finding, of this kind at the line that begins so; and what it says.
fn only(text: &str, threads: u32, kind: Kind, line: &str) -> String {
    let outcome = play(text, threads).outcome;
    let found: Vec<(Kind, u32)> = outcome.findings.iter().map(|f| (f.kind, f.line)).collect();
    let at = text.lines().position(|l| l.starts_with(line)).expect("the line") as u32 + 1;
    assert_eq!(found, [(kind, at)], "{:?}", outcome.findings);
    outcome.findings[0].to_string()
}

/// Findings of one kind at these lines and nothing else.
fn at_lines(text: &str, kind: Kind, lines: &[&str]) {
    let found: Vec<(Kind, u32)> = play(text, 128).outcome.findings.iter().map(|f| (f.kind, f.line)).collect();
    let at = |line: &&str| text.lines().position(|l| l.starts_with(line)).expect("the line") as u32 + 1;
    let expected: Vec<(Kind, u32)> = lines.iter().map(|line| (kind, at(line))).collect();
    assert_eq!(found, expected);
}

fn clean(text: &str) -> Played {
    let played = play(text, 128);
    assert!(played.outcome.findings.is_empty() && played.outcome.complete, "{:?}", played.outcome.findings);
    played
}

#[test]
fn ones_times_ones() {
    let played = clean(TEXT);
    assert!(played.undefined.is_empty());
    assert_eq!(played.words, [16.0; 512]);
    assert_eq!(played.outcome.counters.mma, 4 * 4);
}

#[test]
fn d_is_added_to_or_not() {
    let text = change(TEXT, "mov.f32 %f0", "mov.f32 %f0, 0f3F800000;");
    assert_eq!(clean(&text).words, [17.0; 512]);
    assert_eq!(clean(&text.replace("%d4, 1, 1, 1, 0", "%d4, 0, 1, 1, 0")).words, [16.0; 512]);
    assert_eq!(clean(&text.replace("%d4, 1, 1, 1, 0", "%d4, 1, -1, 1, 0")).words, [-15.0; 512]);
    assert_eq!(clean(&text.replace("%d4, 1, 1, 1, 0", "%d4, 1, -1, -1, 0")).words, [17.0; 512]);
}

#[test]
fn a_missing_proxy_fence_is_found() {
    let said = only(&change(TEXT, "fence.proxy", ""), 128, Kind::NoProxyFence, PRODUCT);
    assert!(said.contains("written by thread (0,0,0) at line 19, without a fence.proxy.async"), "{said}");
    let global = change(TEXT, "fence.proxy", "fence.proxy.async.global;");
    only(&global, 128, Kind::NoProxyFence, PRODUCT);
    let early = change(TEXT, "st.shared", "fence.proxy.async; st.shared.b32 [%r3], %r4;");
    let early = early.replacen("\nfence.proxy.async;\n", "\n\n", 1);
    only(&early, 128, Kind::NoProxyFence, PRODUCT);
}

/// By who multiplies, behind the barrier; by one lane of it alone it is none.
#[test]
fn a_proxy_fence_may_stand_behind_the_barrier() {
    let without = change(TEXT, "fence.proxy", "");
    clean(&change(&without, "bar.sync", "bar.sync 0; fence.proxy.async.shared::cta;"));
    let one = change(&without, "bar.sync", "bar.sync 0; setp.eq.u32 %p2, %r1, 0; @%p2 fence.proxy.async;");
    only(&one, 128, Kind::NoProxyFence, PRODUCT);
}

#[test]
fn a_missing_barrier_is_a_race() {
    at_lines(&change(TEXT, "bar.sync", ""), Kind::Race, &["st.shared", PRODUCT]);
}

#[test]
fn a_missing_matrix_fence_is_found() {
    only(&change(TEXT, "wgmma.fence", ""), 128, Kind::NoMatrixFence, PRODUCT);
    // C is written behind the fence.
    let late = change(TEXT, "wgmma.fence", "wgmma.fence.sync.aligned; mov.f32 %f2, 0f3F800000;");
    only(&late, 128, Kind::NoMatrixFence, PRODUCT);
    // So is A.
    let late = change(TEXT, "wgmma.fence", "wgmma.fence.sync.aligned; add.u32 %r4, %r4, 1;");
    only(&late, 128, Kind::NoMatrixFence, PRODUCT);
}

/// D of one product is C of the next without a fence or a wait.
#[test]
fn products_are_chained() {
    let line = TEXT.lines().find(|line| line.starts_with(PRODUCT)).expect("a product");
    assert_eq!(clean(&change(TEXT, PRODUCT, &format!("{line}\n{line}\n{line}"))).words, [48.0; 512]);
}

#[test]
fn what_is_not_waited_for_is_undefined() {
    for to in ["", "wgmma.wait_group.sync.aligned 1;"] {
        let text = change(TEXT, "wgmma.wait", to);
        assert_eq!(play(&text, 128).undefined, [(0, 2048)], "{to}");
        let said = only(&text, 128, Kind::OpenProduct, "st.global");
        assert!(said.contains("uses a register of D of a product that is not waited for"), "{said}");
    }
    let uncommitted = change(TEXT, "wgmma.commit", "");
    assert_eq!(play(&uncommitted, 128).undefined, [(0, 2048)]);
    only(&uncommitted, 128, Kind::OpenProduct, "st.global");
}

/// The wait leaves the younger of two groups open.
#[test]
fn a_wait_completes_the_older_groups() {
    let second = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f4, %f5, %f6, %f7}, {%r4, %r4, %r4, %r4}, %d4, 0, 1, 1, 0;\n\
                  wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 1;";
    assert_eq!(clean(&change(TEXT, "wgmma.wait", second)).words, [16.0; 512]);
}

#[test]
fn shared_memory_belongs_to_an_open_product() {
    let write = "wgmma.commit_group.sync.aligned;\nbar.sync 0;\nst.shared.b32 [%r3], %r1;";
    let said = only(&change(TEXT, "wgmma.commit", write), 128, Kind::OpenProduct, PRODUCT);
    assert!(said.contains("before this was waited for"), "{said}");
    // Behind the wait it wants a barrier.
    let write = "wgmma.wait_group.sync.aligned 0;\nst.shared.b32 [%r3], %r1;";
    at_lines(&change(TEXT, "wgmma.wait", write), Kind::Race, &[PRODUCT, "st.shared.b32 [%r3], %r1"]);
    clean(&change(
        TEXT,
        "wgmma.wait",
        "wgmma.wait_group.sync.aligned 0;\nbar.sync 0;\nst.shared.b32 [%r3], %r1;",
    ));
}

#[test]
fn d_of_an_open_product_is_no_a() {
    let second = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f4, %f5, %f6, %f7}, {%r6, %r7, %r6, %r7}, %d4, 0, 1, 1, 0;\n\
                  wgmma.commit_group.sync.aligned;";
    let text = change(TEXT, "wgmma.commit", &format!("wgmma.commit_group.sync.aligned;\n{second}"));
    let text = text
        .replace("m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}", "m64n8k16.f16.f16.f16 {%r6, %r7}")
        .replace("mov.f32 %f3, %f0;", "mov.f32 %f3, %f0;\nmov.b32 %r6, 0;\nmov.b32 %r7, 0;");
    only(&text, 128, Kind::OpenProduct, "wgmma.mma_async.sync.aligned.m64n8k16.f32");
}

#[test]
fn four_warps_do_the_same() {
    let said = only(TEXT, 96, Kind::NotConverged, PRODUCT);
    assert!(said.contains("here are 96 threads"), "{said}");
    // What PTX asks of a whole group are the products, not the fences and waits.
    let more = "@!%p1 bra more;\nwgmma.fence.sync.aligned;\nmore:\nwgmma.fence.sync.aligned;";
    clean(&change(TEXT, "wgmma.fence", more));
    let skip = "@%p1 bra skip;\nwgmma.fence.sync.aligned;";
    let text = change(TEXT, "wgmma.fence", skip);
    let text = change(&text, "mul.wide", "skip:\nmul.wide.u32 %d5, %r1, 16;");
    let said = play(&text, 128).outcome.findings;
    assert_eq!(said.len(), 1, "{said:?}");
    assert_eq!(said[0].kind, Kind::NotConverged);
    assert!(
        said[0].explanation.contains("warps 0 and 1 of a group have not executed the same products"),
        "{said:?}"
    );
}

#[test]
fn lanes_that_are_not_there_are_found() {
    let text =
        change(TEXT, "ld.param", "mov.u32 %r1, %tid.x;\nsetp.eq.u32 %p3, %r1, 5;\nld.param.u64 %d1, [out];");
    let text = change(&text, "wgmma.fence", "@%p3 ret;\nwgmma.fence.sync.aligned;");
    let found = play(&text, 128).outcome.findings;
    assert!(found.iter().any(|f| f.kind == Kind::NotConverged), "{found:?}");
}

#[test]
fn a_descriptor_is_the_same_in_all_lanes() {
    let text = change(TEXT, "cvt.u64", "add.u32 %r5, %r5, %r1;\ncvt.u64.u32 %d2, %r5;");
    let found = play(&text, 128).outcome.findings;
    assert!(found.iter().any(|f| f.kind == Kind::NotUniform), "{found:?}");
}

#[test]
fn what_lies_outside_of_shared_memory_is_found() {
    let text = change(TEXT, "shr.u32", "mov.u32 %r5, 56;");
    let said = only(&text, 128, Kind::OutOfBounds, PRODUCT);
    assert!(said.contains("of shared memory, which has 1024"), "{said}");
}

#[test]
fn a_descriptor_that_is_not_played_says_so() {
    for (bits, why) in [("0x2000800080000", "its base offset is not 0"), ("0x6000000800080000", "")] {
        let played = play(&change(TEXT, "mov.b64", &format!("mov.b64 %d3, {bits};")), 128);
        let unsupported: Vec<_> =
            played.outcome.findings.iter().filter(|f| f.kind == Kind::Unsupported).collect();
        assert_eq!(unsupported.len(), usize::from(!why.is_empty()), "{:?}", played.outcome.findings);
        assert!(unsupported.iter().all(|f| f.explanation.contains(why)), "{unsupported:?}");
    }
}

/// B is undefined in one column: that column of D is, and no other.
#[test]
fn an_undefined_column_of_b_spoils_its_column_only() {
    // Column 3 lies in bytes 48 to 63 and 176 to 191: words 12 to 15 and 44 to 47.
    let text = change(
        TEXT,
        "st.shared",
        "and.b32 %r8, %r1, 28;\nsetp.ne.u32 %p2, %r8, 12;\n@%p2 st.shared.b32 [%r3], %r4;",
    );
    let played = clean(&text);
    let lanes = (0..128).filter(|thread| thread % 4 == 1);
    let expected: Vec<(usize, usize)> =
        lanes.flat_map(|thread| [(16 * thread + 4, 4), (16 * thread + 12, 4)]).collect();
    assert_eq!(played.undefined, expected);
}

#[test]
fn another_target_is_refused() {
    let module = TEXT.replace("sm_90a", "sm_90");
    let module = parse(&module).expect("the text");
    let error = programs(&module).expect_err("sm_90").to_string();
    assert!(error.contains("'wgmma.fence.sync.aligned' needs sm_90a, which no other target has"), "{error}");
    let module = parse(TEXT).expect("the text");
    let program = programs(&module).expect("a program").remove(0);
    let launch = Launch::new(Architecture::Sm80, 1, 128, vec![0; 8]);
    assert!(machine::run(&program, &launch, &mut Device::default()).is_err());
}

/// D of a product that was waited for is C of the next without another `wgmma.fence`: PTX exempts sums of the same shape.
#[test]
fn sums_go_on_behind_a_wait() {
    let line = TEXT.lines().find(|line| line.starts_with(PRODUCT)).expect("a product");
    let again = format!(
        "wgmma.wait_group.sync.aligned 0;\n{line}\nwgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;"
    );
    assert_eq!(clean(&change(TEXT, "wgmma.wait", &again)).words, [32.0; 512]);
}

/// A write is covered by any fence that barriers order between it and the product.
#[test]
fn a_proxy_fence_stands_anywhere_between() {
    let without = change(TEXT, "fence.proxy", "");
    clean(&change(&without, "bar.sync", "bar.sync 0; fence.proxy.async; bar.sync 0;"));
    // Of one thread that neither wrote nor multiplies: warp 3 writes bytes that B does not have.
    let other = "bar.sync 0; setp.eq.u32 %p2, %r1, 100; @%p2 fence.proxy.async; bar.sync 0;";
    clean(&change(&without, "bar.sync", other));
    let late = "bar.sync 0; bar.sync 0; setp.eq.u32 %p2, %r1, 100; @%p2 fence.proxy.async;";
    only(&change(&without, "bar.sync", late), 128, Kind::NoProxyFence, PRODUCT);
    // A barrier of a number of threads.
    clean(&change(&without, "bar.sync", "barrier.sync 1, 128; fence.proxy.async;"));
}

/// A lies in shared memory: 512 bytes a warp, from byte 1024 on.
fn with_a_in_memory() -> String {
    let text = change(TEXT, ".shared", ".shared .align 1024 .b8 s[4096];");
    let text = change(
        &text,
        "bar.sync",
        "shl.b32 %r9, %r1, 4;\nadd.u32 %r9, %r9, %r2;\nst.shared.v4.b32 [%r9+1024], {%r4, %r4, %r4, %r4};\nfence.proxy.async;\nbar.sync 0;",
    );
    let text = change(
        &text,
        "setp.lt",
        "mov.b64 %d3, 0x1000080040;\nadd.s64 %d3, %d2, %d3;\nsetp.lt.u32 %p1, %r1, 32;",
    );
    text.replace("{%r4, %r4, %r4, %r4}, %d4, 1, 1, 1, 0;", "%d3, %d4, 1, 1, 1, 0, 0;")
}

/// Each lane has waited for the whole product of its warp: it may write what "another lane" read. Another warp may not.
#[test]
fn rows_of_a_warp_are_its_own_again_behind_the_wait() {
    let text = with_a_in_memory();
    assert_eq!(clean(&text).words, [16.0; 512]);
    let write = |mask: u32| {
        format!(
            "wgmma.wait_group.sync.aligned 0;\nxor.b32 %r10, %r1, {mask};\nshl.b32 %r10, %r10, 4;\nadd.u32 %r10, %r10, %r2;\nst.shared.b32 [%r10+1024], %r1;"
        )
    };
    for mask in [1, 2, 16] {
        clean(&change(&text, "wgmma.wait", &write(mask)));
    }
    let found = play(&change(&text, "wgmma.wait", &write(32)), 128).outcome.findings;
    assert!(found.iter().any(|f| f.kind == Kind::Race), "{found:?}");
}

/// Zero where nothing was written before: the register holds it by chance, and the fence came before.
#[test]
fn a_register_that_is_first_written_behind_the_fence_is_found() {
    let text = change(TEXT, "mov.f32 %f3", "");
    let late = change(&text, "wgmma.fence", "wgmma.fence.sync.aligned; mov.f32 %f3, 0f00000000;");
    only(&late, 128, Kind::NoMatrixFence, PRODUCT);
}

#[test]
fn a_register_of_d_is_not_written_before_the_wait() {
    let late = change(TEXT, "wgmma.commit", "wgmma.commit_group.sync.aligned; mov.f32 %f1, 0f3F800000;");
    let said = only(&late, 128, Kind::OpenProduct, PRODUCT);
    assert!(said.contains("a register of D was written before this was waited for"), "{said}");
    let never = change(&late, "wgmma.wait", "");
    at_lines(&never, Kind::OpenProduct, &[PRODUCT, "st.global"]);
}

/// D of a product that nobody reads: its registers must not be shared with others before the wait.
#[test]
fn a_result_that_nobody_reads_harms_no_other_register() {
    let dead = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f4, %f5, %f6, %f7}, {%r4, %r4, %r4, %r4}, %d4, 0, 1, 1, 0;\n\
                wgmma.commit_group.sync.aligned;\nmov.u32 %r6, 7;\nmov.u32 %r7, 8;\nadd.u32 %r8, %r6, %r1;\nadd.u32 %r9, %r7, %r1;\n\
                wgmma.wait_group.sync.aligned 0;\nsub.u32 %r8, %r8, %r1;\nsub.u32 %r9, %r9, %r1;\ncvt.rn.f32.u32 %f1, %r8;\ncvt.rn.f32.u32 %f2, %r9;";
    let played = clean(&change(TEXT, "wgmma.wait", dead));
    assert!(
        played.words.as_chunks::<4>().0.iter().all(|four| *four == [16.0, 7.0, 8.0, 16.0]),
        "{:?}",
        &played.words[..8]
    );
}

#[test]
fn what_is_never_waited_for_is_watched_to_the_end() {
    let text = change(TEXT, "wgmma.wait", "bar.sync 0;\nst.shared.b32 [%r3], %r1;");
    at_lines(&text, Kind::OpenProduct, &[PRODUCT, "st.global"]);
}

/// Warp 0 reads by `ld.shared` what a product of its own has read, and stores there without a barrier: lanes race, as without the product.
#[test]
fn an_ordinary_read_beside_a_product_is_an_ordinary_read() {
    let race = "xor.b32 %r10, %r3, 4;\nld.shared.b32 %r11, [%r3];\nst.shared.b32 [%r10], %r1;";
    let own = "ld.shared.b32 %r11, [%r3];\nst.shared.b32 [%r3], %r1;";
    let after = |what: &str| format!("wgmma.wait_group.sync.aligned 0;\nbar.sync 0;\n{what}");
    for (what, finds) in [(race, true), (own, false)] {
        let found = play(&change(TEXT, "wgmma.wait", &after(what)), 128).outcome.findings;
        assert_eq!(found.iter().any(|f| f.kind == Kind::Race), finds, "{what}: {found:?}");
        // A tile of A is one warp's, and is read by the product in the same era.
        let text = with_a_in_memory();
        let what = what
            .replace("%r3, 4;", "%r9, 16;")
            .replace("%r3", "%r9")
            .replace("[%r10]", "[%r10+1024]")
            .replace("[%r9]", "[%r9+1024]");
        for place in ["wgmma.fence", "wgmma.wait"] {
            let line = text.lines().find(|line| line.starts_with(place)).expect("the line");
            // Before the product only the read, behind it the write.
            let (read, write) = what.split_at(what.find("st.shared").expect("a store"));
            let text = if place == "wgmma.fence" {
                let text = change(&text, place, &format!("{read}{line}"));
                change(&text, "wgmma.wait", &format!("wgmma.wait_group.sync.aligned 0;\n{write}"))
            } else {
                change(&text, place, &format!("{line}\n{read}{write}"))
            };
            let found = play(&text, 128).outcome.findings;
            assert_eq!(found.iter().any(|f| f.kind == Kind::Race), finds, "{place} {what}: {found:?}");
        }
    }
}

/// D goes on only behind the wait, through whatever instruction.
#[test]
fn d_of_an_open_product_is_not_computed_with() {
    for use_it in
        ["add.f32 %f4, %f0, %f1;", "cvt.rn.f16x2.f32 %r8, %f1, %f0;", "red.shared.add.f32 [s+800], %f2;"]
    {
        let text = change(TEXT, "wgmma.commit", &format!("wgmma.commit_group.sync.aligned;\n{use_it}"));
        let text = text.replace(".version 8.3", ".version 8.6");
        only(&text, 128, Kind::OpenProduct, use_it);
    }
}

/// The descriptors of A and B are told apart: those of X times its transpose are the same number.
#[test]
fn a_descriptor_that_differs_in_one_warp_is_found() {
    let other = "setp.eq.u32 %p2, %r1, %r1;\nsetp.ge.u32 %p3, %r1, 96;\n@%p3 add.s64 %d4, %d4, 1;\n@%p3 mov.b64 %d3, %d4;\nsetp.lt.u32 %p1, %r1, 32;";
    let text = change(&with_a_in_memory(), "setp.lt", other);
    let found = play(&text, 128).outcome.findings;
    assert!(found.iter().any(|f| f.kind == Kind::NotConverged), "{found:?}");
}

/// One lane fences for its warp, behind a barrier of the warp.
#[test]
fn a_lane_fences_for_its_warp() {
    let one = "bar.warp.sync -1; and.b32 %r8, %r1, 31; setp.eq.u32 %p2, %r8, 0; @%p2 fence.proxy.async;";
    clean(&change(TEXT, "fence.proxy", one));
    only(
        &change(TEXT, "fence.proxy", &one.replace("bar.warp.sync -1; ", "")),
        128,
        Kind::NoProxyFence,
        PRODUCT,
    );
}

/// As `ptxas` takes them.
#[test]
fn registers_of_other_types_are_refused() {
    let refused = |text: &str| {
        let module = parse(text).expect("the text");
        programs(&module).map(|_| ()).expect_err("refused").to_string()
    };
    let said = refused(&TEXT.replace("{%r4, %r4, %r4, %r4}", "{%f4, %f5, %f6, %f7}"));
    assert!(said.contains("'%f4'"), "{said}");
    refused(&TEXT.replace(".reg .f32 %f<8>;", ".reg .u32 %f<8>;"));
    refused(&TEXT.replace(".reg .b64 %d<8>;", ".reg .f64 %d<8>;"));
}

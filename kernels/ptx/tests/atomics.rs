//! Signals between threads as kernels write them, in PTX: what is ordered, what races, and what the finding says.

use sparse_oracle::arithmetic::Architecture;
use sparse_ptx::check::Kind;
use sparse_ptx::decode::programs;
use sparse_ptx::machine::{Launch, Outcome, Schedule, run};
use sparse_ptx::memory::Device;
use sparse_ptx::text::parse;

/// Runs an entry with two buffers of 64 words, zeroed, whose addresses are in `%a` and `%b`; `%t` is the thread, `%c` the block. Each line of
/// the body is a line of the text, from 1.
fn launch(body: &str, blocks: u32, threads: u32, schedule: u64) -> (Outcome, Vec<u32>, Vec<u32>) {
    let text = format!(
        "{body}\nret; }}\n.version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 a, .param .u64 b) {{ .reg .b64 %a, %b, \
         %d<9>; .reg .b32 %t, %c, %n, %r<9>; .reg .pred %p<9>; .shared .align 8 .b8 s[64]; ld.param.u64 %a, [a]; ld.param.u64 %b, [b]; \
         mov.u32 %t, %tid.x; mov.u32 %c, %ctaid.x; mov.u32 %n, %nctaid.x;"
    );
    // The head comes first; that the body begins at line 1 is for those who read findings.
    let (body, head) = text.split_once("\nret; }\n").expect("both");
    let text = format!("{}{body}\nret; }}\n", head.replace('\n', " "));
    let module = parse(&text).expect("the text");
    let program = programs(&module).unwrap_or_else(|error| panic!("{error}")).remove(0);
    let mut device = Device::default();
    let buffers = [0; 2].map(|_| {
        let at = device.alloc(256, 256).expect("room");
        device.fill(at, 256, 0).expect("inside");
        at
    });
    let mut launch = Launch::new(
        Architecture::Sm90,
        blocks,
        threads,
        buffers.iter().flat_map(|at| at.to_le_bytes()).collect(),
    );
    launch.schedule = Schedule::number(schedule);
    launch.step_limit = 4_000_000;
    let outcome = run(&program, &launch, &mut device).expect("it can be launched");
    let [a, b] = buffers.map(|at| {
        let bytes = device.read(at, 256).expect("inside");
        bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().expect("4 bytes"))).collect()
    });
    (outcome, a, b)
}

fn found(outcome: &Outcome) -> Vec<String> {
    outcome.findings.iter().map(ToString::to_string).collect()
}

/// What was found, and at which lines.
fn kinds(outcome: &Outcome) -> Vec<(Kind, u32)> {
    outcome.findings.iter().map(|finding| (finding.kind, finding.line)).collect()
}

/// In every order.
fn clean(body: &str, blocks: u32, threads: u32, check: impl Fn(&[u32], &[u32])) {
    for schedule in 0..8 {
        let (outcome, a, b) = launch(body, blocks, threads, schedule);
        assert!(outcome.findings.is_empty() && outcome.complete, "order {schedule}: {:#?}", found(&outcome));
        check(&a, &b);
    }
}

/// In every order: at one of these lines.
fn races(body: &str, blocks: u32, threads: u32, lines: &[u32]) -> String {
    let mut said = String::new();
    for schedule in 0..8 {
        let (outcome, ..) = launch(body, blocks, threads, schedule);
        let there = |kind: Kind, line: u32| kind == Kind::Race && lines.contains(&line);
        let all = !outcome.findings.is_empty() && outcome.findings.iter().all(|f| there(f.kind, f.line));
        assert!(all && outcome.complete, "order {schedule}: {:#?}", found(&outcome));
        if schedule == 0 {
            said = outcome.findings[0].to_string();
        }
    }
    said
}

/// Every block leaves a sum; the last one to come adds them. `%s` is how it signals, before it reads.
fn last_block(release: &str, atomic: &str, acquire: &str, load: &str) -> String {
    format!(
        "mad.lo.s32 %r1, %c, 4, 0; cvt.u64.u32 %d1, %r1; add.s64 %d2, %a, %d1; mov.u32 %r2, s; mad.lo.s32 %r3, %t, 4, %r2; \
         add.s32 %r4, %c, 5; setp.eq.u32 %p1, %t, 0;
st.shared.u32 [%r3], %r4; bar.sync 0; xor.b32 %r5, %t, 1; mad.lo.s32 %r5, %r5, 4, %r2; ld.shared.u32 %r6, [%r5];
@%p1 st.global.u32 [%d2], %r6;
bar.sync 0;
{release}
sub.s32 %r7, %n, 1;
@%p1 {atomic} %r8, [%b], %r7;
@%p1 setp.eq.u32 %p2, %r8, %r7; @%p1 selp.u32 %r8, 1, 0, %p2;
{acquire}
@%p1 st.shared.u32 [s+60], %r8; bar.sync 0;
ld.shared.u32 %r8, [s+60]; setp.eq.u32 %p2, %r8, 0; @%p2 ret;
setp.gt.u32 %p3, %t, %r7; @%p3 ret; mul.wide.u32 %d3, %t, 4; add.s64 %d4, %a, %d3;
{load} %r1, [%d4];
add.s64 %d5, %b, %d3; st.global.u32 [%d5+128], %r1;"
    )
}

/// Where the last block reads what others have left.
const READS: u32 = 13;

#[test]
fn the_last_block_may_read_what_all_have_released() {
    let done = |_: &[u32], b: &[u32]| {
        assert_eq!(b[0], 0, "inc begins at 0 again");
        assert_eq!(b[32..35], [5, 6, 7]);
    };
    let plain = "ld.global.u32";
    clean(&last_block("", "atom.acq_rel.gpu.global.inc.u32", "", plain), 3, 4, done);
    clean(&last_block("membar.gl;", "atom.global.inc.u32", "membar.gl;", plain), 3, 4, done);
    clean(
        &last_block("fence.acq_rel.gpu;", "atom.relaxed.sys.global.inc.u32", "fence.sc.sys;", plain),
        3,
        4,
        done,
    );
    clean(&last_block("", "atom.release.gpu.inc.u32", "@%p1 fence.acq_rel.gpu;", plain), 3, 4, done);
}

#[test]
fn what_is_missing_of_a_signal_is_a_race() {
    let plain = "ld.global.u32";
    for (release, atomic, acquire) in [
        ("", "atom.global.inc.u32", "membar.gl;"),
        ("membar.gl;", "atom.global.inc.u32", ""),
        ("", "atom.acquire.gpu.global.inc.u32", ""),
        ("", "atom.release.gpu.global.inc.u32", ""),
        ("fence.acq_rel.cta;", "atom.global.inc.u32", "fence.acq_rel.gpu;"),
        ("fence.acq_rel.gpu;", "atom.global.inc.u32", "fence.acq_rel.cta;"),
        // The fence of a thread that does not signal itself does not release what others read: see `docs/ptx.md`.
        ("@!%p1 membar.gl;", "atom.global.inc.u32", "membar.gl;"),
    ] {
        let said = races(&last_block(release, atomic, acquire, plain), 3, 4, &[READS]);
        assert!(said.contains("no barrier orders the two, nor release and acquire"), "{said}");
    }
    let said = races(&last_block("", "atom.acq_rel.cta.global.inc.u32", "", plain), 3, 4, &[7, READS]);
    assert!(said.contains("the scope of one leaves the other's block out"), "{said}");
}

/// What the CUDA guide shows for `__threadfence()`: results are `volatile`, the counter is set back by a plain store.
#[test]
fn the_example_of_the_cuda_guide_is_clean() {
    let body = "setp.ne.u32 %p1, %t, 0; @%p1 ret;
mul.wide.u32 %d1, %c, 4; add.s64 %d2, %a, %d1; add.s32 %r1, %c, 1;
st.volatile.global.u32 [%d2], %r1;
membar.gl;
atom.global.inc.u32 %r2, [%b], %n; sub.s32 %r3, %n, 1; setp.ne.u32 %p2, %r2, %r3; @%p2 ret;
ld.volatile.global.u32 %r4, [%a]; ld.volatile.global.u32 %r5, [%a+4]; add.s32 %r4, %r4, %r5;
st.volatile.global.u32 [%a], %r4;
st.global.u32 [%b], 0;";
    clean(body, 2, 32, |a, b| assert_eq!((a[0], b[0]), (3, 0)));
}

#[test]
fn sums_of_integers_are_the_same_in_every_order_and_may_not_be_read_at_once() {
    let add = "and.b32 %r1, %t, 3; mul.wide.u32 %d1, %r1, 4; add.s64 %d2, %a, %d1;\nred.global.add.u32 [%d2], %t;\n";
    clean(add, 5, 64, |a, _| assert_eq!(a[..4], [5 * 480, 5 * 496, 5 * 512, 5 * 528]));
    let said = races(&format!("{add}bar.sync 0;\nld.global.u32 %r2, [%a];"), 5, 64, &[2, 4]);
    assert!(said.contains("of block (0,0,0)"), "{said}");
    // In one block the barrier orders them.
    clean(&format!("{add}bar.sync 0;\nld.global.u32 %r2, [%a];"), 1, 64, |_, _| {});
}

/// One warp waits for another in a loop: with release and acquire what the other did is there.
#[test]
fn a_flag_within_a_block_orders_what_came_before_it() {
    let body = |store: &str, load: &str| {
        format!(
            "setp.ge.u32 %p1, %t, 32; @%p1 bra wait;
setp.eq.u32 %p2, %t, 0; mov.u32 %r1, 7; @%p2 st.global.u32 [%a], %r1;
@%p2 {store} [%b], %r1; ret;
wait: {load} %r2, [%b]; setp.eq.u32 %p3, %r2, 0; @%p3 bra wait;
ld.global.u32 %r3, [%a]; mul.wide.u32 %d1, %t, 4; add.s64 %d1, %d1, %b;
st.global.u32 [%d1], %r3;"
        )
    };
    clean(&body("st.release.cta.global.u32", "ld.acquire.cta.global.u32"), 1, 64, |_, b| {
        assert_eq!(b[32..], [7; 32]);
    });
    clean(&body("st.release.gpu.u32", "ld.acquire.sys.u32"), 1, 64, |_, b| assert_eq!(b[32..], [7; 32]));
    for (store, load) in
        [("st.relaxed.cta.global.u32", "ld.acquire.cta.global.u32"), ("st.volatile.u32", "ld.volatile.u32")]
    {
        races(&body(store, load), 1, 64, &[5]);
    }
    races(&body("st.release.cta.global.u32", "ld.global.u32"), 1, 64, &[3, 4, 5]);
}

/// A lock that lanes of the same warp want too: each gets it, and what it guards is added up without a race.
#[test]
fn lanes_of_a_warp_take_turns_at_a_lock() {
    let body = "mov.u32 %r5, 0;
again: setp.ne.u32 %p2, %r5, 0; @%p2 bra done;
atom.acquire.gpu.global.cas.b32 %r1, [%b], 0, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra again;
ld.global.u32 %r2, [%a]; add.s32 %r2, %r2, 1; st.global.u32 [%a], %r2;
atom.release.gpu.global.exch.b32 %r3, [%b], 0; mov.u32 %r5, 1; bra again;
done:";
    clean(body, 2, 34, |a, b| assert_eq!((a[0], b[0]), (68, 0)));
    races(&body.replace(".release", ""), 2, 3, &[4]);
}

/// Story: of readers of other blocks one is kept. The last block has heard from the first, and writes what the first two have read.
#[test]
fn each_reader_of_another_block_counts() {
    let body = |second: &str| {
        format!(
            "setp.eq.u32 %p1, %c, 2; @%p1 bra last; ld.global.u32 %r1, [%a];
setp.eq.u32 %p2, %c, 1; @%p2 bra other;
atom.release.gpu.global.add.u32 %r2, [%b], 1; ret;
other: {second}
ret;
last: atom.acquire.gpu.global.add.u32 %r2, [%b], 1;
st.global.u32 [%a], 9;"
        )
    };
    let played = |body: &str| {
        let (outcome, a, b) = launch(body, 3, 1, 0);
        assert!(outcome.complete && a[0] == 9, "{:?}", found(&outcome));
        (found(&outcome), b[0])
    };
    let run = |second: &str| played(&body(second));
    // What the launch did in vain is taken back: the sum is that of one run.
    assert_eq!(run("atom.release.gpu.global.add.u32 %r2, [%b], 1;"), (vec![], 3));
    let (said, sum) = run("");
    assert_eq!((said.len(), sum), (1, 2));
    assert!(said[0].contains("read by thread (0,0,0) of block (1,0,0)"), "{said:?}");
    // The other way round: it has heard from the second alone.
    let release = "atom.release.gpu.global.add.u32 %r2, [%b], 1;";
    let (said, _) = played(&body(release).replacen("atom.release.gpu.global", "atom.global", 1));
    assert_eq!(said.len(), 1);
    assert!(said[0].contains("read by thread (0,0,0) of block (0,0,0)"), "{said:?}");
}

/// Each block does one thing, in their order; the last reads what the first has written.
fn chain_of_blocks(deeds: &[&str]) -> Vec<String> {
    let mut body = String::from("mov.u32 %r8, 0;");
    for (block, deed) in deeds.iter().enumerate() {
        body += &format!("\nsetp.ne.u32 %p1, %c, {block}; @%p1 bra after{block}; {deed} ret; after{block}:");
    }
    let (outcome, ..) = launch(&body, deeds.len() as u32, 1, 0);
    found(&outcome)
}

/// A signal is heard only by one that is strong to whoever wrote last. That something else orders the two does not make it heard.
#[test]
fn who_hears_a_signal_is_in_its_scope() {
    let first = "st.global.u32 [%a], 1; fence.acq_rel.gpu; st.relaxed.gpu.global.u32 [%b], 1;";
    let second = "atom.relaxed.gpu.global.add.u32 %r1, [%b], 1; st.release.gpu.global.u32 [%b+8], 1;";
    let third = "ld.acquire.gpu.global.u32 %r1, [%b+8]; ld.relaxed.SCOPE.global.u32 %r1, [%b]; fence.acq_rel.gpu; ld.global.u32 %r2, [%a];";
    assert_eq!(chain_of_blocks(&[first, second, &third.replace("SCOPE", "gpu")]), Vec::<String>::new());
    let said = chain_of_blocks(&[first, second, &third.replace("SCOPE", "cta")]);
    assert!(
        said.len() == 1 && said[0].contains("reads byte 0") && said[0].contains("race at line 4"),
        "{said:?}"
    );
}

/// `cas` that does not find its operand writes nothing: others may read the place.
#[test]
fn a_cas_that_fails_is_a_read() {
    let body = |operand: u32| {
        format!(
            "setp.eq.u32 %p1, %t, 0;\n@%p1 atom.global.cas.b32 %r1, [%b], {operand}, 7;\n@!%p1 ld.global.u32 %r2, [%b];"
        )
    };
    clean(&body(5), 1, 2, |_, b| assert_eq!(b[0], 0));
    races(&body(0), 1, 2, &[2, 3]);
}

/// What an earlier launch did counts no more, and does not hide what this one does.
#[test]
fn launches_are_ordered() {
    let text = ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 a) { .reg .b64 %d<2>; .reg .b32 %r<4>; .reg .pred \
                %p<2>;\nld.param.u64 %d1, [a]; mov.u32 %r1, %ctaid.x; setp.eq.u32 %p1, %r1, 0;\n@%p1 st.relaxed.gpu.global.u32 [%d1], 1;\n\
                @!%p1 ld.global.u32 %r2, [%d1];\nret; }\n";
    let module = parse(text).expect("the text");
    let program = programs(&module).expect("it decodes").remove(0);
    let mut device = Device::default();
    let a = device.alloc(4, 256).expect("room");
    device.fill(a, 4, 0).expect("inside");
    let mut launch = |blocks| {
        let launch = Launch::new(Architecture::Sm90, blocks, 1, a.to_le_bytes().to_vec());
        found(&run(&program, &launch, &mut device).expect("it can be launched")).len()
    };
    assert_eq!([1, 1, 2, 2, 1].map(&mut launch), [0, 0, 1, 1, 0]);
}

#[test]
fn accesses_of_different_bytes_are_not_strong_to_one_another() {
    let body = "setp.eq.u32 %p1, %t, 0; mov.u64 %d1, 1;
@%p1 atom.global.add.u64 %d2, [%a], %d1;
@!%p1 atom.global.add.u32 %r1, [%a+4], 1;";
    let said = races(body, 1, 2, &[2, 3]);
    assert!(said.contains("not of the same bytes"), "{said}");
}

/// A vector is as many accesses as it has elements: each is strong to one of its place alone.
#[test]
fn elements_of_a_strong_vector_are_accesses_of_their_own() {
    let body = |load: &str| {
        format!(
            "setp.eq.u32 %p1, %t, 0; mov.u32 %r1, 1; mov.u32 %r2, 2;\n@%p1 st.volatile.global.v2.u32 [%a], {{%r1, %r2}};\n@!%p1 {load};"
        )
    };
    clean(&body("ld.volatile.global.u32 %r3, [%a+4]"), 1, 2, |a, _| assert_eq!(a[..2], [1, 2]));
    clean(&body("ld.volatile.global.v4.u32 {%r3, %r4, %r5, %r6}, [%a]"), 1, 2, |_, _| {});
    races(&body("ld.volatile.global.u64 %d1, [%a]"), 1, 2, &[2, 3]);
    races(&body("ld.global.u32 %r3, [%a+4]"), 1, 2, &[2, 3]);
}

/// Blocks run one after another: who waits for a later one never ends, and is told why.
#[test]
fn a_wait_for_a_later_block_is_an_endless_loop() {
    let body = "setp.eq.u32 %p1, %c, 1; @%p1 bra set;
wait: ld.acquire.gpu.global.u32 %r1, [%b]; setp.eq.u32 %p2, %r1, 0; @%p2 bra wait; ret;
set: st.release.gpu.global.u32 [%b], 1;";
    let (outcome, ..) = launch(body, 2, 1, 0);
    assert_eq!(outcome.findings[0].kind, Kind::StepLimit);
    assert!(outcome.findings[0].explanation.contains("a block that comes later"), "{:?}", found(&outcome));
}

/// What is added to something undefined is undefined, and the old value too.
#[test]
fn undefined_values_go_through() {
    let (outcome, a, _) = launch(
        "setp.ne.u32 %p1, %t, 0; @%p1 ret; atom.shared.add.u32 %r1, [s], 1;
st.shared.u32 [s+4], 3; atom.shared.add.u32 %r2, [s+4], 4; ld.shared.u32 %r3, [s+4]; st.global.u32 [%a], %r3;
cvt.u64.u32 %d1, %r1; ld.global.u32 %r4, [%d1];",
        1,
        2,
        0,
    );
    assert_eq!(a[0], 7);
    assert_eq!(kinds(&outcome), [(Kind::UndefinedAddress, 3)], "{:?}", found(&outcome));
    // An undefined operand makes what was defined undefined.
    let (outcome, ..) = launch(
        "red.global.add.u32 [%a], %r1; ld.global.u32 %r2, [%a]; cvt.u64.u32 %d1, %r2; ld.global.u32 %r4, [%d1];",
        1,
        1,
        0,
    );
    assert_eq!(outcome.findings[0].kind, Kind::UndefinedAddress, "{:?}", found(&outcome));
}

/// Story: a strong store made readers before it forgotten, so that the atomic of another thread, which is not ordered after the read, was clean.
#[test]
fn a_strong_store_does_not_stand_for_reads_before_it() {
    let body = "setp.eq.u32 %p1, %c, 1; @%p1 bra second; ld.global.u32 %r1, [%b]; st.global.u32 [%a], 1;
st.release.gpu.global.u32 [%b], 1; ret;
second: atom.release.gpu.global.add.u32 %r2, [%b], 1;
atom.acquire.gpu.global.add.u32 %r2, [%b], 1; st.global.u32 [%a], 2; st.global.u32 [%b], 3;";
    let (outcome, ..) = launch(body, 2, 1, 0);
    assert_eq!(kinds(&outcome), [(Kind::Race, 3)], "{:?}", found(&outcome));
}

/// Story: of two readers of a block one is kept, here the writer itself, and the other was accused, whom release and acquire order before it.
#[test]
fn a_reader_that_has_released_does_not_race_with_one_that_has_acquired() {
    let body = "setp.eq.u32 %p1, %t, 0; setp.eq.u32 %p2, %t, 32;
@%p1 ld.global.u32 %r1, [%a]; @%p1 st.release.cta.global.u32 [%b], 1;
@%p2 ld.acquire.cta.global.u32 %r2, [%b]; @%p2 ld.global.u32 %r1, [%a]; @%p2 st.global.u32 [%a], 5;";
    let (outcome, a, _) = launch(body, 1, 64, 0);
    assert_eq!((found(&outcome), a[0]), (vec![], 5));
}

/// Story: atomics of one thread were remembered by the last of them, which is not ordered before the reader as those that released are.
#[test]
fn atomics_before_and_after_a_release_are_told_apart() {
    let body = "setp.eq.u32 %p1, %c, 0; @%p1 bra first; setp.eq.u32 %p2, %t, 0; setp.eq.u32 %p3, %t, 32;
@%p2 atom.release.gpu.global.add.u32 %r1, [%b], 1; @%p2 atom.release.gpu.global.add.u32 %r1, [%b], 1;
@%p2 atom.relaxed.gpu.global.add.u32 %r1, [%b], 1; @%p3 ld.acquire.cta.global.u32 %r2, [%b]; ret;
first: setp.eq.u32 %p2, %t, 0; @%p2 st.relaxed.gpu.global.u32 [%b], 1;";
    let (outcome, _, b) = launch(body, 2, 64, 0);
    assert_eq!((found(&outcome), b[0]), (vec![], 4));
}

/// Story: each volatile load between barriers was remembered, and all of them looked at by the next: 1,000 rounds took half a minute, and
/// these would take hours.
#[test]
fn many_strong_reads_of_a_thread_are_remembered_as_two() {
    let body = "mov.u32 %r1, 0;
again: ld.volatile.global.u32 %r2, [%b]; bar.sync 0; add.s32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 5000; @%p1 bra again;";
    let (outcome, ..) = launch(body, 1, 256, 0);
    assert!(outcome.findings.is_empty() && outcome.complete, "{:?}", found(&outcome));
}

/// Story: what `exch` stores counted as undefined where nothing had been stored before, and a `cas` that stored nothing made what was there so.
#[test]
fn exch_defines_and_a_cas_that_fails_changes_nothing() {
    let branch = "setp.eq.u32 %p2, %r2, 0; @%p2 st.global.u32 [%a], 1;";
    let lock = format!(
        "setp.ne.u32 %p1, %t, 0; @%p1 ret; atom.shared.exch.b32 %r1, [s], 0; ld.shared.u32 %r2, [s]; {branch}
atom.shared.cas.b32 %r3, [s], 5, %r1; ld.shared.u32 %r2, [s]; {branch}"
    );
    clean(&lock, 1, 2, |a, _| assert_eq!(a[0], 1));
}

/// Story: what a launch promises not to write was looked up among weak stores alone.
#[test]
fn read_only_loads_of_what_an_atomic_writes_are_found() {
    let body = "red.global.add.u32 [%a], 1;\nbar.sync 0;\nld.global.nc.u32 %r1, [%a]; st.global.u32 [%b], 1;";
    let (outcome, ..) = launch(body, 1, 1, 0);
    assert_eq!(kinds(&outcome), [(Kind::ReadOnly, 3)], "{:?}", found(&outcome));
}

/// Story: after two million atomics on a buffer, or in the shared memory of all blocks, no more were remembered; then the last block was accused
/// of setting the counter back, and what is left out of the signal of an earlier block's shared memory was heard by a later one.
#[test]
fn very_many_atomics_hide_nothing() {
    let body = "mov.u32 %r1, 0;
again: red.global.add.u32 [%a+128], 1; red.shared.add.u32 [s], 1; add.s32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 110; @%p1 bra again;
setp.ne.u32 %p2, %t, 0; @%p2 ret; sub.s32 %r3, %n, 1; atom.global.inc.u32 %r2, [%a], %r3; setp.ne.u32 %p2, %r2, %r3; @%p2 ret;
st.global.u32 [%a], 0; ld.global.u32 %r4, [%b]; st.global.u32 [%b], 1;";
    clean(body, 40, 256, |a, b| assert_eq!((a[0], a[32], b[0]), (0, 110 * 256 * 40, 1)));
    let racing = format!("{body}\nld.global.u32 %r5, [%a+128];");
    let (outcome, ..) = launch(&racing, 40, 256, 0);
    assert!(outcome.findings.iter().any(|finding| finding.line == 5), "{:?}", found(&outcome));
}

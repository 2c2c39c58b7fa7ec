//! From a fuzzer's bytes to the text of a small PTX entry, and seeds for that.
//!
//! ```text
//! bytes: statements, threads, blocks, architecture | guard, template, choices of it | guard, template, ..
//! entry: registers, shared and local memory -> a head that gives each thread its place -> L0: .. L1: .. -> ret
//! ```
//!
//! Every draft is legal PTX. Whether what it does is legal (bounds, races, barriers) is up to the bytes.

use super::input::Input;
use std::fmt::Write;

/// Statements at most.
const MOST: usize = 24;
/// Threads of a block: whole warps, parts of one, more than one.
const THREADS: [u32; 8] = [32, 64, 1, 33, 5, 40, 32, 64];
/// Blocks of the grid.
const BLOCKS: [u32; 4] = [1, 2, 1, 3];

/// What a statement may be. In braces is a choice, of one byte: `{r}` a register, `{p}` a predicate, `{f}` a float, `{i}` a small number,
/// `{o}` an offset in bytes, `{m}` members of a warp, `{l}` a label, `{b}` a buffer.
const TEMPLATES: [&str; 54] = [
    "add.s32 %r{r}, %r{r}, {i};",
    "add.s32 %r{r}, %r{r}, %r{r};",
    "sub.s32 %r{r}, %r{r}, %r{r};",
    "mul.lo.s32 %r{r}, %r{r}, %r{r};",
    "and.b32 %r{r}, %r{r}, {i};",
    "xor.b32 %r{r}, %r{r}, %r{r};",
    "shl.b32 %r{r}, %r{r}, {i};",
    "mov.u32 %r{r}, {i};",
    "mov.u32 %r{r}, %tid.x;",
    "mov.u32 %r{r}, %laneid;",
    "mov.u32 %r{r}, %ctaid.x;",
    "setp.lt.u32 %p{p}, %r{r}, {i};",
    "setp.eq.s32 %p{p}, %r{r}, %r{r};",
    "selp.b32 %r{r}, %r{r}, %r{r}, %p{p};",
    "cvt.rn.f32.s32 %f{f}, %r{r};",
    "fma.rn.f32 %f{f}, %f{f}, %f{f}, %f{f};",
    "add.f32 %f{f}, %f{f}, %f{f};",
    "mov.b32 %r{r}, %f{f};",
    // The thread's own word of a buffer.
    "mul.wide.u32 %rd2, %r2, 4; add.s64 %rd2, %rd2, %rd{b};",
    // A word that a register names.
    "and.b32 %r6, %r{r}, 63; mul.wide.u32 %rd2, %r6, 4; add.s64 %rd2, %rd2, %rd{b};",
    "ld.global.u32 %r{r}, [%rd2+{o}];",
    "ld.global.nc.u32 %r{r}, [%rd2+{o}];",
    "ld.global.v2.u32 {%r{r}, %r7}, [%rd2+{o}];",
    "st.global.u32 [%rd2+{o}], %r{r};",
    "st.global.f32 [%rd2+{o}], %f{f};",
    // A word of shared memory: the thread's own, one that a register names.
    "mov.u32 %r6, tile; mad.lo.s32 %r6, %r0, 4, %r6;",
    "and.b32 %r7, %r{r}, 63; mov.u32 %r6, tile; mad.lo.s32 %r6, %r7, 4, %r6;",
    "ld.shared.u32 %r{r}, [%r6+{o}];",
    "st.shared.u32 [%r6+{o}], %r{r};",
    "mov.u64 %rd3, own; st.local.u32 [%rd3+{i}], %r{r};",
    "mov.u64 %rd3, own; ld.local.u32 %r{r}, [%rd3+{i}];",
    "bar.sync 0;",
    "bar.warp.sync {m};",
    "shfl.sync.bfly.b32 %r{r}, %r{r}, {i}, 31, {m};",
    "shfl.sync.idx.b32 %r{r}|%p{p}, %r{r}, %r{r}, 31, {m};",
    "vote.sync.ballot.b32 %r{r}, %p{p}, {m};",
    "redux.sync.add.s32 %r{r}, %r{r}, {m};",
    "cp.async.ca.shared.global [%r6], [%rd2], 4;",
    "cp.async.commit_group;",
    "cp.async.wait_group {i};",
    "cp.async.wait_all;",
    "bra {l};",
    "ret;",
    "red.global.add.u32 [%rd2+{o}], %r{r};",
    "red.global.add.f32 [%rd2+{o}], %f{f};",
    "red.shared.max.u32 [%r6+{o}], %r{r};",
    "atom.acq_rel.gpu.global.add.u32 %r{r}, [%rd2+{o}], %r{r};",
    "atom.acquire.cta.global.cas.b32 %r{r}, [%rd2+{o}], %r{r}, %r{r};",
    "atom.release.gpu.global.exch.b32 %r{r}, [%rd2+{o}], %r{r};",
    "ld.acquire.gpu.global.u32 %r{r}, [%rd2+{o}];",
    "st.release.cta.global.u32 [%rd2+{o}], %r{r};",
    "ld.volatile.shared.u32 %r{r}, [%r6+{o}];",
    "fence.acq_rel.gpu;",
    "fence.sc.cta;",
];

/// An entry and how it is launched.
pub(super) struct PtxDraft {
    /// The module.
    pub(super) text: String,
    /// Threads of a block.
    pub(super) threads: u32,
    /// Blocks.
    pub(super) blocks: u32,
    /// Of a list of the target.
    pub(super) architecture: usize,
}

const HEAD: &str = "\
.version 9.0
.target sm_80
.address_size 64
.visible .entry draft(.param .u64 out, .param .u64 in)
{
.reg .pred %p<4>;
.reg .b32 %r<8>;
.reg .f32 %f<4>;
.reg .b64 %rd<4>;
.shared .align 16 .b8 tile[256];
.local .align 8 .b8 own[64];
ld.param.u64 %rd0, [out];
ld.param.u64 %rd1, [in];
mov.u32 %r0, %tid.x;
mov.u32 %r1, %ctaid.x;
mad.lo.s32 %r2, %r1, 64, %r0;
mov.u32 %r3, 0;
mov.b32 %f0, 0f3F800000;
setp.eq.s32 %p0, %r0, 0;
setp.lt.u32 %p1, %r0, 16;
";

/// A draft. Bytes that are missing give additions that touch nothing.
pub(super) fn draft(input: &mut Input<'_>) -> PtxDraft {
    let count = input.below(MOST);
    let (threads, blocks) = (input.pick(&THREADS), input.pick(&BLOCKS));
    let architecture = usize::from(input.byte());
    let mut text = HEAD.to_owned();
    for at in 0..count {
        // Writing to a string does not fail.
        let _ = writeln!(text, "L{at}: {}", statement(input, count));
    }
    let _ = writeln!(text, "L{count}: ret;\n}}");
    PtxDraft { text, threads, blocks, architecture }
}

fn statement(input: &mut Input<'_>, count: usize) -> String {
    let guard = match input.byte() {
        byte @ 0xc0.. => format!("@{}%p{} ", if byte & 4 == 0 { "" } else { "!" }, byte & 3),
        _ => String::new(),
    };
    let mut rest = input.pick(&TEMPLATES);
    // An address of several instructions is made in all threads.
    let mut line = if rest.matches(';').count() > 1 { String::new() } else { guard };
    while let Some((before, after)) = rest.split_once('{') {
        line.push_str(before);
        match after.split_once('}') {
            Some((name, after)) if name.len() == 1 => {
                line.push_str(&choice(input, name, count));
                rest = after;
            }
            // The braces of a vector.
            _ => {
                line.push('{');
                rest = after;
            }
        }
    }
    line.push_str(rest);
    line
}

fn choice(input: &mut Input<'_>, name: &str, count: usize) -> String {
    match name {
        "r" => input.pick(&["3", "4", "5", "2", "1", "0", "6", "7"]).to_owned(),
        "p" | "f" => input.below(4).to_string(),
        "b" => input.below(2).to_string(),
        "o" => input.pick(&["0", "4", "8", "-4", "0", "64", "2", "4096"]).to_owned(),
        "m" => input.pick(&["0xffffffff", "0xffff", "%r4", "0x1"]).to_owned(),
        "l" => format!("L{}", input.below(count + 1)),
        _ => input.pick(&["0", "1", "2", "4", "16", "31", "7", "60"]).to_owned(),
    }
}

/// The place of a template that begins so.
fn template(start: &str) -> u8 {
    TEMPLATES.iter().position(|template| template.starts_with(start)).map_or(0, |at| at as u8)
}

/// Drafts: each template between reading an own word and storing to one, and what kernels do.
pub(super) fn seeds() -> Vec<Vec<u8>> {
    // Register 3 holds what is stored; an own word of `in`, of `out`.
    let own = |buffer: u8| vec![0, template("mul.wide"), buffer];
    let load = vec![0, template("ld.global.u32"), 0, 0];
    let store = vec![0, template("st.global.u32"), 0, 0];
    let plain = |start: &str, choices: &[u8]| [&[0, template(start)], choices].concat();
    let mut seeds = Vec::new();
    let mut seed = |threads: u8, blocks: u8, body: &[Vec<u8>]| {
        let statements = [&[own(1), load.clone()], body, &[own(0), store.clone()]].concat();
        seeds.push([vec![statements.len() as u8, threads, blocks, 1], statements.concat()].concat());
    };
    for at in 0..TEMPLATES.len() as u8 {
        seed(at % 8, at % 4, &[vec![0, at]]);
        seed(0, 0, &[vec![0xc1, at]]);
    }
    let barrier = plain("bar.sync", &[]);
    let stage = [plain("mov.u32 %r6, tile", &[]), plain("st.shared", &[0, 0]), barrier.clone()].concat();
    let another = plain("and.b32 %r7", &[6]);
    let read = plain("ld.shared", &[0, 0]);
    // Staged, a barrier, the words of another thread; the same without the barrier; twice with a barrier between.
    seed(1, 1, &[stage.clone(), another.clone(), read.clone()]);
    seed(1, 0, &[stage[..stage.len() - 2].to_vec(), another.clone(), read.clone()]);
    seed(1, 3, &[stage.clone(), another.clone(), read.clone(), barrier.clone(), stage.clone()]);
    // A copy that is waited for, and one that is not.
    let copy =
        [plain("mov.u32 %r6, tile", &[]), plain("cp.async.ca", &[]), plain("cp.async.commit", &[])].concat();
    seed(0, 0, &[copy.clone(), plain("cp.async.wait_group", &[0]), read.clone()]);
    seed(0, 0, &[copy, plain("cp.async.wait_group", &[1]), read]);
    // A word is read, released, acquired and written: the readers of a place have to be listed.
    let word = [plain("and.b32 %r6", &[0, 1]), plain("ld.global.u32", &[4, 0])].concat();
    let signal = plain("atom.acq_rel", &[1, 4, 1]);
    seed(0, 1, &[word.clone(), signal.clone(), plain("st.global.u32", &[0, 0])]);
    seed(
        1,
        3,
        &[
            word,
            plain("fence.acq_rel", &[]),
            plain("red.global.add.u32", &[2, 0]),
            signal,
            plain("st.release", &[0, 0]),
        ],
    );
    // Lanes that part and meet, and a loop.
    let part = [plain("setp.lt.u32", &[2, 5, 4]), vec![0xc2, template("bra"), 6]].concat();
    seed(3, 1, &[part, plain("add.s32", &[0, 0, 3]), plain("shfl.sync.bfly", &[0, 0, 1, 0])]);
    let count =
        [plain("add.s32", &[1, 5, 1]), plain("setp.lt.u32", &[3, 1, 6]), vec![0xc3, template("bra"), 2]];
    seed(0, 0, &[count.concat()]);
    seeds
}

/// Words of PTX, for texts.
pub(super) fn words() -> Vec<String> {
    let directives = ".version .target .address_size .visible .entry .param .reg .shared .local .global .const .extern .align .func \
                      .loc .file .section .maxntid .minnctapersm .pragma .pred .b8 .b16 .b32 .b64 .u32 .s32 .f32 .f64 .v2 .v4 @!%p0 \
                      %tid.x %laneid WARP_SZ 0f3F800000 0d3FF0000000000000 sm_80 sm_90a sm_100 // /* */ // { } [ ] +-4";
    let forms = sparse_ptx::table::rows().filter_map(|row| row.forms().into_iter().next());
    directives.split_whitespace().map(str::to_owned).chain(forms).collect()
}

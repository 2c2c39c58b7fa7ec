//! PTX: any text gives a module or an error at a place in it, and what the machine's checks find nothing in is the same in every order.

use super::FuzzOutcome;
use super::input::Input;
use super::ptx_input::{self, PtxDraft, draft};
use super::text::DRAFT;
use sparse_oracle::arithmetic::Architecture;
use sparse_ptx::check::Checks;
use sparse_ptx::decode::programs;
use sparse_ptx::machine::{Launch, Outcome, Schedule, run};
use sparse_ptx::memory::{Checked, Device, Limits};
use sparse_ptx::program::Program;
use sparse_ptx::text::{Place, parse};

const ARCHITECTURES: [Architecture; 4] =
    [Architecture::Sm80, Architecture::Sm90, Architecture::Sm89, Architecture::Sm100];

/// Bytes of each of the two buffers: a word for each thread, and some more.
const BYTES: usize = 1024;
/// Warp instructions of a launch at most.
const STEPS: u64 = 1000;

/// Any bytes are PTX, or a typed error that says where in the text it is; entries are decoded, or refused in the same way.
///
/// # Panics
/// When they are not.
pub fn ptx_text(bytes: &[u8]) -> FuzzOutcome {
    let drafted;
    let text = match bytes.split_first() {
        Some((&first, rest)) if first < DRAFT => {
            let mut input = Input::new(rest);
            drafted = edited(&mut input, first);
            drafted.as_str()
        }
        _ => match std::str::from_utf8(bytes) {
            Ok(text) => text,
            Err(_) => return FuzzOutcome::Refused,
        },
    };
    let module = match parse(text) {
        Ok(module) => module,
        Err(error) => return refused(text, error.at, &error.fault.to_string()),
    };
    match programs(&module) {
        Ok(programs) if programs.is_empty() => FuzzOutcome::Refused,
        Ok(_) => FuzzOutcome::Accepted,
        Err(error) => refused(text, error.at, &error.fault.to_string()),
    }
}

/// A place lies in the text or right behind it.
fn refused(text: &str, at: Place, fault: &str) -> FuzzOutcome {
    assert!(!fault.is_empty());
    let lines = text.split('\n').count();
    assert!((1..=lines).contains(&(at.line as usize)), "line {} of {lines}: {fault}", at.line);
    let line = text.split('\n').nth(at.line as usize - 1).unwrap_or_default();
    let longest = line.len() + 1;
    assert!((1..=longest).contains(&(at.column as usize)), "column {} of {line:?}: {fault}", at.column);
    FuzzOutcome::Refused
}

/// A draft with so many characters taken out or put in.
fn edited(input: &mut Input<'_>, edits: u8) -> String {
    let mut text = draft(input).text;
    for _ in 0..edits {
        let at = input.word(2) as usize % text.len().max(1);
        match input.below(3) {
            0 => text.truncate(at),
            1 => text.insert(at, input.pick(&[' ', ';', '.', '{', '}', '%', '-', '9', '/', '"', '@', ','])),
            _ if at < text.len() => drop(text.remove(at)),
            _ => {}
        }
    }
    text
}

/// An entry that is drafted from the bytes is run. Where the checks find nothing, and it ends, every order of fragments, warps and
/// blocks finds nothing and leaves the same memory; without checks, the same memory is left in any case. What atomics and strong accesses
/// leave, and what they order, may depend on the order.
///
/// # Panics
/// When it is not so.
pub fn ptx_machine(bytes: &[u8]) -> FuzzOutcome {
    let draft = draft(&mut Input::new(bytes));
    let module = parse(&draft.text).unwrap_or_else(|error| panic!("{error}\n{}", draft.text));
    let programs = programs(&module).unwrap_or_else(|error| panic!("{error}\n{}", draft.text));
    let program = programs.first().expect("a draft has an entry");
    let mut plain = launch(&draft);
    let first = ran(program, &mut plain, &draft);
    let unchecked = ran(program, &mut Launch { checks: Checks::NONE, count: false, ..plain.clone() }, &draft);
    assert_eq!(first.0.complete, unchecked.0.complete, "with and without checks\n{}", draft.text);
    assert_eq!(first.1, unchecked.1, "with and without checks\n{}", draft.text);
    if !(first.0.complete && first.0.findings.is_empty()) {
        return FuzzOutcome::Refused;
    }
    let same = !program.synchronises();
    for number in [1, 2 + u64::from(bytes.last().copied().unwrap_or_default())] {
        let other = ran(program, &mut Launch { schedule: Schedule::number(number), ..plain.clone() }, &draft);
        if !same {
            continue;
        }
        let found: Vec<String> = other.0.findings.iter().map(ToString::to_string).collect();
        assert!(other.0.complete && found.is_empty(), "order {number}: {found:?}\n{}", draft.text);
        assert_eq!(first.1, other.1, "order {number}\n{}", draft.text);
    }
    FuzzOutcome::Accepted
}

fn launch(draft: &PtxDraft) -> Launch {
    let architecture = ARCHITECTURES[draft.architecture % ARCHITECTURES.len()];
    Launch { step_limit: STEPS, ..Launch::new(architecture, draft.blocks, draft.threads, Vec::new()) }
}

/// On a fresh device: what came of it, and both buffers. The second one holds numbers before, the first one nothing.
fn ran(program: &Program, launch: &mut Launch, draft: &PtxDraft) -> (Outcome, [Checked; 2]) {
    let mut device = Device::new(Limits { bytes: 1 << 20, allocations: 8 });
    let buffers = [(); 2].map(|()| device.alloc(BYTES as u64, 16).expect("room"));
    let numbers: Vec<u8> = (0..BYTES / 4).flat_map(|i| (i as u32 * 7 % 64).to_le_bytes()).collect();
    device.write(buffers[1], &numbers).expect("inside");
    launch.params = buffers.iter().flat_map(|buffer| buffer.to_le_bytes()).collect();
    let outcome = run(program, launch, &mut device).unwrap_or_else(|error| panic!("{error}\n{}", draft.text));
    let read = |buffer| device.read_checked(buffer, BYTES).expect("inside");
    (outcome, buffers.map(read))
}

/// Texts that no draft is.
const TEXTS: [&str; 8] = [
    ".version 9.0\n.target sm_80\n.address_size 64\n.visible .entry e()\n{\n\tret;\n}\n",
    ".version 9.0\n.target sm_90a\n.address_size 64\n.global .align 8 .b8 table[16] = {1,2,3};\n.extern .shared .align 16 .b8 pool[];\n\
     .visible .entry e(.param .align 8 .b8 p[24])\n.maxntid 128, 1, 1\n.minnctapersm 2\n{\n.reg .b64 %rd<3>;\nmov.u64 %rd1, table;\n\
     ld.global.u64 %rd2, [%rd1+8];\nst.shared.u64 [pool], %rd2;\nret;\n}\n",
    ".version 8.8\n.target sm_80, debug\n.address_size 64\n.file 1 \"a.cu\"\n.visible .entry e()\n{\n.loc 1 3 0\n{\n.reg .f64 %fd<2>;\n\
     mov.f64 %fd1, 0d3FF0000000000000;\n}\nexit;\n}\n.section .debug_str\n{\n.b8 1,2\n}\n",
    ".version 9.0\n.target sm_80\n.address_size 64\n.visible .entry e()\n{\n.reg .b32 %r<9>;\n.reg .f32 %f<9>;\n\
     mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f1,%f2,%f3,%f4}, {%r1,%r2}, {%r3}, {%f1,%f2,%f3,%f4};\nret;\n}\n",
    ".version 9.0\n.target sm_80\n.visible .func f() { ret; }\n",
    ".version 9.0\n.target sm_80\n.address_size 64\n.entry e(){ L: bra.uni L; }",
    "\u{7f}ELF\0\0",
    "// only a comment\n/* that does not end",
];

pub(super) fn text_seeds() -> Vec<Vec<u8>> {
    let texts = TEXTS.iter().map(|text| text.as_bytes().to_vec());
    let drafts = ptx_input::seeds().into_iter().enumerate();
    texts.chain(drafts.map(|(i, draft)| [vec![(i % 3) as u8], draft].concat())).collect()
}

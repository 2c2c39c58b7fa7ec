//! What texts become: slots, constants, places in memory, targets of branches, and what compilers write besides plain instructions.

use sparse_ptx::decode::{program, programs};
use sparse_ptx::program::{Access, Act, Address, Initial, Mma, Placed, Program, Special, Step};
use sparse_ptx::registers::{Class, Slot};
use sparse_ptx::text::{Initializer, Operand, Space, Statement, Type, parse};

const HEAD: &str = "// source 1234\n.version 8.8\n.target sm_90a, debug\n.address_size 64\n";

fn decode(text: &str) -> Program {
    let text = format!("{HEAD}{text}");
    let module = parse(&text).unwrap_or_else(|error| panic!("{error}"));
    programs(&module).unwrap_or_else(|error| panic!("{error}")).pop().expect("an entry")
}

/// An entry with registers and this body.
fn body(body: &str) -> Program {
    decode(&format!(
        ".visible .entry e(.param .u64 a, .param .u32 n) {{ .reg .b32 %r<9>; .reg .f32 %f<9>; .reg .b64 %rd<9>; .reg .pred %p<9>; \
         .reg .b16 %rs<9>; .reg .f64 %fd<9>; {body} ret; }}"
    ))
}

fn number(program: &Program, slot: Slot) -> u64 {
    match initial(program, slot) {
        Initial::Bits(bits) => bits,
        other => panic!("{slot:?} is {other:?}"),
    }
}

fn initial(program: &Program, slot: Slot) -> Initial {
    program
        .initial
        .iter()
        .find(|(known, _)| *known == slot)
        .map(|(_, value)| value.clone())
        .expect("a constant")
}

/// The sources of a step that lanes execute.
fn sources(step: &Step) -> Vec<Slot> {
    match &step.act {
        Act::Lanes { operands, .. } => operands.sources[..usize::from(operands.count)].to_vec(),
        other => panic!("{other:?}"),
    }
}

fn access(step: &Step) -> Access {
    match &step.act {
        Act::Load(access) | Act::Store(access) => *access,
        other => panic!("{other:?}"),
    }
}

fn placed(name: &str, offset: u32, bytes: u32) -> Placed {
    Placed { name: name.into(), offset, bytes }
}

/// What `-lineinfo`, debug information, pointers with promises and launch bounds look like.
#[test]
fn what_compilers_write_around_code() {
    let program = decode(
        ".file 1 \"a.cu\"\n.file 2 \"b.cuh\", 1700000000, 42\n.extern .shared .align 16 .b8 dynamic[];\n\
         .visible .entry e(\n .param .u64 .ptr .global .align 16 a,\n .param .align 8 .b8 s[20],\n .param .b8 c,\n .param .v2 .f32 v\n)\n\
         .reqntid 32, 4\n.minnctapersm 2 .maxnreg 64\n{\n.reg .b32 %r<2>;\n.loc 1 7 3\nmov.u32 %r1, 1;\n\
         .loc 2 9 1, function_name $L__info0+4, inlined_at 1 7 3\n.pragma \"nounroll\";\nbar.sync 0;\nret;\n}\n\
         .section .debug_str\n{\n$L__info0:\n.b8 101, 0\n.b64 $L__a-$L__b { }\n}\n",
    );
    assert_eq!(
        program.params,
        [placed("a", 0, 8), placed("s", 8, 20), placed("c", 28, 1), placed("v", 32, 8)]
    );
    assert_eq!(
        (program.param_bytes, program.max_threads, program.required_block),
        (40, None, Some([32, 4, 1]))
    );
    assert_eq!(program.files, ["a.cu", "b.cuh"]);
    let lines: Vec<_> = program.steps.iter().map(|step| step.cuda).collect();
    assert_eq!(lines, [Some((0, 7)), Some((1, 9)), Some((1, 9))]);
    assert!(program.shared.is_empty(), "the entry does not name it");
}

#[test]
fn shared_variables_lie_before_dynamic_memory() {
    let program = decode(
        ".extern .shared .align 16 .b8 dynamic[];\n.shared .align 4 .b8 other[400];\n.shared .u16 outside;\n\
         .entry e() { .reg .b32 %r<9>; .reg .b64 %rd<2>; .shared .align 8 .f64 inside[3]; .local .align 4 .b8 depot[36];\n\
         { .shared .b8 inner[5]; mov.u32 %r1, inner; }\n\
         mov.u32 %r2, inside; mov.u64 %rd1, dynamic; ld.shared.u16 %r3, [outside]; ld.shared.f64 %rd1, [inside+8];\n\
         st.local.u32 [depot+32], 7; mov.u32 %r4, dynamic+4; ret; }",
    );
    let expected =
        [placed("outside", 0, 2), placed("inside", 8, 24), placed("inner", 32, 5), placed("dynamic", 48, 0)];
    assert_eq!(program.shared, expected);
    assert_eq!((program.shared_bytes, program.local_bytes), (48, 36));
    let numbers: Vec<u64> =
        [0, 1, 2, 6].map(|step| number(&program, sources(&program.steps[step])[0])).into();
    assert_eq!(numbers, [32, 8, 48, 52]);
    assert_eq!(access(&program.steps[3]).address, Address { base: None, offset: 0 });
    assert_eq!(access(&program.steps[4]).address, Address { base: None, offset: 16 });
    let store = access(&program.steps[5]);
    assert_eq!((store.space, store.address.offset, number(&program, store.data[0])), (Space::Local, 32, 7));
}

#[test]
fn global_variables_hold_what_the_text_says() {
    let program = decode(
        ".global .align 4 .u32 word = -2;\n.const .align 8 .f32 table[4] = {0f3F800000, 1.5, 2};\n.global .b8 text[3] = {72, 0x69};\n\
         .global .f64 wide = 0.25;\n.entry e() { .reg .b64 %rd<4>; .reg .b32 %r<4>;\n\
         mov.u64 %rd1, text+2; ld.global.u32 %r1, [word]; ld.const.f32 %r2, [table+4]; ld.u8 %r3, [text+1]; ret; }",
    );
    let bytes: Vec<(&str, u32, Vec<u8>)> = program
        .globals
        .iter()
        .map(|global| (global.name.as_str(), global.align, global.bytes.clone()))
        .collect();
    let floats = [1.0_f32, 1.5, 2.0, 0.0].iter().flat_map(|value| value.to_le_bytes()).collect();
    assert_eq!(
        bytes,
        [
            ("word", 4, vec![0xfe, 0xff, 0xff, 0xff]),
            ("table", 8, floats),
            ("text", 1, vec![72, 0x69, 0]),
            ("wide", 8, 0.25_f64.to_le_bytes().to_vec()),
        ]
    );
    assert_eq!(initial(&program, sources(&program.steps[0])[0]), Initial::Global("text".into(), 2));
    let address = access(&program.steps[2]).address;
    assert_eq!((access(&program.steps[2]).space, address.offset), (Space::Const, 4));
    assert_eq!(initial(&program, address.base.expect("a base")), Initial::Global("table".into(), 0));
    assert_eq!(access(&program.steps[3]).space, Space::Global, "a global address is a generic one");
}

#[test]
fn numbers_and_special_registers_become_constants_once() {
    let program = body(
        "mov.u32 %r1, %tid.y; add.s32 %r2, %r1, -1; and.b32 %r3, %r2, 0xFFFFFFFF; add.s64 %rd1, %rd2, -1; mov.f32 %f1, 1.5; \
         mov.f32 %f2, 0f3FC00000; mov.b32 %r4, 0f3FC00000; mov.pred %p1, -1; setp.eq.s16 %p2, %rs1, -1; mov.u32 %r5, %tid.y; \
         mov.f64 %fd1, 0f3FC00000; mov.u32 %r6, WARP_SZ;",
    );
    let step = |i: usize| sources(&program.steps[i]);
    assert_eq!(initial(&program, step(0)[0]), Initial::Special(Special::Thread(1)));
    assert_eq!(step(0), step(9));
    assert_eq!((number(&program, step(1)[1]), step(1)[1]), (0xffff_ffff, step(2)[1]));
    assert_eq!((number(&program, step(3)[1]), step(3)[1].class), (u64::MAX, Class::Wide));
    assert_eq!((number(&program, step(4)[0]), step(4)[0], step(4)[0]), (0x3fc0_0000, step(5)[0], step(6)[0]));
    assert_eq!((number(&program, step(7)[0]), step(7)[0].class), (1, Class::Predicate));
    assert_eq!(number(&program, step(8)[1]), 0xffff);
    assert_eq!(number(&program, step(10)[0]), 1.5_f64.to_bits());
    assert_eq!(number(&program, step(11)[0]), 32);
}

#[test]
fn branches_go_to_the_label_of_the_innermost_scope() {
    let program = body(
        "again: @!%p1 bra.uni done; { again: bra again; { bra again; bra done; } } bra again; mov.u32 %r1, 0; done:",
    );
    let targets: Vec<(u32, bool)> = program
        .steps
        .iter()
        .filter_map(|step| match step.act {
            Act::Branch { target, uniform } => Some((target, uniform)),
            _ => None,
        })
        .collect();
    assert_eq!(targets, [(6, true), (1, false), (1, false), (6, false), (0, false)]);
    assert!(program.steps[0].guard.expect("a guard").negated);
    let over = decode(".entry e() { bra end; end: }");
    assert_eq!(over.steps.len(), 2, "a label behind the last instruction has an exit to go to");
}

#[test]
fn registers_of_inner_scopes_are_others() {
    let program = body(
        "mov.u32 %r1, 1; { .reg .b32 %r1; .reg .b32 t; mov.u32 %r1, 2; mov.u32 t, %r1; } mov.u32 %r2, %r1;",
    );
    let Act::Lanes { operands: outer, .. } = &program.steps[0].act else { panic!("mov") };
    let Act::Lanes { operands: inner, .. } = &program.steps[1].act else { panic!("mov") };
    assert_ne!(outer.d, inner.d);
    assert_eq!(sources(&program.steps[3]), [outer.d]);
}

#[test]
fn vectors_are_packed_and_split() {
    let program = body(
        "mov.b64 %rd1, {%r1, 7}; mov.b64 {%r2, %r3}, %rd1; mov.b32 {_, %rs1}, %r2; mov.b32 %r4, {%rs1, %rs2}; \
         mov.b64 {%rs1, %rs2, %rs3, %rs4}, %rd1; mov.b64 %rd2, {%rs1, %rs2, %rs3, %rs4};",
    );
    let seconds: Vec<(bool, u8)> = program
        .steps
        .iter()
        .filter_map(|step| match &step.act {
            Act::Lanes { operands, .. } => Some((operands.second.is_some(), operands.count)),
            _ => None,
        })
        .collect();
    let single = (false, 1);
    let expected = [(false, 2), (true, 1), single, (false, 2), single, single, single, single, (false, 4)];
    assert_eq!(seconds, expected);
    assert_eq!(number(&program, sources(&program.steps[0])[1]), 7);
}

#[test]
fn results_that_are_not_wanted_change_nothing_else() {
    let program = body(
        "mov.u32 %r1, 1; ld.global.v2.u32 {%r2, _}, [%rd1]; shfl.sync.idx.b32 _|%p1, %r1, %r2, 31, -1; \
         setp.eq.s32 %p2|_, %r1, %r2; add.s32 %r3, %r1, %r2; st.global.u32 [%rd1], %r3;",
    );
    let load = access(&program.steps[1]);
    assert_ne!(load.data[0], load.data[1]);
    assert!(![load.data[0], load.data[1]].contains(&sources(&program.steps[4])[0]));
}

#[test]
fn hints_for_caches_are_read_over() {
    let program = body(
        "ld.global.nc.L1::no_allocate.L2::128B.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1+-16]; st.global.cs.f32 [%rd1], %f1; \
         cp.async.ca.shared.global.L2::128B [%r1], [%rd1], 8, %r2;",
    );
    let load = access(&program.steps[0]);
    assert_eq!((load.count, load.width, load.read_only, load.address.offset), (4, 4, true, -16));
    assert!(
        matches!(&program.steps[2].act, Act::Copy(copy) if copy.bytes == 8 && copy.source_bytes.is_some())
    );
}

#[test]
fn matrix_instructions_have_the_names_of_the_models() {
    let program = body(
        "mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32 {%f1,%f2,%f3,%f4}, {%r1,%r2,%r3,%r4}, \
         {%r5,%r6,%r7,%r8}, {%f1,%f2,%f3,%f4}, %r0, 0x1; mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%r1,%r2}, {%r1,%r2}, \
         {%r3}, {%r1,%r2}; ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r1, %r2}, [%r3+64];",
    );
    let names: Vec<String> = program
        .steps
        .iter()
        .filter_map(|step| match &step.act {
            Act::Mma(mma) => Some(mma.instruction.to_string()),
            _ => None,
        })
        .collect();
    assert_eq!(names, ["mma.sp.m16n8k16.f32.tf32", "mma.m16n8k8.f16.f16"]);
    let Act::Mma(mma) = &program.steps[0].act else { panic!("mma") };
    let Mma { d, a, b, c, metadata, .. } = mma.as_ref();
    assert_eq!(
        (d.len(), a.len(), b.len(), c.len(), metadata.map(|(_, selector)| selector)),
        (4, 4, 4, 4, Some(1))
    );
    assert!(
        matches!(&program.steps[2].act, Act::LoadMatrix { d, transposed: true, address } if d.len() == 2 && address.offset == 64)
    );
}

#[test]
fn what_is_younger_than_the_module_is_refused() {
    let said = |version: &str, target: &str, body: &str| {
        let text = format!(".version {version}\n.target {target}\n.entry e() {{ .reg .b32 %r<3>; {body} }}");
        let module = parse(&text).expect("it reads well");
        program(&module, "e").expect_err("too young").to_string()
    };
    assert_eq!(
        said("6.4", "sm_75", "redux.sync.add.s32 %r1, %r2, -1;"),
        "line 3, column 31: 'redux.sync.add.s32' came with PTX 7.0, but the module says '.version 6.4'"
    );
    // Story: version 6.0 was taken with a target that came later.
    assert_eq!(
        said("6.0", "sm_80", ""),
        "line 1, column 1: '.target sm_80' came with PTX 7.0, but the module says '.version 6.0'; compile for that version or a newer one"
    );
    assert_eq!(
        said("7.0", "sm_75", "redux.sync.add.s32 %r1, %r2, -1;"),
        "line 3, column 31: 'redux.sync.add.s32' needs sm_80, but the module says '.target sm_75'"
    );
    let text = format!("{HEAD}.entry one() {{ ret; }} .entry two() {{ ret; }}");
    let module = parse(&text).expect("it reads well");
    let missing = program(&module, "three").expect_err("there is none").to_string();
    assert_eq!(missing, "line 1, column 1: there is no entry 'three'; the module has 'one', 'two'");
}

/// What the text says stands in the module, number by number.
#[test]
fn a_module_is_what_stands_there() {
    let text = format!(
        "{HEAD}.global .u64 p[2] = {{generic(x)+8, 0b101}};\n.entry e .maxntid 7 {{ .reg .b32 a, %r<3>;\nx:\n@!p add.s32 a, -0x10, 017; f _, !q, a|b, [c-4], [8], d+1, 1e1, 0dBFF0000000000000; }}"
    );
    let module = parse(&text).expect("it reads well");
    assert_eq!((module.version, module.target), ((8, 8), "sm_90a"));
    let variable = &module.variables[0];
    assert_eq!((variable.name, variable.ty, variable.len, variable.align), ("p", Type::U64, Some(2), 8));
    assert_eq!(variable.initial, [Initializer::Address("x", 8), Initializer::Integer(5)]);
    let entry = &module.entries[0];
    assert_eq!((entry.name, entry.max_threads), ("e", Some([7, 1, 1])));
    let registers: Vec<_> = entry.registers.iter().map(|list| (list.prefix, list.count)).collect();
    assert_eq!(registers, [("a", None), ("%r", Some(3))]);
    let [Statement::Label("x", at), Statement::Instruction(add), Statement::Instruction(f)] =
        entry.body.as_slice()
    else {
        panic!("{:?}", entry.body);
    };
    assert_eq!((at.line, at.column), (7, 1));
    assert_eq!((add.at.line, add.at.column, add.form), (8, 1, "add.s32"));
    assert!(add.guard.is_some_and(|guard| guard.negated && guard.predicate == "p"));
    assert_eq!(add.operands, [Operand::Name("a"), Operand::Integer(-16), Operand::Integer(15)]);
    use sparse_ptx::text::Base;
    let expected = [
        Operand::Sink,
        Operand::Not("q"),
        Operand::Pair("a", "b"),
        Operand::Address(Base::Name("c"), -4),
        Operand::Address(Base::None, 8),
        Operand::Offset("d", 1),
        Operand::F64(10_f64.to_bits()),
        Operand::F64((-1_f64).to_bits()),
    ];
    assert_eq!(f.operands, expected);
}

/// `ptxas` takes numbers that do not fit into the type of the instruction, and cuts off what is above; so does this.
#[test]
fn numbers_beyond_their_type_are_cut_as_the_assembler_does() {
    for (text, expected) in [
        ("add.u32 %r1, %r2, 0x123456789;", 0x2345_6789),
        ("add.s32 %r1, %r2, -4294967297;", 0xffff_ffff),
        ("and.b32 %r1, %r2, 18446744073709551615;", 0xffff_ffff),
        ("add.u16 %rs1, %rs2, 70000;", 70000 - 65536),
    ] {
        let program = body(text);
        assert_eq!(number(&program, sources(&program.steps[0])[1]), expected, "{text}");
    }
}

/// Story: a finding about an undefined guard did not say which predicate it was.
#[test]
fn guards_keep_their_names() {
    let program = body("setp.eq.s32 %p1, %r1, 0; @%p1 mov.u32 %r1, 1; mov.u32 %r2, 1; @!%p3 mov.u32 %r2, 2;");
    let names: Vec<Option<&str>> = (0..5).map(|step| program.guard(step)).collect();
    assert_eq!(names, [None, Some("%p1"), None, Some("%p3"), None]);
}

//! Types of registers: each instruction takes those that the assembler takes, and says which where it refuses one.

use sparse_oracle::arithmetic::Architecture;
use sparse_ptx::decode::{DecodeFault, program, programs};
use sparse_ptx::machine::{Launch, run};
use sparse_ptx::memory::{Device, Limits};
use sparse_ptx::text::{Type, parse};

/// Refusal of an instruction in an entry that has six registers of each type, `%u32_0` to `%u32_5`; nothing where it is taken.
fn refusal(instruction: &str) -> Option<(String, DecodeFault)> {
    let registers: String = Type::ALL
        .iter()
        .filter(|(ty, _)| *ty != Type::B128)
        .map(|(_, name)| format!(".reg .{name} %{name}_<6>; "))
        .collect();
    let text = format!(
        ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry e(.param .u64 a) {{ {registers}\n{instruction} ret; }}"
    );
    let module = parse(&text).unwrap_or_else(|error| panic!("{instruction}: {error}"));
    programs(&module).err().map(|error| (error.to_string(), error.fault))
}

/// `@` and `#` are registers of the type in question; the types are those that `ptxas` 13.0 takes there for `sm_90`.
const TAKEN: &[(&str, &str)] = &[
    ("add.f32 @, %f32_1, %f32_2;", "b32 f32"),
    ("add.f32 %b32_0, @, %f32_2;", "b32 f32"),
    ("add.s32 @, %b32_1, %b32_2;", "b32 u32 s32 f16x2"),
    ("add.u32 %b32_0, %b32_1, @;", "b32 u32 s32 f16x2"),
    ("add.s16 %b16_0, @, %b16_2;", "b16 u16 s16"),
    ("add.s64 %b64_0, @, %b64_2;", "b64 u64 s64"),
    ("add.f64 %b64_0, @, %b64_2;", "b64 f64"),
    ("add.f16 %b16_0, @, %b16_2;", "b16 f16"),
    ("add.f16x2 %b32_0, @, %b32_2;", "b32 f16x2"),
    ("add.bf16 @, %b16_1, %b16_2;", "b16"),
    ("add.bf16x2 @, %b32_1, %b32_2;", "b32"),
    ("and.b32 %b32_0, @, %b32_2;", "b32 u32 s32 f32 f16x2"),
    ("xor.b64 %b64_0, @, %b64_2;", "b64 u64 s64 f64"),
    ("lop3.b32 %b32_0, @, %b32_2, %b32_3, 0x80;", "b32 u32 s32 f32 f16x2"),
    ("mul.wide.s16 @, %b16_1, %b16_2;", "b32 u32 s32 f16x2"),
    ("mul.wide.u32 @, %b32_1, %b32_2;", "b64 u64 s64"),
    ("mad.wide.u32 %b64_0, %b32_1, %b32_2, @;", "b64 u64 s64"),
    ("shl.b64 %b64_0, %b64_1, @;", "b32 u32 s32"),
    ("shr.s32 %b32_0, @, %b32_2;", "b32 u32 s32 f16x2"),
    ("shf.l.wrap.b32 %b32_0, @, %b32_2, %b32_3;", "b32 u32 s32 f32 f16x2"),
    ("shf.l.wrap.b32 %b32_0, %b32_1, %b32_2, @;", "b32 u32 s32"),
    ("popc.b64 @, %b64_1;", "b32 u32 s32"),
    ("bfe.u64 %b64_0, %b64_1, @, %b32_3;", "b32 u32 s32"),
    ("setp.lt.f32 %pred_0, @, %b32_2;", "b32 f32"),
    ("setp.eq.b32 %pred_0, @, %b32_2;", "b32 u32 s32 f32 f16x2"),
    ("set.eq.u32.f32 %b32_0, @, %b32_2;", "b32 f32"),
    ("set.eq.f32.s32 @, %b32_1, %b32_2;", "b32 f32"),
    ("selp.f32 %b32_0, @, %b32_2, %pred_3;", "b32 f32"),
    ("slct.f64.s32 %b64_0, %b64_1, %b64_2, @;", "b32 u32 s32 f16x2"),
    ("testp.finite.f64 %pred_0, @;", "b64 f64"),
    ("mov.u32 @, %b32_1;", "b32 u32 s32 f16x2"),
    ("mov.f32 %b32_0, @;", "b32 f32"),
    ("mov.b16 %b16_0, @;", "b16 u16 s16 f16"),
    ("mov.b64 %b64_0, {@, #};", "b32 u32 s32 f32 f16x2"),
    ("mov.b32 {@, #}, %b32_0;", "b16 u16 s16 f16"),
    ("mov.b32 %b32_0, {@, #, @, #};", "b8 u8 s8"),
    ("mov.b64 {%b32_1, %b32_2}, @;", "b64 u64 s64 f64"),
    ("cvt.rn.bf16.f32 %b16_0, @;", "b32 f32"),
    ("cvt.rn.bf16x2.f32 @, %b32_1, %b32_2;", "b32"),
    ("cvt.f64.f32 @, %b32_1;", "b64 f64"),
    ("ld.global.b64 @, [%b64_0];", "b64 u64 s64 f64"),
    ("ld.global.f64 @, [%b64_0];", "b64 f64"),
    ("ld.global.f32 @, [%b64_0];", "b32 f32 b64"),
    ("ld.global.u16 @, [%b64_0];", "b16 u16 s16 b32 u32 s32 f16x2 b64 u64 s64"),
    ("st.global.b32 [%b64_0], @;", "b32 u32 s32 f32 f16x2 b64 u64 s64 f64"),
    ("st.global.s32 [%b64_0], @;", "b32 u32 s32 f16x2 b64 u64 s64"),
    ("st.global.v2.u32 [%b64_0], {@, #};", "b32 u32 s32 f16x2 b64 u64 s64"),
    ("ld.global.u32 %b32_0, [@+4];", "b16 u16 s16 b64 u64 s64 b8 u8 s8"),
    ("ld.shared.u32 %b32_0, [@+4];", "b16 u16 s16 b32 u32 s32 b64 u64 s64 b8 u8 s8"),
    ("shfl.sync.idx.b32 @, %b32_0, 0, 31, -1;", "b32 u32 s32 f32 f16x2"),
    ("shfl.sync.idx.b32 %b32_0, %b32_0, 0, 31, @;", "b32 u32 s32"),
    ("vote.sync.ballot.b32 @, %pred_0, -1;", "b32 u32 s32 f32 f16x2"),
    ("redux.sync.and.b32 %b32_0, @, -1;", "b32 u32 s32"),
    ("bar.sync 0, @;", "b32 u32 s32"),
    (
        "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f32_0, %f32_1, %f32_2, %f32_3}, {@, #}, {%b32_2}, \
         {%f32_0, %f32_1, %f32_2, %f32_3};",
        "b32 f16x2",
    ),
    (
        "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%f32_0, %f32_1, %f32_2, %f32_3}, {@, #}, {%b32_2}, \
         {%f32_0, %f32_1, %f32_2, %f32_3};",
        "b32",
    ),
    (
        "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {@, #}, {%b32_0, %b32_1}, {%b32_2}, {%b32_0, %b32_1};",
        "b32 f16x2",
    ),
];

/// Story: `add.f32` into a register of type `.u32` ran clean, as registers were told apart by their size alone. The assembler refuses it.
#[test]
fn registers_are_of_the_types_that_the_assembler_takes() {
    let mut wrong = Vec::new();
    for (pattern, taken) in TAKEN {
        let taken: Vec<&str> = taken.split(' ').collect();
        for (ty, name) in Type::ALL {
            if ty == Type::B128 {
                continue;
            }
            let text = pattern.replace('@', &format!("%{name}_4")).replace('#', &format!("%{name}_5"));
            let refused = refusal(&text);
            if refused.is_none() != taken.contains(&name) {
                wrong.push(format!("{text}: {refused:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Instructions with numbers and special registers that `ptxas` 13.0 takes, and some that it does not.
const SOURCES: [(&[&str], bool); 2] = [
    (
        &[
            "add.f32 %f32_0, %f32_1, 1.0;",
            "add.f32 %f32_0, %f32_1, .5;",
            "add.f32 %f32_0, %f32_1, 0F3f800000;",
            "add.f32 %f32_0, %f32_1, 0d3FF0000000000000;",
            "add.f64 %f64_0, %f64_1, 0f3F800000;",
            "cvt.rn.f16x2.f32 %b32_0, 1.0, 2.0;",
            "cvt.rzi.s32.f32 %b32_0, 1.0;",
            "and.b32 %b32_0, %b32_1, 0f3F800000;",
            "selp.b32 %b32_0, 0f3F800000, 0, %pred_0;",
            "mov.b64 %b64_0, {%b32_0, 0f3F800000};",
            "mov.b64 %b64_0, 1.0;",
            "st.global.b32 [%b64_0], 0f3F800000;",
            "st.global.v4.f32 [%b64_0], {1.0, 2.0, %f32_0, %f32_1};",
            "mov.b16 %b16_0, 0x3c00;",
            "mov.u32 %b32_0, %tid.x;",
            "mov.b64 %b64_0, {%tid.x, %b32_1};",
            "mov.b32 {%b16_0, %b16_1}, %tid.x;",
            "cvt.u64.u32 %b64_0, %tid.x;",
            "add.u32 %b32_0, WARP_SZ, 1;",
        ],
        true,
    ),
    (
        &[
            "add.f32 %f32_0, %f32_1, 1;",
            "mov.f64 %f64_0, 0;",
            "setp.lt.f32 %pred_0, %f32_0, 1;",
            "slct.u32.f32 %u32_0, 1, 0, 1;",
            "st.global.f32 [%b64_0], 1;",
            "st.global.v2.f32 [%b64_0], {1, %f32_0};",
            "add.u32 %b32_0, %b32_1, 0f3F800000;",
            "mov.u32 %b32_0, 0f3F800000;",
            "mov.b32 %b32_0, 1.0;",
            "mov.b32 %b32_0, 0d3FF0000000000000;",
            "mov.b64 %b64_0, 0f3F800000;",
            "st.global.b32 [%b64_0], 1.0;",
            "st.global.u32 [%b64_0], 0f3F800000;",
            "cvt.rn.f32.u32 %f32_0, 0f3F800000;",
            "add.f16 %b16_0, %b16_1, 0x3c00;",
            "fma.rn.f16x2 %b32_0, %b32_1, 0x3c003c00, %b32_2;",
            "cvt.f32.f16 %f32_0, 1.0;",
            "add.u32 %b32_0, %tid.x, 1;",
            "st.global.u32 [%b64_0], %tid.x;",
            "shfl.sync.idx.b32 %b32_0, %tid.x, 0, 31, -1;",
            "bar.sync %tid.x;",
            "cvt.rn.f32.u32 %f32_0, %tid.x;",
            "mov.f32 %f32_0, %tid.x;",
            "mov.u64 %b64_0, %tid.x;",
        ],
        false,
    ),
];

/// Story: integers were taken as floats, floats as integers, and special registers everywhere; the assembler refuses all three.
#[test]
fn numbers_and_special_registers_stand_where_the_assembler_takes_them() {
    for (instructions, taken) in SOURCES {
        for instruction in instructions {
            let refused = refusal(instruction);
            assert_eq!(refused.is_none(), taken, "{instruction}: {refused:?}");
        }
    }
    let minus =
        parse(".version 9.0\n.target sm_80\n.entry e() { .reg .f32 %f<2>;\nmov.f32 %f1, -0f3F800000; }");
    let said = minus.expect_err("the assembler knows no sign there").to_string();
    assert!(
        said.contains(
            "line 4, column 15: found '0f3F800000', where a number with its sign in its highest bit"
        ),
        "{said}"
    );
}

#[test]
fn a_refusal_names_register_type_and_what_is_wanted() {
    let (said, fault) = refusal("add.f32 %u32_1, %f32_1, %f32_2;").expect("a refusal");
    let DecodeFault::RegisterType { number, register, declared, wanted, .. } = &fault else {
        panic!("{fault:?}")
    };
    assert_eq!((*number, register.as_str(), *declared), (1, "%u32_1", "u32"));
    assert_eq!(wanted, "'.f32' or '.b32'");
    assert_eq!(
        said,
        "line 5, column 1: operand 1 of 'add.f32' is '%u32_1', which is declared as '.u32', where a register of type '.f32' or '.b32' \
         belongs; declare it so, or bring its value into such a register: 'mov.b32' and its like copy bits, 'cvt' converts"
    );
    let (said, _) = refusal("ld.global.u32 %f32_1, [%b64_0];").expect("a refusal");
    assert!(said.contains("'.b32', '.u32' or '.s32', or a wider one of bits or integers"), "{said}");
    let (said, _) = refusal("add.bf16x2 %u32_1, %b32_0, %b32_1;").expect("a refusal");
    assert!(said.contains("'.b32' (for bf16x2)"), "{said}");
}

/// Story: with types came registers that are wider than what `cvt` makes, and `cvt.s16` left zeros above the sign. PTX extends it.
#[test]
fn a_signed_integer_is_extended_into_a_wider_register() {
    for (form, expected) in [
        ("cvt.s16.s8 %r2, %r1", 0xffff_ffff_u64),
        ("cvt.s16.u32 %r2, %r1", 0xffff_80ff),
        ("cvt.u16.u32 %r2, %r1", 0x80ff),
        ("cvt.sat.s16.s32 %r2, %r1", 0x7fff),
        // Story: a register of 64 bits for a narrower type was refused, where the assembler takes it.
        ("cvt.s16.u32 %rd2, %r1", 0xffff_ffff_ffff_80ff),
        ("cvt.u16.u32 %rd2, %r1", 0x80ff),
        ("cvt.s32.s16 %rd2, %r1", 0xffff_ffff_ffff_80ff),
        ("cvt.u32.s16 %rd2, %r1", 0xffff_80ff),
        ("cvt.u32.u16 %rd2, %rd3", 0x80ff),
        ("cvt.s64.s32 %rd2, %rd3", 0xffff_ffff_f001_80ff),
        ("cvt.u64.u32 %rd2, %rd3", 0xf001_80ff),
        ("cvt.s32.s8 %r2, %rd3", 0xffff_ffff),
        ("cvt.rzi.s32.f32 %rd2, -3.0", 0xffff_ffff_ffff_fffd),
        ("cvt.rn.f32.s16 %rd2, %rd3", 0xc6fe_0200),
        ("cvt.f64.f32 %rd2, %rd4", 0x3ff0_0000_0000_0000),
    ] {
        let text = format!(
            ".version 9.0\n.target sm_80\n.address_size 64\n.visible .entry e(.param .u64 a) {{ .reg .b32 %r<4>; .reg .b64 %rd<5>;\n\
             ld.param.u64 %rd1, [a]; mov.u32 %r1, 0x180ff; mov.b64 %rd2, 0; mov.b64 %rd3, 0x70000000f00180ff;\n\
             mov.b64 %rd4, 0x700000003f800000; mov.u32 %r2, 0; mov.u32 %r3, 0; {form}; @P mov.b64 %rd2, {{%r2, %r3}};\n\
             st.global.u64 [%rd1], %rd2; ret; }}"
        );
        let text = if form.contains("%rd2") {
            text.replace("@P mov.b64 %rd2, {%r2, %r3};", "")
        } else {
            text.replace("@P ", "")
        };
        let module = parse(&text).expect("PTX");
        let program = program(&module, "e").expect("a program");
        let mut device = Device::new(Limits::default());
        let address = device.alloc(8, 256).expect("memory");
        let launch = Launch::new(Architecture::Sm80, 1, 1, address.to_le_bytes().to_vec());
        let outcome = run(&program, &launch, &mut device).expect("a launch");
        assert!(outcome.is_clean(), "{form}: {:?}", outcome.findings);
        let left = device.read_checked(address, 8).expect("memory");
        assert_eq!(left.bytes, expected.to_le_bytes(), "{form}");
    }
}

/// Story: the finding said that "the predicate" depends on something undefined; a text has many.
#[test]
fn an_undefined_guard_is_named() {
    let text = ".version 9.0\n.target sm_80\n.address_size 64\n.visible .entry e() { .reg .pred %p<4>; .reg .b32 %r<4>;\n\
                setp.eq.s32 %p1, %r3, 0;\n@%p1 mov.u32 %r1, 1;\n@!%p2 mov.u32 %r1, 2;\nret; }";
    let module = parse(text).expect("PTX");
    let program = program(&module, "e").expect("a program");
    let mut device = Device::new(Limits::default());
    let launch = Launch::new(Architecture::Sm80, 1, 64, Vec::new());
    let outcome = run(&program, &launch, &mut device).expect("a launch");
    let said: Vec<String> = outcome.findings.iter().map(ToString::to_string).collect();
    assert_eq!(said.len(), 2, "{said:?}");
    assert!(
        said[0].contains("the predicate '%p1' that guards this depends on something undefined"),
        "{said:?}"
    );
    assert!(
        said[1].contains("'%p2'") && said[1].ends_with("(2 times at this line, counted by warps)"),
        "{said:?}"
    );
}

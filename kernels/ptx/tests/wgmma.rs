//! `wgmma`: each form of the table is the oracle's scalar model where the layout is read as here, and leaves what an H200 left.
//!
//! ```text
//! a pool of elements in shared memory  ->  descriptors of some layout  ->  one product, 128 threads  ->  D
//! ```
//!
//! `WGMMA_DUMP=folder cargo test -p sparse-ptx --test wgmma` writes the texts and pools, for a GPU.

mod source;

use source::Source;
use sparse_oracle::arithmetic::{Architecture, Engine, Instruction};
use sparse_oracle::format::SparseMma;
use sparse_oracle::model::tensor_core::TensorCore;
use sparse_oracle::model::tensor_core::sparse::selected_rows;
use sparse_oracle::scalar::Precision::{Bf16, F16, F32, Tf32};
use sparse_oracle::scalar::{Precision, Rounding, encode};
use sparse_ptx::decode::programs;
use sparse_ptx::machine::{self, Launch};
use sparse_ptx::memory::Device;
use sparse_ptx::table::forms;
use sparse_ptx::text::parse;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Bytes of shared memory, and where B begins in it.
const IMAGE: usize = 48 << 10;
const B: usize = 16 << 10;
/// Behind it, in bytes: A, C, metadata; a word a thread each.
const A_REGISTERS: usize = IMAGE;
const C_REGISTERS: usize = A_REGISTERS + 4 * 512;
const METADATA: usize = C_REGISTERS + 128 * 512;
const POOL: usize = METADATA + 512;

/// An element; `special` ones are infinite or NaN at times.
fn element(source: &mut Source, precision: Precision, special: bool) -> u64 {
    let random = source.next();
    let number = match random % 1024 {
        0 if special => f64::INFINITY,
        1 if special => f64::NAN,
        2 => -0.0,
        _ => ((random >> 20) % 4001) as f64 / 1000.0 - 2.0,
    };
    encode(number, precision, Rounding::NearestEven)
}

/// Elements for shared memory and A, for C, and metadata.
fn pool(instruction: Instruction, special: bool) -> Vec<u8> {
    let mut source = Source(41 + u64::from(special));
    let mut bytes = Vec::with_capacity(POOL);
    while bytes.len() < METADATA {
        let precision = if bytes.len() < C_REGISTERS { instruction.input } else { instruction.acc };
        let bits = element(&mut source, precision, special);
        bytes.extend(&bits.to_le_bytes()[..precision.bytes()]);
    }
    let legal: &[u32] = if instruction.input == Tf32 { &[4, 14] } else { &[4, 8, 12, 9, 13, 14] };
    while bytes.len() < POOL {
        let word = (0..8).fold(0, |word, _| word << 4 | legal[source.next() as usize % legal.len()]);
        bytes.extend(u32::to_le_bytes(word));
    }
    bytes
}

/// How an operand lies in shared memory, as CUTLASS writes it: rows of `width` bytes, by the code of the swizzle.
#[derive(Clone, Copy)]
struct Layout {
    from: usize,
    code: u64,
    transposed: bool,
    leading: usize,
    stride: usize,
}

const WIDTHS: [usize; 4] = [16, 128, 64, 32];

impl Layout {
    /// Blocks of 8 rows one after another, those of 16 bytes along k too.
    fn new(from: usize, code: u64, transposed: bool, (across, k, bytes): (usize, usize, usize)) -> Layout {
        let width = WIDTHS[code as usize];
        let block = 8 * width;
        let (leading, stride) = match (transposed, code) {
            (false, 0) => (block, block * (k * bytes / 16)),
            (false, _) => (16, block),
            (true, 0) => (block * (across * bytes / 16), block),
            (true, _) => (block * (k / 8), block),
        };
        Layout { from, code, transposed, leading, stride }
    }

    fn descriptor(&self) -> u64 {
        (self.from as u64 >> 4)
            | (self.leading as u64 >> 4) << 16
            | (self.stride as u64 >> 4) << 32
            | self.code << 62
    }

    /// The byte of an element.
    fn byte(&self, across: usize, k: usize, bytes: usize) -> usize {
        let width = WIDTHS[self.code as usize];
        let (row, along) = if self.transposed { (k, across * bytes) } else { (across, k * bytes) };
        let (block, next) = match (self.transposed, self.code) {
            (false, _) => (self.stride, self.leading),
            (true, 0) => (self.leading, self.stride),
            (true, _) => (self.stride, self.leading),
        };
        let at = self.from + row / 8 * block + along / width * next + row % 8 * width + along % width;
        // Chunks of 16 bytes of a row are exchanged by the number of the row in its 1,024, 512 or 256 bytes.
        let chunks = width / 16;
        at ^ (at / 128 % chunks * 16)
    }
}

/// One product.
struct Case {
    form: &'static str,
    instruction: Instruction,
    special: bool,
    /// Where A lies, if not in registers.
    a: Option<Layout>,
    b: Layout,
    selector: u8,
    adds: bool,
    negative: [bool; 2],
}

/// Every form of the table, with layouts, signs and selectors in turn.
fn cases() -> Vec<Case> {
    let all = forms().into_iter().filter(|form| form.starts_with("wgmma.mma_async"));
    all.enumerate().map(|(i, form)| case(form, i)).collect()
}

fn case(form: &'static str, i: usize) -> Case {
    let parts: Vec<&str> = form.split('.').collect();
    let shape = parts.iter().find_map(|part| Instruction::parse_shape(part)).expect("a shape");
    let sparse = parts.contains(&"sp");
    let types: Vec<Precision> =
        parts[parts.len() - 2..].iter().map(|name| Precision::from_name(name).expect("a type")).collect();
    let acc = Precision::from_name(parts[parts.len() - 3]).expect("a type");
    let engine = if sparse { Engine::WgmmaSparse } else { Engine::Wgmma };
    let instruction = Instruction::mma(shape, acc, types[0]).engine(engine);
    let (n, k, bytes) = (usize::from(instruction.n), usize::from(instruction.k), instruction.input.bytes());
    let layout = |from: usize, turn: usize, across: usize, k: usize| {
        let transposed = bytes == 2 && turn % 2 == 1;
        let mut code = (turn / 2 % 4) as u64;
        // Narrower than what is taken along k, or wider than the matrix.
        while !transposed && code > 0 && WIDTHS[code as usize] < k * bytes
            || transposed && !(across * bytes).is_multiple_of(WIDTHS[code as usize])
        {
            code = (code + 1) % 4;
        }
        // The second product along k of the same rows, where there is one.
        let second =
            if !transposed && code > 0 && WIDTHS[code as usize] >= 2 * k * bytes { k * bytes } else { 0 };
        Layout {
            from: from + turn / 8 % 2 * second,
            ..Layout::new(from, code, transposed, (across, k, bytes))
        }
    };
    let mut source = Source(i as u64);
    let mut turn = |n: u64| source.below(n);
    Case {
        form,
        instruction,
        special: turn(4) == 0,
        a: (turn(3) > 0).then(|| layout(0, turn(16) as usize, 64, instruction.products())),
        b: layout(B, turn(16) as usize, n, k),
        selector: turn(2) as u8,
        adds: turn(5) > 0,
        negative: [turn(6) == 0, turn(6) == 0],
    }
}

impl Case {
    fn registers_of_d(&self) -> usize {
        usize::from(self.instruction.n) * self.instruction.acc.bytes() / 8
    }

    /// The operands in the order of the instruction.
    fn operands(&self, d: &str) -> String {
        let half = self.instruction.input != Tf32;
        let a = if self.a.is_some() { "%d8".to_owned() } else { "{%r20, %r21, %r22, %r23}".to_owned() };
        let sparse = if self.instruction.engine == Engine::WgmmaSparse {
            format!(", %r24, {}", self.selector)
        } else {
            String::new()
        };
        let sign = |negative: bool| if negative { -1 } else { 1 };
        let mut text =
            format!("{{{d}}}, {a}, %d9{sparse}, %p1, {}, {}", sign(self.negative[0]), sign(self.negative[1]));
        if half {
            if let Some(a) = self.a {
                let _ = write!(text, ", {}", u8::from(a.transposed));
            }
            let _ = write!(text, ", {}", u8::from(self.b.transposed));
        }
        text
    }

    fn text(&self) -> String {
        let (ty, name) = if self.instruction.acc == F32 { ("f32", "%f") } else { ("b32", "%h") };
        let registers: Vec<String> = (0..self.registers_of_d()).map(|i| format!("{name}{i}")).collect();
        let mut text = format!(
            ".version 8.3\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 pool, .param .u64 out)\n{{\n.reg .pred %p<2>;\n\
             .reg .b32 %r<32>;\n.reg .b32 %h<128>;\n.reg .f32 %f<128>;\n.reg .b64 %d<16>;\n.shared .align 1024 .b8 s[{IMAGE}];\n\
             ld.param.u64 %d1, [pool];\nld.param.u64 %d2, [out];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %d3, %r1, 16;\n\
             add.s64 %d4, %d1, %d3;\nmov.u32 %r2, s;\nshl.b32 %r3, %r1, 4;\nadd.s32 %r3, %r2, %r3;\n"
        );
        for at in (0..IMAGE).step_by(2048) {
            let _ = writeln!(
                text,
                "ld.global.v4.u32 {{%r10, %r11, %r12, %r13}}, [%d4+{at}];\nst.shared.v4.u32 [%r3+{at}], {{%r10, %r11, %r12, %r13}};"
            );
        }
        text += "fence.proxy.async.shared::cta;\nbar.sync 0;\nmul.wide.u32 %d5, %r1, 4;\nadd.s64 %d6, %d1, %d5;\n";
        for i in 0..4 {
            let _ = writeln!(text, "ld.global.u32 %r{}, [%d6+{}];", 20 + i, A_REGISTERS + 512 * i);
        }
        let _ = writeln!(text, "ld.global.u32 %r24, [%d6+{METADATA}];");
        for (i, register) in registers.iter().enumerate() {
            let _ = writeln!(text, "ld.global.{ty} {register}, [%d6+{}];", C_REGISTERS + 512 * i);
        }
        let [a, b] = [self.a.map_or(0, |a| a.descriptor()), self.b.descriptor()];
        let _ = writeln!(
            text,
            "shr.u32 %r4, %r2, 4;\ncvt.u64.u32 %d7, %r4;\nmov.b64 %d10, 0x{a:x};\nadd.s64 %d8, %d7, %d10;\nmov.b64 %d11, 0x{b:x};\n\
             add.s64 %d9, %d7, %d11;\nsetp.ne.u32 %p1, {}, 0;\nwgmma.fence.sync.aligned;\n{} {};\nwgmma.commit_group.sync.aligned;\n\
             wgmma.wait_group.sync.aligned 0;\nadd.s64 %d12, %d2, %d5;",
            u8::from(self.adds),
            self.form,
            self.operands(&registers.join(", "))
        );
        for (i, register) in registers.iter().enumerate() {
            let _ = writeln!(text, "st.global.{ty} [%d12+{}], {register};", 512 * i);
        }
        text + "ret;\n}\n"
    }

    /// Rows and columns of the two elements (one, of f32) that a thread has in a register of D.
    fn places(&self, thread: usize, register: usize) -> Vec<(usize, usize)> {
        let (warp, g, t) = (thread / 32, thread % 32 / 4, thread % 4);
        if self.instruction.acc == F32 {
            vec![(16 * warp + g + register / 2 % 2 * 8, 8 * (register / 4) + 2 * t + register % 2)]
        } else {
            let (row, col) = (16 * warp + g + register % 2 * 8, 8 * (register / 2) + 2 * t);
            vec![(row, col), (row, col + 1)]
        }
    }

    fn a(&self, pool: &[u8], row: usize, kept: usize) -> u64 {
        let bytes = self.instruction.input.bytes();
        let at = match self.a {
            Some(a) => a.byte(row, kept, bytes),
            None => {
                let each = 4 / bytes;
                let (t, side) = (kept % (4 * each) / each, kept / (4 * each));
                let register = row % 16 / 8 + 2 * side;
                A_REGISTERS + 512 * register + 4 * (row / 16 * 32 + row % 8 * 4 + t) + kept % each * bytes
            }
        };
        bits(pool, at, bytes)
    }

    /// The rows of B that a row of A meets.
    fn selected(&self, pool: &[u8], row: usize) -> Vec<usize> {
        if self.instruction.engine == Engine::Wgmma {
            return (0..usize::from(self.instruction.k)).collect();
        }
        let shape = if self.instruction.input == Tf32 { SparseMma::Tf32K16 } else { SparseMma::HalfK32 };
        let nibbles: Vec<u32> = (0..shape.k() / shape.chunk())
            .map(|chunk| {
                let (word, shift) = shape.nibble_of_chunk(row % 16, chunk);
                let lane = shape.lane_of_word(word, self.selector.into());
                (bits(pool, METADATA + 4 * (row / 16 * 32 + lane), 4) >> shift) as u32 & 15
            })
            .collect();
        selected_rows(shape, &nibbles).expect("legal metadata")
    }

    fn expected(&self, core: &TensorCore, pool: &[u8], (row, col): (usize, usize), c: u64) -> u64 {
        let Instruction { input, .. } = self.instruction;
        let bytes = input.bytes();
        let minus = |bits: u64, yes: bool| if yes { bits ^ 1 << (8 * bytes - 1) } else { bits };
        let a: Vec<u64> =
            (0..core.products()).map(|kept| minus(self.a(pool, row, kept), self.negative[0])).collect();
        let b = self
            .selected(pool, row)
            .into_iter()
            .map(|k| minus(bits(pool, self.b.byte(col, k, bytes), bytes), self.negative[1]));
        core.apply(if self.adds { c } else { 0 }, &a, &b.collect::<Vec<_>>()).expect("as many as products")
    }

    fn play(&self, pool: &[u8]) -> Vec<u8> {
        let text = self.text();
        let module = parse(&text).unwrap_or_else(|error| panic!("{}: {error}", self.form));
        let program = programs(&module).unwrap_or_else(|error| panic!("{}: {error}", self.form)).remove(0);
        let mut device = Device::default();
        let from = device.alloc(pool.len() as u64, 256).expect("room");
        device.write(from, pool).expect("inside");
        let bytes = 512 * self.registers_of_d();
        let out = device.alloc(bytes as u64, 256).expect("room");
        let params = [from, out].iter().flat_map(|address| address.to_le_bytes()).collect();
        let outcome = machine::run(&program, &Launch::new(Architecture::Sm90, 1, 128, params), &mut device);
        let outcome = outcome.expect("it can be launched");
        assert!(outcome.findings.is_empty() && outcome.complete, "{}: {:?}", self.form, outcome.findings);
        let checked = device.read_checked(out, bytes).expect("inside");
        assert!(checked.undefined.is_empty(), "{}: {:?}", self.form, checked.undefined);
        device.read(out, bytes).expect("inside").to_vec()
    }

    fn pool_name(&self) -> String {
        let Instruction { input, acc, .. } = self.instruction;
        format!("{}_{}_{}", input.name(), acc.name(), if self.special { "special" } else { "plain" })
    }
}

fn bits(pool: &[u8], at: usize, bytes: usize) -> u64 {
    let mut word = [0; 8];
    word[..bytes].copy_from_slice(&pool[at..at + bytes]);
    u64::from_le_bytes(word)
}

/// FNV-1a of 64 bits; a NaN counts as one whatever its bits, which PTX leaves open.
fn digest(words: &[u8], acc: Precision) -> u64 {
    let bytes = acc.bytes();
    let infinite = encode(f64::INFINITY, acc, Rounding::NearestEven);
    words.chunks_exact(bytes).fold(0xcbf2_9ce4_8422_2325, |digest: u64, element| {
        let bits = bits(element, 0, bytes);
        let magnitude = bits & !(1 << (8 * bytes - 1));
        let bits = if magnitude > infinite { u64::MAX } else { bits };
        (digest ^ bits).wrapping_mul(0x100_0000_01b3)
    })
}

#[test]
fn each_form_is_the_model_and_what_an_h200_computes() {
    let recorded: BTreeMap<&str, &str> = include_str!("silicon/h200_wgmma.txt")
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.split_once(' ').expect("a digest"))
        .collect();
    let dump = std::env::var_os("WGMMA_DUMP").map(std::path::PathBuf::from);
    let mut pools = BTreeMap::new();
    let (mut list, mut differ) = (String::new(), Vec::new());
    let cases = cases();
    assert_eq!(cases.len(), 256);
    for (i, case) in cases.iter().enumerate() {
        let pool = &*pools.entry(case.pool_name()).or_insert_with(|| pool(case.instruction, case.special));
        if let Some(folder) = &dump {
            std::fs::write(folder.join(format!("{i}.ptx")), case.text()).expect("written");
            std::fs::write(folder.join(case.pool_name()), pool).expect("written");
            let _ = writeln!(
                list,
                "{i} {} {} {} {}",
                case.pool_name(),
                case.registers_of_d(),
                case.instruction.acc.bytes(),
                case.form
            );
        }
        let words = case.play(pool);
        compare(case, pool, &words, i);
        let digest = format!("{:016x}", digest(&words, case.instruction.acc));
        if dump.is_none() && Some(&digest.as_str()) != recorded.get(case.form) {
            let Case { a, b, adds, negative, selector, special, .. } = case;
            let a = a.map(|a| (a.code, a.transposed, a.from));
            let b = (b.code, b.transposed, b.from);
            differ.push(format!(
                "{} a {a:?} b {b:?} adds {adds} negative {negative:?} selector {selector} special {special}",
                case.form
            ));
        }
    }
    assert!(differ.is_empty(), "{} differ from an H200:\n{}", differ.len(), differ.join("\n"));
    if let Some(folder) = dump {
        std::fs::write(folder.join("list"), list).expect("written");
    }
}

/// Some elements of D by the scalar model: all rows of a warp, every third column of many.
fn compare(case: &Case, pool: &[u8], words: &[u8], i: usize) {
    let core = TensorCore::new(Architecture::Sm90, case.instruction).expect("modelled");
    let acc = case.instruction.acc;
    let (lane, third) = (i % 4 * 32, 1 + case.registers_of_d() / 16);
    for thread in lane..lane + 32 {
        for register in (i % third..case.registers_of_d()).step_by(third) {
            for (side, place) in case.places(thread, register).into_iter().enumerate() {
                let at = 512 * register + 4 * thread + side * acc.bytes();
                let c = bits(pool, C_REGISTERS + at, acc.bytes());
                let expected = case.expected(&core, pool, place, c);
                let found = bits(words, at, acc.bytes());
                let nan = |bits: u64| {
                    bits & !(1 << (8 * acc.bytes() - 1)) > encode(f64::INFINITY, acc, Rounding::NearestEven)
                };
                assert!(
                    found == expected || nan(found) && nan(expected),
                    "{} {place:?}: {found:x}, expected {expected:x}",
                    case.form
                );
            }
        }
    }
}

#[test]
fn types_of_all_forms_are_among_these() {
    for case in cases() {
        assert!(matches!(case.instruction.input, F16 | Bf16 | Tf32), "{}", case.form);
    }
}

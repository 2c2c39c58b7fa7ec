//! Builds small programs by hand: one instruction a line, so that a test can say where a finding has to be.

use sparse_ptx::isa::{Evidence, Kind, Row};
use sparse_ptx::program::{
    Access, Act, Address, CopyAsync, Guard, Initial, Operands, Placed, Program, ShuffleKind, Special, Step,
};
use sparse_ptx::registers::{Extent, LANES, Mask, Registers, Slot};
use sparse_ptx::text::Space;

static ROW: Row = Row { forms: "test", ptx: (7, 0), sm: 80, kind: Kind::Exit, evidence: Evidence::Exact };

/// A place that branches go to.
#[derive(Clone, Copy)]
pub(crate) struct Label(usize);

/// A program that grows.
pub(crate) struct Kernel {
    program: Program,
    labels: Vec<Option<u32>>,
    guard: Option<Guard>,
}

fn lanes(mask: Mask) -> impl Iterator<Item = usize> {
    (0..LANES).filter(move |lane| mask >> lane & 1 == 1)
}

/// One loop over all lanes, as the functions of the crate have it: inactive lanes keep what they hold.
macro_rules! binary {
    ($name:ident, $f:expr) => {
        pub(crate) fn $name(registers: &mut Registers, operands: &Operands, mask: Mask) {
            let [a, b] = [0, 1].map(|i: usize| &registers.narrow[usize::from(operands.sources[i].index)]);
            let values: [u32; LANES] = std::array::from_fn(|lane| $f(a[lane], b[lane]));
            let d = &mut registers.narrow[usize::from(operands.d.index)];
            if mask == u32::MAX {
                *d = values;
            } else {
                lanes(mask).for_each(|lane| d[lane] = values[lane]);
            }
        }
    };
}

binary!(add, u32::wrapping_add);
binary!(mul, u32::wrapping_mul);
binary!(and, |a, b| a & b);

fn compare(registers: &mut Registers, operands: &Operands, mask: Mask, f: fn(&u32, &u32) -> bool) {
    let [a, b] = [0, 1].map(|i: usize| registers.narrow[usize::from(operands.sources[i].index)]);
    let d = &mut registers.predicates[usize::from(operands.d.index)];
    lanes(mask).for_each(|lane| *d = *d & !(1 << lane) | u32::from(f(&a[lane], &b[lane])) << lane);
}

fn less(registers: &mut Registers, operands: &Operands, mask: Mask) {
    compare(registers, operands, mask, u32::lt);
}

fn equal(registers: &mut Registers, operands: &Operands, mask: Mask) {
    compare(registers, operands, mask, u32::eq);
}

/// Wide base plus narrow index times narrow scale.
pub(crate) fn index(registers: &mut Registers, operands: &Operands, mask: Mask) {
    let base = registers.wide[usize::from(operands.sources[0].index)];
    let [i, scale] = [1, 2].map(|i: usize| registers.narrow[usize::from(operands.sources[i].index)]);
    let d = &mut registers.wide[usize::from(operands.d.index)];
    lanes(mask)
        .for_each(|lane| d[lane] = base[lane].wrapping_add(u64::from(i[lane]) * u64::from(scale[lane])));
}

/// A selection: the first source where the predicate is true, else the second.
pub(crate) fn select(registers: &mut Registers, operands: &Operands, mask: Mask) {
    let [a, b] = [0, 1].map(|i: usize| registers.narrow[usize::from(operands.sources[i].index)]);
    let p = registers.predicates[usize::from(operands.sources[2].index)];
    let d = &mut registers.narrow[usize::from(operands.d.index)];
    lanes(mask).for_each(|lane| d[lane] = if p >> lane & 1 == 1 { a[lane] } else { b[lane] });
}

impl Kernel {
    pub(crate) fn new() -> Kernel {
        Kernel {
            program: Program {
                name: "test".to_owned(),
                steps: Vec::new(),
                extent: Extent::default(),
                initial: Vec::new(),
                params: Vec::new(),
                param_bytes: 0,
                shared: Vec::new(),
                shared_bytes: 0,
                local_bytes: 0,
                globals: Vec::new(),
                target: String::new(),
                max_threads: None,
                required_block: None,
                guards: Vec::new(),
                predicates: Vec::new(),
                files: vec!["test.cu".to_owned()],
            },
            labels: Vec::new(),
            guard: None,
        }
    }

    pub(crate) fn narrow(&mut self) -> Slot {
        self.program.extent.narrow += 1;
        Slot::narrow(self.program.extent.narrow as u16 - 1)
    }

    pub(crate) fn wide(&mut self) -> Slot {
        self.program.extent.wide += 1;
        Slot::wide(self.program.extent.wide as u16 - 1)
    }

    pub(crate) fn predicate(&mut self) -> Slot {
        self.program.extent.predicates += 1;
        Slot::predicate(self.program.extent.predicates as u16 - 1)
    }

    pub(crate) fn bits(&mut self, bits: u32) -> Slot {
        let slot = self.narrow();
        self.program.initial.push((slot, Initial::Bits(u64::from(bits))));
        slot
    }

    pub(crate) fn special(&mut self, special: Special) -> Slot {
        let slot = self.narrow();
        self.program.initial.push((slot, Initial::Special(special)));
        slot
    }

    pub(crate) fn shared(&mut self, bytes: u32) -> u32 {
        let at = self.program.shared_bytes;
        self.program.shared_bytes += bytes;
        at
    }

    pub(crate) fn local(&mut self, bytes: u32) {
        self.program.local_bytes += bytes;
    }

    /// An address parameter, loaded.
    pub(crate) fn param(&mut self) -> Slot {
        let offset = self.program.param_bytes;
        let name = format!("param_{}", self.program.params.len());
        self.program.params.push(Placed { name, offset, bytes: 8 });
        self.program.param_bytes += 8;
        let d = self.wide();
        self.load(Space::Param, 8, &[d], (None, i64::from(offset)));
        d
    }

    /// The next instruction is guarded.
    pub(crate) fn when(&mut self, predicate: Slot, value: bool) -> &mut Kernel {
        self.guard = Some(Guard { predicate, negated: !value });
        self
    }

    /// Adds an instruction; its line.
    pub(crate) fn act(&mut self, act: Act) -> u32 {
        let line = self.program.steps.len() as u32 + 1;
        let cuda = Some((0, 100 + line));
        self.program.steps.push(Step { row: &ROW, guard: self.guard.take(), act, line, cuda });
        line
    }

    pub(crate) fn lanes(&mut self, run: fn(&mut Registers, &Operands, Mask), d: Slot, from: &[Slot]) -> Slot {
        let mut sources = [d; 4];
        sources[..from.len()].copy_from_slice(from);
        let operands = Operands { d, second: None, sources, count: from.len() as u8 };
        self.act(Act::Lanes { run, operands });
        d
    }

    pub(crate) fn add(&mut self, a: Slot, b: Slot) -> Slot {
        let d = self.narrow();
        self.lanes(add, d, &[a, b])
    }

    pub(crate) fn mul(&mut self, a: Slot, b: Slot) -> Slot {
        let d = self.narrow();
        self.lanes(mul, d, &[a, b])
    }

    pub(crate) fn and(&mut self, a: Slot, b: Slot) -> Slot {
        let d = self.narrow();
        self.lanes(and, d, &[a, b])
    }

    pub(crate) fn less(&mut self, a: Slot, b: Slot) -> Slot {
        let d = self.predicate();
        self.lanes(less, d, &[a, b])
    }

    pub(crate) fn equal(&mut self, a: Slot, b: Slot) -> Slot {
        let d = self.predicate();
        self.lanes(equal, d, &[a, b])
    }

    /// `base + index * scale`.
    pub(crate) fn at(&mut self, base: Slot, by: Slot, scale: u32) -> Slot {
        let (d, scale) = (self.wide(), self.bits(scale));
        self.lanes(index, d, &[base, by, scale])
    }

    pub(crate) fn access(
        space: Space,
        width: u8,
        data: &[Slot],
        (base, offset): (Option<Slot>, i64),
    ) -> Access {
        let mut all = [data[0]; 8];
        all[..data.len()].copy_from_slice(data);
        let address = Address { base, offset };
        Access {
            space,
            width,
            signed: false,
            count: data.len() as u8,
            data: all,
            address,
            read_only: false,
            strong: None,
        }
    }

    pub(crate) fn load(
        &mut self,
        space: Space,
        width: u8,
        data: &[Slot],
        address: (Option<Slot>, i64),
    ) -> u32 {
        self.act(Act::Load(Kernel::access(space, width, data, address)))
    }

    pub(crate) fn store(
        &mut self,
        space: Space,
        width: u8,
        data: &[Slot],
        address: (Option<Slot>, i64),
    ) -> u32 {
        self.act(Act::Store(Kernel::access(space, width, data, address)))
    }

    pub(crate) fn copy(
        &mut self,
        bytes: u8,
        to: (Slot, i64),
        from: (Slot, i64),
        source_bytes: Option<Slot>,
    ) -> u32 {
        let address = |(base, offset)| Address { base: Some(base), offset };
        self.act(Act::Copy(CopyAsync { bytes, source_bytes, to: address(to), from: address(from) }))
    }

    pub(crate) fn barrier(&mut self, number: u32, threads: Option<u32>) -> u32 {
        let number = self.bits(number);
        let threads = threads.map(|threads| self.bits(threads));
        self.act(Act::Barrier { aligned: true, number, threads })
    }

    pub(crate) fn warp_barrier(&mut self, members: u32) -> u32 {
        let members = self.bits(members);
        self.act(Act::WarpBarrier { members })
    }

    /// `shfl.sync` of all lanes.
    pub(crate) fn shuffle(
        &mut self,
        kind: ShuffleKind,
        value: Slot,
        by: u32,
        clamp: u32,
        members: u32,
    ) -> (Slot, Slot, u32) {
        let (d, within) = (self.narrow(), self.predicate());
        let sources = [value, self.bits(by), self.bits(clamp), self.bits(members)];
        let line = self.act(Act::Shuffle { kind, d, within: Some(within), sources });
        (d, within, line)
    }

    pub(crate) fn label(&mut self) -> Label {
        self.labels.push(None);
        Label(self.labels.len() - 1)
    }

    pub(crate) fn place(&mut self, label: Label) {
        self.labels[label.0] = Some(self.program.steps.len() as u32);
    }

    pub(crate) fn branch(&mut self, label: Label) -> u32 {
        self.act(Act::Branch { target: label.0 as u32, uniform: false })
    }

    pub(crate) fn exit(&mut self) -> u32 {
        self.act(Act::Exit)
    }

    /// The program, with an exit at its end.
    pub(crate) fn finish(mut self) -> Program {
        self.exit();
        for step in &mut self.program.steps {
            if let Act::Branch { target, .. } = &mut step.act {
                *target = self.labels[*target as usize].expect("every label is placed");
            }
        }
        self.program
    }

    /// What is not built yet, for tests that change it.
    pub(crate) fn program(&mut self) -> &mut Program {
        &mut self.program
    }
}

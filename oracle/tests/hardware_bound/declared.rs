//! Every declaration that a contract may meet, as data.

use sparse_oracle::Precision;
use sparse_oracle::arithmetic::{
    Along, Architecture, Arithmetic, Combine, CpuUnit, Epilogue, Input, Instruction, Order, Reduction,
};
use sparse_oracle::contract::TYPES;
use sparse_oracle::model::tensor_core::TensorCore;
use sparse_oracle::model::tensor_core::table::ROWS;
use std::collections::BTreeMap;

/// A declaration, the type of its operands, and declarations of the same computation that fix its bits.
#[derive(Clone, Debug)]
pub(crate) struct Declared {
    pub(crate) name: String,
    pub(crate) arithmetic: Arithmetic,
    pub(crate) input: Precision,
    /// What runs: the declaration itself, or where it fixes no bits, all that it stands for.
    pub(crate) runs: Vec<Arithmetic>,
}

/// Every instruction of the table, with the architectures that compute it alike under the first of them.
pub(crate) fn instructions() -> Vec<(Architecture, Instruction)> {
    let mut list = Vec::new();
    for row in ROWS {
        for instruction in row.instructions() {
            list.extend(row.architectures.iter().map(|&a| (a, instruction)));
        }
    }
    list
}

/// One of each way to compute: (architecture, instruction) pairs that differ in datapath, length or types.
pub(crate) fn datapaths() -> Vec<(Architecture, Instruction)> {
    let mut distinct = BTreeMap::new();
    for (architecture, instruction) in instructions() {
        let core = TensorCore::new(architecture, instruction).expect("of the table");
        let key = format!("{:?} {} {}", core.datapath(), core.products(), instruction.input);
        distinct.entry(key).or_insert((architecture, instruction));
    }
    distinct.into_values().collect()
}

/// The output types that contracts have for these operands and this accumulator; the accumulator itself elsewhere.
fn outputs(input: Precision, acc: Precision) -> Vec<Precision> {
    let of_table = TYPES.iter().filter(|t| t.a == input && t.acc == acc).map(|t| t.out);
    let mut outputs: Vec<Precision> = of_table.collect();
    if outputs.is_empty() {
        outputs.push(acc);
    }
    outputs
}

fn declare(name: String, arithmetic: Arithmetic, input: Precision) -> Declared {
    Declared { name, arithmetic, input, runs: vec![arithmetic] }
}

/// Initial values and epilogues of one reduction.
fn around(name: &str, base: &Arithmetic, input: Precision, folds: bool) -> Vec<Declared> {
    let mut list = vec![
        declare(format!("{name} mul-then-add"), base.epilogue(Epilogue::MulThenAdd), input),
        declare(format!("{name} mul-then-fma"), base.epilogue(Epilogue::MulThenFma), input),
        declare(format!("{name} from C"), base.from_c(), input),
    ];
    if folds {
        list.push(declare(format!("{name} alpha into A"), base.epilogue(Epilogue::AlphaIntoA), input));
    }
    list
}

fn alongs(block_name: &str, base: Arithmetic) -> Vec<(String, Arithmetic)> {
    vec![
        (block_name.to_owned(), base),
        (format!("{block_name} split 3"), base.along(Along::SplitK { parts: 3 })),
        (format!("{block_name} two-pass 2"), base.along(Along::TwoPass { blocks: 2 })),
        (format!("{block_name} three-pass 1x2"), base.along(Along::ThreePass { blocks: 1, segments: 2 })),
    ]
}

/// All of them.
pub(crate) fn all() -> Vec<Declared> {
    let mut list = Vec::new();
    for (architecture, instruction) in datapaths() {
        for out in outputs(instruction.input, instruction.acc) {
            let base = Arithmetic::mma(Some(architecture), instruction, out);
            let name = format!("{architecture} {instruction} -> {out}");
            for (name, base) in alongs(&name, base) {
                list.extend(around(&name, &base, instruction.input, false));
            }
        }
    }
    for unit in CpuUnit::ALL {
        for out in outputs(unit.input(), unit.acc()) {
            for (name, base) in alongs(&format!("{unit} -> {out}"), Arithmetic::cpu(unit, out)) {
                list.extend(around(&name, &base, unit.input(), false));
            }
        }
    }
    for types in TYPES {
        for reduction in [Reduction::FmaChain, Reduction::MulAddChain] {
            let mut base = Arithmetic::chain(reduction, types.acc, types.out);
            if types.a == Precision::Tf32 {
                base = base.input(Input::Tf32Rna);
            }
            for (name, base) in alongs(&format!("{types} {reduction:?}"), base) {
                list.extend(around(&name, &base, types.a, true));
            }
        }
        let base = Arithmetic::any(types.acc, types.out);
        for mut any in around(&format!("{types} Any"), &base, types.a, true) {
            any.runs = [Reduction::FmaChain, Reduction::MulAddChain]
                .map(|reduction| with_reduction(&any.arithmetic, reduction))
                .to_vec();
            list.push(any);
        }
    }
    list.extend(hybrids());
    list.extend(unknown_architecture());
    list
}

fn with_reduction(arithmetic: &Arithmetic, reduction: Reduction) -> Arithmetic {
    let mut changed = *arithmetic;
    changed.part_mut().reduction = reduction;
    changed.part_mut().order = Order::Ascending;
    changed
}

/// Tiles on tensor cores, the rest by fma.
fn hybrids() -> Vec<Declared> {
    let f16 = Instruction::mma((16, 8, 16), Precision::F32, Precision::F16);
    let tiles = Arithmetic::mma(Some(Architecture::Sm90), f16, Precision::F32);
    let rest = Arithmetic::chain(Reduction::FmaChain, Precision::F32, Precision::F32);
    [Combine::Ordered, Combine::Disjoint]
        .into_iter()
        .flat_map(|combine| {
            let hybrid = Arithmetic::hybrid(tiles, *rest.part(), combine);
            let mut list = around(&format!("hybrid {combine:?}"), &hybrid, Precision::F16, false);
            if combine == Combine::Disjoint {
                // From C in both parts or in none.
                list.retain(|d| d.arithmetic.epilogue != Epilogue::None);
            }
            list
        })
        .collect()
}

/// Every instruction on a device that nobody has named: whatever architecture it is, its results must be within.
fn unknown_architecture() -> Vec<Declared> {
    let mut by_name: BTreeMap<String, (Instruction, Vec<Architecture>)> = BTreeMap::new();
    for (architecture, instruction) in instructions() {
        let entry = by_name.entry(instruction.to_string());
        entry.or_insert((instruction, Vec::new())).1.push(architecture);
    }
    let mut list = Vec::new();
    for (name, (instruction, architectures)) in by_name {
        let base = |architecture| Arithmetic::mma(architecture, instruction, instruction.acc);
        let runs = |turn: fn(Arithmetic) -> Arithmetic| {
            architectures.iter().map(|&a| turn(base(Some(a)))).collect::<Vec<_>>()
        };
        for (turn, what) in
            [((|a| a) as fn(Arithmetic) -> Arithmetic, "from zero"), (Arithmetic::from_c, "from C")]
        {
            list.push(Declared {
                name: format!("unknown {name} {what}"),
                arithmetic: turn(base(None)),
                input: instruction.input,
                runs: runs(turn),
            });
        }
    }
    list
}

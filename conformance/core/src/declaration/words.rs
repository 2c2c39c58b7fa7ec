//! A declared arithmetic in the words of a declaration, and what they mean.

use sparse_oracle::arithmetic::{
    Along, Arithmetic, Combine, Epilogue, Init, Input, Order, Pads, Part, Reduction,
};

/// How terms become a sum, called as in a declaration.
#[must_use]
pub fn reduction_name(reduction: Reduction) -> String {
    match reduction {
        Reduction::FmaChain => "fma".to_owned(),
        Reduction::MulAddChain => "muladd".to_owned(),
        Reduction::Any => "any".to_owned(),
        Reduction::Cpu(unit) => unit.to_string(),
        Reduction::Mma { architecture, instruction } => {
            let device = architecture.map_or("an unknown device", |a| a.name());
            format!("{instruction} on {device}")
        }
    }
}

/// An arithmetic's first part, and what holds for both, in the words of a declaration, and what they mean.
#[must_use]
pub fn in_words(arithmetic: &Arithmetic) -> String {
    let part = arithmetic.part();
    let start = match part.init {
        Init::Zero => "starts from 0",
        Init::C => "from-c (starts from beta * c)",
    };
    let epilogue = match arithmetic.epilogue {
        Epilogue::MulThenFma => "then fma(beta, c, alpha * sum)",
        Epilogue::MulThenAdd => "then alpha * sum + beta * c",
        Epilogue::AlphaIntoA => "fold-alpha (alpha goes into A)",
        Epilogue::AlphaIntoB => "fold-alpha-b (alpha goes into B)",
        Epilogue::None => "not scaled",
    };
    let pads = match part.pads {
        Pads::Skipped => "no-pads (pads are skipped)",
        Pads::Multiplied => "pads are multiplied",
    };
    let flush = match (arithmetic.flush.inputs.is_some(), arithmetic.flush.results) {
        (false, false) => "",
        (true, false) => ", flush-inputs (subnormal operands may be zero)",
        (false, true) => ", flush-outputs (subnormal results may be zero)",
        (true, true) => ", flush (subnormal operands and results may be zero)",
    };
    let (sum, input) = (sum_in_words(part), input_in_words(part));
    format!("{sum}, accumulates in {}, {start}, {input}, {epilogue}, {pads}{flush}", part.acc)
}

/// What the second part of a hybrid does otherwise than the first, and how their sums become one.
#[must_use]
pub fn rest_in_words(arithmetic: &Arithmetic) -> Option<String> {
    let rest = arithmetic.parts.second()?;
    let combine = match arithmetic.combine {
        Combine::Disjoint => "every element is of one part",
        Combine::Ordered => "the two sums are added",
        Combine::Free => "the two sums are added in any order",
    };
    Some(format!("{}, {}; {combine}", sum_in_words(rest), input_in_words(rest)))
}

fn sum_in_words(part: &Part) -> String {
    let along = match part.along {
        Along::Chain => "one chain along k".to_owned(),
        Along::SplitK { parts } => format!("split-k={parts}"),
        Along::TwoPass { blocks } => format!("two-pass={blocks}"),
        Along::ThreePass { blocks, segments } => format!("three-pass={blocks}x{segments}"),
    };
    let order = match part.order {
        Order::Ascending => "in ascending order",
        Order::Free => "in any order",
    };
    format!("{}, {along}, {order}", reduction_name(part.reduction))
}

fn input_in_words(part: &Part) -> &'static str {
    match part.input {
        Input::AsStored => "inputs as stored",
        Input::Tf32Rna => "rna (inputs rounded to tf32, ties away from zero)",
        Input::Tf32Rne => "rne (inputs rounded to tf32, ties to even)",
        Input::Tf32Truncate => "inputs cut to tf32",
    }
}

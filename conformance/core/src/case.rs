//! A case: contract + source + values + parameters, as one line that replays it.
//!
//! ```text
//! spmm.csr.f32_f32_f32_f32/rmat:scale=8,seed=7/values=wide,3/n=33/beta=1/ldc=+2
//! contract                 source              family,seed   every parameter that is not the default
//! ```
//!
//! The line is the identity of a case: two that were read from lines are the same exactly when they print the same line. Its grammar is
//! version 1; a change of meaning needs a new prefix.

use crate::after::After;
use crate::encodings::Encoding;
use crate::kept::Kept;
use crate::keys;
use crate::origin::Origin;
use crate::placed::LINE;
use crate::right::Right;
use sparse_oracle::contract::{Contract, Op, Returned};
use sparse_oracle::format::{FormatParams, Layout};
use sparse_oracle::scalar::{Precision, decimal, nearest_in};
use sparse_oracle::source::values::ValueFamily;
use sparse_oracle::task::SddmmMode;
use std::collections::HashSet;
use std::fmt;
use std::str::FromStr;

/// Where the values of the sparse operand come from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Filling {
    /// Drawn from a family with a seed.
    Drawn(ValueFamily, u64),
    /// The file's own values, rounded to the element type; dense operands are drawn near one with this seed.
    Own(u64),
}

/// A request that must be refused, instead of a legal one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// alpha is NaN.
    AlphaNan,
    /// beta is infinite.
    BetaInfinite,
    /// B (x, Y) has one row more than op(A) has columns.
    InnerShape,
    /// The output is one element short.
    ShortOutput,
    /// ldc is one less than the row it must hold.
    SmallLdc,
}

impl Fault {
    /// All faults with their names.
    pub const ALL: [(Fault, &str); 5] = [
        (Fault::AlphaNan, "alpha-nan"),
        (Fault::BetaInfinite, "beta-inf"),
        (Fault::InnerShape, "inner-shape"),
        (Fault::ShortOutput, "short-output"),
        (Fault::SmallLdc, "small-ldc"),
    ];

    /// Machine name.
    #[must_use]
    pub fn name(self) -> &'static str {
        Fault::ALL.iter().find(|f| f.0 == self).map_or("?", |f| f.1)
    }

    /// True when the operation has the part that this breaks.
    #[must_use]
    pub fn concerns(self, op: Op) -> bool {
        match self {
            Fault::AlphaNan => op.is_dense(),
            Fault::BetaInfinite => op.updates(),
            Fault::InnerShape => !op.is_exact(),
            Fault::ShortOutput => op.is_dense(),
            Fault::SmallLdc => op.signature().returned == Returned::Matrix,
        }
    }
}

/// Everything about a case besides contract, source and values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    /// Columns of B and C (SpMM, SpGEMM) or inner dimension (SDDMM).
    pub n: usize,
    /// Factor of the product.
    pub alpha: f64,
    /// Factor of C.
    pub beta: f64,
    /// Use the transpose of the sparse operand.
    pub transpose_a: bool,
    /// Use the transpose of B.
    pub transpose_b: bool,
    /// Layout of B (X and Y of SDDMM).
    pub layout_b: Layout,
    /// Layout of C.
    pub layout_c: Layout,
    /// Elements that ldb exceeds its minimum by.
    pub pad_b: usize,
    /// Elements that ldc exceeds its minimum by.
    pub pad_c: usize,
    /// SDDMM: layout of Y, where it is another than that of X.
    pub layout_y: Option<Layout>,
    /// SDDMM: elements that the leading dimension of Y exceeds its minimum by, where they are others than those of X.
    pub pad_y: Option<usize>,
    /// Parameters of the formats.
    pub blocks: FormatParams,
    /// SDDMM's use of the values of S.
    pub mode: SddmmMode,
    /// COO: shuffled, with about one entry in four split into duplicates.
    pub duplicates: bool,
    /// Leave the matrix as it is where the format holds N:M patterns only: then it must be refused, unless it fits.
    pub unpruned: bool,
    /// Which valid encoding the sparse operand has.
    pub encoding: Encoding,
    /// Which positions B of an SpGEMM stores.
    pub right: Right,
    /// Break the request in this way.
    pub fault: Option<Fault>,
    /// Dense operands and outputs start so many elements past a multiple of 64 bytes.
    pub align: usize,
    /// Calls that come before the judged one.
    pub after: Option<After>,
    /// Which of them are made, by number from 0; all where it is not given.
    pub kept_calls: Option<Kept>,
    /// Drawn values of B (x; X and Y of an SDDMM) that stay; all where it is not given.
    pub kept_b: Option<Kept>,
    /// Those of C (y).
    pub kept_c: Option<Kept>,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            n: 8,
            alpha: 1.0,
            beta: 0.0,
            transpose_a: false,
            transpose_b: false,
            layout_b: Layout::RowMajor,
            layout_c: Layout::RowMajor,
            pad_b: 0,
            pad_c: 0,
            layout_y: None,
            pad_y: None,
            blocks: FormatParams::default(),
            mode: SddmmMode::Pattern,
            duplicates: false,
            unpruned: false,
            encoding: Encoding::Canonical,
            right: Right::Thin,
            fault: None,
            align: 0,
            after: None,
            kept_calls: None,
            kept_b: None,
            kept_c: None,
        }
    }
}

impl Params {
    /// Layout of Y of an SDDMM.
    #[must_use]
    pub fn y_layout(&self) -> Layout {
        self.layout_y.unwrap_or(self.layout_b)
    }

    /// Elements that the leading dimension of Y of an SDDMM exceeds its minimum by.
    #[must_use]
    pub fn y_pad(&self) -> usize {
        self.pad_y.unwrap_or(self.pad_b)
    }
}

/// One thing to run and judge.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// What must be computed.
    pub contract: Contract,
    /// The sparse operand's pattern.
    pub origin: Origin,
    /// Its values, and those of the dense operands.
    pub filling: Filling,
    /// The rest.
    pub params: Params,
}

/// A case line that does not parse.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CaseError {
    /// There are fewer than three segments.
    #[error(
        "case line {0:?} has fewer than three parts: contract/source/values=..., as in \
         spmm.csr.f32_f32_f32_f32/dense:rows=5,cols=4/values=small-int,1"
    )]
    Short(String),
    /// The contract is not in the table.
    #[error("unknown contract {0:?}; `conformance list contracts` prints them all")]
    Contract(String),
    /// The source is wrong.
    #[error(transparent)]
    Origin(#[from] crate::origin::OriginError),
    /// A parameter is wrong.
    #[error("part {part:?} of the case line: {reason}")]
    Param {
        /// The segment.
        part: String,
        /// What is wrong with it.
        reason: String,
    },
}

/// Largest n, pad and block extent that a case line may ask for: a line must not allocate without bound.
const MAX_EXTENT: usize = 1 << 16;

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/values=", self.contract, self.origin)?;
        match self.filling {
            Filling::Drawn(family, seed) => write!(f, "{},{seed}", family.name())?,
            Filling::Own(seed) => write!(f, "own,{seed}")?,
        }
        let (p, default) = (&self.params, Params::default());
        // What the contract does not read is no part of the case: the parser takes none of it.
        let mut part = |key: &str, value: fmt::Arguments<'_>| {
            if keys::is_read(key, &self.contract) { write!(f, "/{key}{value}") } else { Ok(()) }
        };
        if p.n != default.n {
            part("n", format_args!("={}", p.n))?;
        }
        // By bits: -0 is another request than 0.
        if p.alpha.to_bits() != default.alpha.to_bits() {
            part("alpha", format_args!("={}", decimal(p.alpha, Precision::F64)))?;
        }
        if p.beta.to_bits() != default.beta.to_bits() {
            part("beta", format_args!("={}", decimal(p.beta, Precision::F64)))?;
        }
        for (on, key, value) in [
            (p.transpose_a, "ta", ""),
            (p.transpose_b, "tb", ""),
            (p.layout_b == Layout::ColMajor, "lb", "=col"),
            (p.layout_c == Layout::ColMajor, "lc", "=col"),
            (p.duplicates, "dups", ""),
        ] {
            if on {
                part(key, format_args!("{value}"))?;
            }
        }
        if p.pad_b != 0 {
            part("ldb", format_args!("=+{}", p.pad_b))?;
        }
        if p.pad_c != 0 {
            part("ldc", format_args!("=+{}", p.pad_c))?;
        }
        match p.layout_y {
            None => {}
            Some(Layout::RowMajor) => part("ly", format_args!("=row"))?,
            Some(Layout::ColMajor) => part("ly", format_args!("=col"))?,
        }
        if let Some(pad) = p.pad_y {
            part("ldy", format_args!("=+{pad}"))?;
        }
        let blocks = |f: &FormatParams| (f.block_rows, f.block_cols);
        if blocks(&p.blocks) != blocks(&default.blocks) {
            part("block", format_args!("={}x{}", p.blocks.block_rows, p.blocks.block_cols))?;
        }
        for parameter in keys::parameters() {
            match (parameter.get)(&p.blocks) {
                Some(value) if Some(value) != (parameter.get)(&default.blocks) => {
                    part(parameter.name, format_args!("={value}"))?;
                }
                _ => {}
            }
        }
        if p.unpruned {
            part("unpruned", format_args!(""))?;
        }
        if p.encoding == Encoding::Loose {
            part("enc", format_args!("=loose"))?;
        }
        if p.right != default.right {
            part("b", format_args!("={}", p.right.name()))?;
        }
        match p.mode {
            SddmmMode::Pattern => {}
            mode => part("mode", format_args!("={}", mode.name()))?,
        }
        if let Some(fault) = p.fault {
            part("fault", format_args!("={}", fault.name()))?;
        }
        if p.align != default.align {
            part("align", format_args!("={}", p.align))?;
        }
        if let Some(after) = p.after {
            part("after", format_args!("={}", after.name()))?;
        }
        if let Some(kept) = p.kept_calls {
            part("calls", format_args!("={kept}"))?;
        }
        if let Some(kept) = p.kept_b {
            part("vb", format_args!("={kept}"))?;
        }
        if let Some(kept) = p.kept_c {
            part("vc", format_args!("={kept}"))?;
        }
        Ok(())
    }
}

impl FromStr for Case {
    type Err = CaseError;

    fn from_str(line: &str) -> Result<Case, CaseError> {
        let short = || CaseError::Short(line.to_owned());
        let (contract, rest) = line.split_once('/').ok_or_else(short)?;
        // A file's path may hold slashes and brackets: it runs to the last bracket, since no parameter has any.
        let (origin, rest) = match rest.strip_prefix("file:[").and_then(|r| r.rfind("]/")) {
            Some(end) => rest.split_at("file:[".len() + end + 1),
            None => rest.split_at(rest.find('/').ok_or_else(short)?),
        };
        let contract =
            Contract::from_name(contract).ok_or_else(|| CaseError::Contract(contract.to_owned()))?;
        let mut parts = rest.strip_prefix('/').ok_or_else(short)?.split('/');
        let filling = parse_filling(parts.next().ok_or_else(short)?)?;
        let mut params = Params::default();
        let mut seen = HashSet::new();
        for part in parts {
            if !seen.insert(keys::name_of(part)) {
                return Err(bad(part, "given twice"));
            }
            parse_param(part, &contract, &mut params)?;
        }
        check_factors(&contract, &params)?;
        check_kept(&params)?;
        if let (Some(_), Some(after)) = (params.fault, params.after) {
            let reason = "the calls of a sequence are legal; without fault=";
            return Err(bad(&format!("after={}", after.name()), reason));
        }
        if let Some(fault) = params.fault.filter(|f| !f.concerns(contract.op)) {
            let reason = format!("{} has no such part to break", contract.op.name());
            return Err(bad(&format!("fault={}", fault.name()), reason));
        }
        Ok(Case { contract, origin: origin.parse()?, filling, params })
    }
}

/// alpha and beta are handed over as numbers of the accumulator's type, so they must be some.
fn check_factors(contract: &Contract, params: &Params) -> Result<(), CaseError> {
    let acc = contract.types.acc;
    for (name, value) in [("alpha", params.alpha), ("beta", params.beta)] {
        if !contract.op.is_exact() && nearest_in(value, acc) != value {
            return Err(bad(
                &format!("{name}={}", decimal(value, Precision::F64)),
                format!(
                    "not a number of the accumulator's type, {acc}; the nearest is {}",
                    decimal(nearest_in(value, acc), Precision::F64)
                ),
            ));
        }
    }
    Ok(())
}

/// Calls and values are kept of a case that has some.
fn check_kept(params: &Params) -> Result<(), CaseError> {
    if params.kept_calls.is_some() && params.after.is_none() {
        return Err(bad("calls", "without after= there are no calls before"));
    }
    if params.kept_b.is_some() && params.right == Right::Same {
        return Err(bad("vb", "with b=same, B is A"));
    }
    if params.kept_c.is_some() && params.beta == 0.0 {
        return Err(bad("vc", "beta = 0 does not read C"));
    }
    Ok(())
}

fn bad(part: &str, reason: impl Into<String>) -> CaseError {
    CaseError::Param { part: part.to_owned(), reason: reason.into() }
}

fn parse_filling(part: &str) -> Result<Filling, CaseError> {
    let text = part.strip_prefix("values=").ok_or_else(|| bad(part, "expected values=FAMILY,SEED"))?;
    let (family, seed) = text.split_once(',').ok_or_else(|| bad(part, "expected values=FAMILY,SEED"))?;
    let seed = seed
        .parse()
        .map_err(|_| bad(part, format!("the seed is {seed:?}, must be a whole number below 2^64")))?;
    if family == "own" {
        return Ok(Filling::Own(seed));
    }
    let family = ValueFamily::from_name(family).ok_or_else(|| bad(part, "unknown value family"))?;
    Ok(Filling::Drawn(family, seed))
}

fn parse_param(part: &str, contract: &Contract, p: &mut Params) -> Result<(), CaseError> {
    let extent = |text: &str| -> Result<usize, CaseError> {
        let value: usize = text.parse().map_err(|_| wrong(part))?;
        if value > MAX_EXTENT { Err(bad(part, format!("at most {MAX_EXTENT}"))) } else { Ok(value) }
    };
    let kept = |text: &str| text.parse::<Kept>().map_err(|e| bad(part, e));
    let number = |text: &str| -> Result<f64, CaseError> {
        let value: f64 = text.parse().map_err(|_| wrong(part))?;
        // NaN and infinite factors must be refused by backends, which is what fault=alpha-nan asks for.
        if value.is_finite() {
            Ok(value)
        } else {
            Err(bad(part, "must be finite; see fault=alpha-nan, beta-inf"))
        }
    };
    // What is in no table is documented nowhere.
    let name = keys::name_of(part);
    if !keys::is_read(name, contract) {
        return Err(bad(part, keys::why_refused(name)));
    }
    match part.split_once('=').unwrap_or((part, "")) {
        ("n", v) => p.n = extent(v)?,
        ("alpha", v) => p.alpha = number(v)?,
        ("beta", v) => p.beta = number(v)?,
        ("ta", "") => p.transpose_a = true,
        ("tb", "") => p.transpose_b = true,
        ("dups", "") => p.duplicates = true,
        ("unpruned", "") => p.unpruned = true,
        ("lb", "col") => p.layout_b = Layout::ColMajor,
        ("lc", "col") => p.layout_c = Layout::ColMajor,
        ("ldb", v) => p.pad_b = extent(v)?,
        ("ldc", v) => p.pad_c = extent(v)?,
        ("ly", "row") => p.layout_y = Some(Layout::RowMajor),
        ("ly", "col") => p.layout_y = Some(Layout::ColMajor),
        ("ldy", v) => p.pad_y = Some(extent(v)?),
        ("block", v) => {
            let (rows, cols) = v.split_once('x').ok_or_else(|| wrong(part))?;
            let (block_rows, block_cols) = (extent(rows)? as u32, extent(cols)? as u32);
            if block_rows == 0 || block_cols == 0 {
                return Err(bad(part, "a block has at least one row and column"));
            }
            (p.blocks.block_rows, p.blocks.block_cols) = (block_rows, block_cols);
        }
        ("mode", v) => {
            let mode = SddmmMode::from_name(v).filter(|mode| *mode != SddmmMode::Pattern);
            p.mode = mode.ok_or_else(|| wrong(part))?;
        }
        ("enc", "loose") => p.encoding = Encoding::Loose,
        ("b", v) => p.right = Right::from_name(v).ok_or_else(|| wrong(part))?,
        ("fault", v) => {
            let fault = Fault::ALL.iter().find(|f| f.1 == v);
            p.fault = Some(fault.ok_or_else(|| wrong(part))?.0);
        }
        ("align", v) => {
            p.align = extent(v)?;
            if p.align >= LINE {
                return Err(bad(part, "fewer elements than a line of 64 bytes has bytes"));
            }
        }
        ("after", v) => {
            let after = After::ALL.iter().find(|a| a.name() == v);
            p.after = Some(*after.ok_or_else(|| wrong(part))?);
        }
        ("calls", v) => p.kept_calls = Some(kept(v)?),
        ("vb", v) => p.kept_b = Some(kept(v)?),
        ("vc", v) => p.kept_c = Some(kept(v)?),
        (name, v) => {
            let parameter = keys::parameters().find(|parameter| parameter.name == name);
            let parameter = parameter.ok_or_else(|| wrong(part))?;
            let value = v.parse().map_err(|_| wrong(part))?;
            if !parameter.assign(&mut p.blocks, value) {
                return Err(bad(part, "must be 0 or 1"));
            }
        }
    }
    Ok(())
}

/// A known key with a value that it does not take.
fn wrong(part: &str) -> CaseError {
    bad(part, keys::expected(keys::name_of(part)))
}

impl Case {
    /// True when C is read: the output then starts from values, not poison.
    #[must_use]
    pub fn reads_c(&self) -> bool {
        self.params.beta != 0.0 && self.contract.op.updates()
    }
}

//! The case line: it prints and parses back to the same case, says what is wrong with a bad one, and never panics.

use proptest::prelude::*;
use sparse_conformance::case::{Case, CaseError, Fault, Filling, Params};
use sparse_conformance::encodings::Encoding;
use sparse_conformance::kept::Kept;
use sparse_conformance::keys;
use sparse_conformance::operands::{OperandError, build};
use sparse_conformance::origin::{Origin, OriginError};
use sparse_conformance::right::Right;
use sparse_conformance::sequence::After;
use sparse_oracle::contract::{Contract, all_contracts};
use sparse_oracle::format::{FormatParams, Layout, PARAMETERS};
use sparse_oracle::scalar::{Rounding, decode, encode};
use sparse_oracle::source::embedded;
use sparse_oracle::source::generator::quick_specs;
use sparse_oracle::source::values::VALUE_FAMILIES;
use sparse_oracle::task::SddmmMode;
use std::path::PathBuf;

fn origins() -> impl Strategy<Value = Origin> {
    let specs = any::<u64>().prop_map(|index| quick_specs(index)[(index % 7) as usize]);
    let every = (any::<u64>(), any::<prop::sample::Index>())
        .prop_map(|(index, which)| quick_specs(index)[which.index(quick_specs(0).len())]);
    let names: Vec<String> = embedded::all().iter().map(|m| m.name.to_owned()).collect();
    prop_oneof![
        specs.prop_map(Origin::Spec),
        every.prop_map(Origin::Spec),
        prop::sample::select(names).prop_map(Origin::Embedded),
        // Slashes, brackets, blanks, equals signs, things that look like the rest of a line.
        r"[a-zA-Z0-9_./\[\]=, +-]{0,24}(\]/)?[a-z/\[\]]{0,8}".prop_map(|p| Origin::File(PathBuf::from(p))),
        Just(Origin::File(PathBuf::from("/data/[old]/x=1/n=3/y.mtx.gz"))),
        Just(Origin::File(PathBuf::from("ünï/矩阵.mtx"))),
    ]
}

fn fillings() -> impl Strategy<Value = Filling> {
    let family = prop::sample::select(VALUE_FAMILIES.map(|info| info.family).to_vec());
    prop_oneof![
        (family, any::<u64>()).prop_map(|(family, seed)| Filling::Drawn(family, seed)),
        any::<u64>().prop_map(Filling::Own)
    ]
}

fn layouts() -> impl Strategy<Value = Layout> {
    prop_oneof![Just(Layout::RowMajor), Just(Layout::ColMajor)]
}

fn params() -> impl Strategy<Value = Params> {
    let finite = || any::<f64>().prop_filter("finite", |v| v.is_finite());
    let factor = || prop_oneof![Just(0.0), Just(1.0), Just(-1.0), Just(0.5), finite()];
    let flags = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>(), layouts(), layouts());
    let sizes = (0..=65536usize, 0..=65536usize, 0..=65536usize, 1..=65536u32, 1..=65536u32, 0..64usize);
    let after = prop::option::of(prop::sample::select(After::ALL.to_vec()));
    let mode = prop::sample::select(vec![SddmmMode::Pattern, SddmmMode::Scale, SddmmMode::AddS]);
    let fault = prop::option::of(prop::sample::select(Fault::ALL.map(|f| f.0).to_vec()));
    let named = prop::collection::vec(prop::option::weighted(0.2, any::<u32>()), PARAMETERS.len());
    (flags, sizes, named, factor(), factor(), mode, (fault, after)).prop_map(
        |(flags, sizes, named, alpha, beta, mode, (fault, after))| {
            let (transpose_a, transpose_b, duplicates, unpruned, layout_b, layout_c) = flags;
            let (n, pad_b, pad_c, block_rows, block_cols, align) = sizes;
            let mut blocks = FormatParams::blocks(block_rows, block_cols);
            for (parameter, value) in PARAMETERS.iter().skip(2).zip(named) {
                if let Some(value) = value {
                    (parameter.set)(&mut blocks, value);
                }
            }
            Params {
                n,
                alpha,
                beta,
                transpose_a,
                transpose_b,
                layout_b,
                layout_c,
                pad_b,
                pad_c,
                blocks,
                mode,
                duplicates,
                unpruned,
                layout_y: (pad_c % 3 == 1).then_some(layout_c),
                pad_y: (pad_c % 2 == 1).then_some(pad_c),
                encoding: if pad_b % 2 == 0 { Encoding::Canonical } else { Encoding::Loose },
                right: Right::ALL[n % Right::ALL.len()].0,
                fault,
                align,
                after: after.filter(|_| fault.is_none()),
                kept_calls: kept(pad_b, n).filter(|_| after.is_some() && fault.is_none()),
                kept_b: kept(n, pad_b),
                kept_c: kept(pad_c, n),
            }
        },
    )
}

/// None, no element, or some in a row.
fn kept(start: usize, seed: usize) -> Option<Kept> {
    match seed % 3 {
        0 => None,
        1 => Some(Kept::new(0, 0)),
        // One element, too.
        _ => Some(Kept::new(start, start + 1 + seed / 3)),
    }
}

/// Any legal case: factors are rounded to the accumulator's type, a fault concerns the operation, and what the contract does not read is
/// not there.
fn cases() -> impl Strategy<Value = Case> {
    let contracts = prop::sample::select(all_contracts().to_vec());
    (contracts, origins(), fillings(), params()).prop_map(|(contract, origin, filling, mut params)| {
        let acc = contract.types.acc;
        let held =
            |v: f64| Some(decode(encode(v, acc, Rounding::NearestEven), acc)).filter(|v| v.is_finite());
        params.alpha = held(params.alpha).unwrap_or(2.0);
        params.beta = held(params.beta).unwrap_or(2.0);
        params.fault = params.fault.filter(|f| f.concerns(contract.op));
        unless_read("n", &contract, |default| params.n = default.n);
        unless_read("alpha", &contract, |default| params.alpha = default.alpha);
        unless_read("beta", &contract, |default| params.beta = default.beta);
        unless_read("ta", &contract, |default| params.transpose_a = default.transpose_a);
        unless_read("tb", &contract, |default| params.transpose_b = default.transpose_b);
        unless_read("lb", &contract, |default| params.layout_b = default.layout_b);
        unless_read("lc", &contract, |default| params.layout_c = default.layout_c);
        unless_read("dups", &contract, |default| params.duplicates = default.duplicates);
        unless_read("ldb", &contract, |default| params.pad_b = default.pad_b);
        unless_read("ldc", &contract, |default| params.pad_c = default.pad_c);
        unless_read("ly", &contract, |default| params.layout_y = default.layout_y);
        unless_read("ldy", &contract, |default| params.pad_y = default.pad_y);
        unless_read("unpruned", &contract, |default| params.unpruned = default.unpruned);
        unless_read("mode", &contract, |default| params.mode = default.mode);
        unless_read("enc", &contract, |default| params.encoding = default.encoding);
        unless_read("b", &contract, |default| params.right = default.right);
        unless_read("align", &contract, |default| params.align = default.align);
        unless_read("vb", &contract, |default| params.kept_b = default.kept_b);
        unless_read("vc", &contract, |default| params.kept_c = default.kept_c);
        params.blocks = read_by(&contract, &params.blocks);
        if params.right == Right::Same {
            params.kept_b = None;
        }
        if params.beta == 0.0 {
            params.kept_c = None;
        }
        Case { contract, origin, filling, params }
    })
}

fn unless_read(name: &str, contract: &Contract, reset: impl FnOnce(Params)) {
    if !keys::is_read(name, contract) {
        reset(Params::default());
    }
}

/// The parameters that a format of the contract reads.
fn read_by(contract: &Contract, all: &FormatParams) -> FormatParams {
    let mut kept = FormatParams::DEFAULT;
    for parameter in PARAMETERS.iter().filter(|p| contract.reads(p)) {
        if let Some(value) = (parameter.get)(all) {
            (parameter.set)(&mut kept, value);
        }
    }
    kept
}

/// One edit of a line: a character deleted, inserted, replaced, or a part repeated.
fn mutated(mut line: Vec<char>, edits: &[(prop::sample::Index, u8, char)]) -> String {
    for (place, kind, c) in edits {
        let at = place.index(line.len().max(1)).min(line.len());
        match kind % 4 {
            0 if !line.is_empty() => drop(line.remove(at.min(line.len() - 1))),
            1 => line.insert(at, *c),
            2 if at < line.len() => line[at] = *c,
            _ => line.extend_from_within(at..),
        }
        line.truncate(4096);
    }
    line.into_iter().collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_case_prints_and_parses_back(case in cases()) {
        let line = case.to_string();
        let parsed: Case = line.parse().map_err(|e| TestCaseError::fail(format!("{line}: {e}")))?;
        prop_assert_eq!(&parsed, &case, "{}", line);
        prop_assert_eq!(parsed.to_string(), line);
        prop_assert_eq!(case.origin.to_string().parse::<Origin>().expect("an origin prints"), case.origin);
    }

    #[test]
    fn arbitrary_text_never_panics(text in ".{0,200}") {
        if let Ok(case) = text.parse::<Case>() {
            prop_assert!(case.to_string().parse::<Case>().is_ok());
        }
        let _ = text.parse::<Origin>();
    }

    /// What a damaged line still says, if anything, it says again when printed; its operands are made or refused.
    #[test]
    fn damaged_lines_never_panic(
        case in cases(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), prop::sample::select(
            "0123456789/=,:x+-.[]eEnaNif ".chars().collect::<Vec<_>>())), 1..6),
    ) {
        let line = mutated(case.to_string().chars().collect(), &edits);
        if let Ok(case) = line.parse::<Case>() {
            prop_assert_eq!(case.to_string().parse::<Case>().expect("prints back"), case);
        }
    }
}

const CONTRACT: &str = "spmm.csr.f32_f32_f32_f32";
const START: &str = "spmm.csr.f32_f32_f32_f32/uniform:seed=1/values=ones,1";

fn error(line: &str) -> CaseError {
    line.parse::<Case>().expect_err(line)
}

#[test]
fn a_line_that_is_too_short_says_so() {
    for line in ["", "spmm", CONTRACT, &format!("{CONTRACT}/"), &format!("{CONTRACT}/uniform:seed=1")] {
        let e = error(line);
        assert!(matches!(&e, CaseError::Short(text) if text == line), "{line:?}: {e}");
        assert!(e.to_string().contains("contract/source/values"), "{e}");
    }
}

#[test]
fn an_unknown_contract_is_named() {
    for name in [
        "",
        "spmm",
        "spmm.csr",
        "SPMM.csr.f32_f32_f32_f32",
        "spmm.csr.f32_f32_f32_f16",
        "spmm.dia.f64_f64_f64_f64",
    ] {
        let e = error(&format!("{name}/uniform:seed=1/values=ones,1"));
        assert!(matches!(&e, CaseError::Contract(text) if text == name), "{name:?}: {e}");
    }
}

#[test]
fn a_bad_source_is_named_with_its_reason() {
    for source in [
        "",
        "nonsense:seed=1",
        "uniform:rows=-1,seed=1",
        "uniform:rows=x",
        "uniform:speed=3",
        "file:[x.mtx",
        "synth:nosuch,seed=0",
    ] {
        let e = error(&format!("{CONTRACT}/{source}/values=ones,1"));
        let CaseError::Origin(OriginError::Spec { text, reason }) = &e else { panic!("{source:?}: {e:?}") };
        assert_eq!(text, source);
        assert!(!reason.is_empty());
    }
}

#[test]
fn an_unknown_embedded_matrix_is_refused_when_loaded() {
    let case: Case =
        format!("{CONTRACT}/embedded:nosuch/values=ones,1").parse().expect("the name is checked later");
    let e = case.origin.load().expect_err("there is no such matrix");
    assert!(e.to_string().contains("nosuch"), "{e}");
}

#[test]
fn a_bad_parameter_is_named_with_its_reason() {
    for (part, reason) in [
        ("n=", "expected columns"),
        ("n=x", "expected columns"),
        ("n=-1", "expected columns, 0 to 65536; without n: 8"),
        ("n=1.5", "expected columns"),
        ("n=++5", "expected columns"),
        ("n=65537", "at most 65536"),
        ("n=1000000000000000000", "at most 65536"),
        ("n=99999999999999999999999", "expected columns, 0 to 65536"),
        ("ldb=+65537", "at most"),
        ("ldc=+1000000000000000000", "at most"),
        ("alpha=", "a number"),
        ("alpha=one", "a number"),
        ("alpha=NaN", "finite"),
        ("alpha=inf", "finite"),
        ("alpha=1e999", "finite"),
        ("beta=-inf", "finite"),
        ("alpha=0.1", "f32"),
        ("beta=1e300", "f32"),
        ("block=4", "rows x columns"),
        ("block=0x4", "at least one"),
        ("block=4x0", "at least one"),
        ("block=4x4x4", "rows x columns"),
        ("block=1000000000000000000x1", "at most"),
        ("mode=other", "`scale` or `add-s`"),
        ("mode", "`scale` or `add-s`"),
        ("fault=other", "expected `alpha-nan`, `beta-inf`,"),
        ("fault=", "expected `alpha-nan`, `beta-inf`,"),
        ("align=", "elements, 0 to 63"),
        ("align=64", "fewer"),
        ("after=", "expected `contents`, `extents`, `freed`"),
        ("after=twice", "`many`, `myriad` or `other`"),
        ("vb=", "expected none"),
        ("vb=7-5", "the first and the last"),
        ("vc=5-", "expected none"),
        ("vc=4294967296", "expected none"),
        ("lb=row", "expected `col`; without lb: row-major"),
        ("ta=1", "ta stands alone"),
        ("dups=yes", "dups stands alone"),
        ("", "unknown parameter"),
        ("hello", "unknown parameter"),
        ("n=3=4", "columns"),
    ] {
        let reader = match part.split('=').next() {
            Some("block") => "spmm.bcsr.f32_f32_f32_f32",
            Some("dups") => "spmm.coo.f32_f32_f32_f32",
            Some("mode") => "sddmm.csr.f32_f32_f32_f32",
            _ => CONTRACT,
        };
        let e = error(&format!("{reader}/uniform:seed=1/values=ones,1/{part}"));
        let CaseError::Param { part: found, reason: why } = &e else { panic!("{part}: {e:?}") };
        let same_number = found.split('=').next() == part.split('=').next();
        assert!(found == part || same_number && why.contains("accumulator"), "{part}: {e}");
        assert!(why.contains(reason), "{part}: {e}");
    }
}

/// A reader of a clone met these: a flag of 2 meant 1, and what no format reads was dropped, so that the line that was printed
/// was not the line that was asked for. Another met keys that an operation does not have: they stood in the line and meant nothing.
#[test]
fn parameters_that_mean_nothing_are_refused() {
    let line = |contract: &str, part: &str| format!("{contract}/embedded:karate/values=ones,1/{part}");
    for (contract, part, reason) in [
        ("convert.csr.libra_spmm.f32", "fill=2", "0 or 1"),
        ("convert.csr.bit_tcf.f32", "balanced=7", "0 or 1"),
        ("convert.csr.two_four.f16", "short_k=3", "0 or 1"),
        ("convert.csr.rs_tile.f32", "as_printed=9", "0 or 1"),
        ("convert.csr.loops.f32", "kb=8", "no format of this contract"),
        ("transpose.csr.f32", "br=1", "no format of this contract"),
        ("transpose.csr.f32", "vb=none", "nothing of this contract reads it"),
        ("spmm.csr.f32_f32_f32_f32", "calls=0", "no calls before"),
        ("sddmm.csr.f32_f32_f32_f32", "vc=3", "SpMM, SpMV with a beta other than 0"),
        ("spmm.csr.f32_f32_f32_f32", "mode=scale", "SDDMM: alpha X Y^T"),
        ("spmm.csr.f32_f32_f32_f32", "block=2x2", "BCSR, Blocked-ELL"),
        ("spmm.csr.f32_f32_f32_f32", "dups", "COO"),
        ("spmm.csr.f32_f32_f32_f32", "unpruned", "N:M formats"),
        ("spmv.csr.f32_f32_f32_f32", "n=3", "columns of B and C"),
        ("spgemm.csr.f32_f32_f32_f32", "alpha=2", "factor of the product"),
        ("sddmm.csr.f32_f32_f32_f32", "ldc=+1", "leading dimension of C"),
        ("spmv.csr.f32_f32_f32_f32", "vc=3", "beta = 0 does not read"),
        ("spgemm.csr.f32_f32_f32_f32", "b=same/vb=3", "B is A"),
    ] {
        let text = error(&line(contract, part)).to_string();
        assert!(text.contains(reason), "{part}: {text}");
    }
    for (contract, part) in [("convert.libra_spmm.csr.f32", "fill=1"), ("convert.csr.loops.f32", "br=0")] {
        let line = line(contract, part);
        let case: Case = line.parse().unwrap_or_else(|e| panic!("{line}: {e}"));
        assert_eq!(case.to_string(), line);
    }
}

/// What is not read is no part of a case: a line never says what its parser refuses, whoever made the case.
#[test]
fn what_is_not_read_is_not_printed() {
    let mut case: Case = "spmv.csr.f32_f32_f32_f32/embedded:karate/values=ones,1/ta".parse().expect("legal");
    let line = case.to_string();
    case.params = Params { n: 1, transpose_b: true, duplicates: true, mode: SddmmMode::Scale, ..case.params };
    assert_eq!(case.to_string(), line);
}

#[test]
fn bad_values_are_named() {
    for (part, reason) in [
        ("", "values=FAMILY,SEED"),
        ("n=3", "values=FAMILY,SEED"),
        ("values=ones", "values=FAMILY,SEED"),
        ("values=ones,", "seed"),
        ("values=ones,-1", "seed"),
        ("values=ones,18446744073709551616", "seed"),
        ("values=nosuch,1", "unknown value family"),
        ("values=,1", "unknown value family"),
    ] {
        let e = error(&format!("{CONTRACT}/uniform:seed=1/{part}"));
        assert!(
            matches!(&e, CaseError::Param { part: p, reason: r } if p == part && r.contains(reason)),
            "{part}: {e}"
        );
    }
}

/// Before: the last one won, so that two lines named one case.
#[test]
fn a_parameter_given_twice_is_refused() {
    for parts in
        ["n=3/n=4", "ta/ta", "alpha=2/n=3/alpha=2", "lb=col/lb=col", "fault=alpha-nan/fault=beta-inf"]
    {
        let e = error(&format!("{START}/{parts}"));
        assert!(matches!(&e, CaseError::Param { reason, .. } if reason == "given twice"), "{parts}: {e}");
    }
    assert!(matches!(error(&format!("{START}//n=3")), CaseError::Param { .. }));
    assert!(matches!(error(&format!("{CONTRACT}/uniform:seed=1//values=ones,1")), CaseError::Param { .. }));
}

/// A sequence is of legal calls, and an operation without a dense array has none to shift.
#[test]
fn state_must_concern_the_request() {
    let both = error(&format!("{START}/fault=alpha-nan/after=many")).to_string();
    assert!(both.contains("after=many") && both.contains("fault"), "{both}");
    let none = error("convert.csr.coo.f32/uniform:seed=1/values=ones,1/align=1").to_string();
    assert!(none.contains("align=1") && none.contains("nothing of this contract reads it"), "{none}");
    let plain: Case = format!("{START}/align=0").parse().expect("the default");
    assert_eq!(plain.to_string(), START);
}

/// Before: a conversion with fault=alpha-nan ran, ignored the fault, and blamed the backend for accepting it.
#[test]
fn a_fault_must_concern_the_operation() {
    for contract in all_contracts() {
        for (fault, name) in Fault::ALL {
            let line = format!("{contract}/uniform:seed=1/values=ones,1/fault={name}");
            match line.parse::<Case>() {
                Ok(case) => assert!(fault.concerns(case.contract.op), "{line}"),
                Err(e) => {
                    assert!(!fault.concerns(contract.op) && e.to_string().contains(name), "{line}: {e}");
                }
            }
        }
    }
}

/// Before: the path ended at its first "]/", and the rest of it was read as parameters.
#[test]
fn a_path_may_hold_brackets_and_parameters() {
    for path in ["a]/b.mtx", "]/", "]/n=3", "[x]/[y]/z.mtx", "", "]", "x/values=ones,1/y.mtx"] {
        let line = format!("{CONTRACT}/file:[{path}]/values=own,7/n=9");
        let case: Case = line.parse().unwrap_or_else(|e| panic!("{line}: {e}"));
        assert_eq!(case.origin, Origin::File(PathBuf::from(path)), "{line}");
        assert_eq!((case.filling, case.params.n), (Filling::Own(7), 9), "{line}");
        assert_eq!(case.to_string(), line);
    }
}

#[test]
fn parameters_come_in_any_order_and_print_in_one() {
    let given = format!("{START}/ldc=2/lc=col/tb/beta=1/alpha=2/n=3/ldb=+1/ta/lb=col");
    let case: Case = given.parse().expect("legal");
    assert_eq!(case.to_string(), format!("{START}/n=3/alpha=2/beta=1/ta/tb/lb=col/lc=col/ldb=+1/ldc=+2"));
    let defaults: Case = format!("{START}/n=8/alpha=1/beta=0/ldb=0").parse().expect("legal");
    assert_eq!(defaults.to_string(), START);
}

/// The largest legal numbers: each is made within bounds or refused with a typed error, at once.
#[test]
fn the_largest_lines_are_refused_before_memory_is_taken() {
    let big = "uniform:rows=4000000,cols=4000000,density=0,seed=1";
    let lines = [
        format!("spmm.csr.f64_f64_f64_f64/{big}/values=ones,1/n=65536"),
        format!("spmm.csr.f64_f64_f64_f64/{big}/values=ones,1/n=65536/tb/lb=col/ldb=+65536"),
        format!("spmm.csr.f64_f64_f64_f64/{big}/values=ones,1/n=1/ldc=+65536"),
        format!("spmm.csr.f64_f64_f64_f64/{big}/values=ones,1/n=0/ldc=+65536"),
        format!("sddmm.csr.f64_f64_f64_f64/{big}/values=ones,1/n=65536"),
        // A tall leading dimension counts once a column: before, only the row-major size was checked.
        "spmm.csr.f64_f64_f64_f64/uniform:rows=1,cols=1,seed=1/values=ones,1/n=65536/lc=col/ldc=+65536"
            .to_owned(),
        "spmm.bcsr.f64_f64_f64_f64/embedded:karate/values=ones,1/block=65536x65536".to_owned(),
        "spmm.blocked_ell.f64_f64_f64_f64/embedded:karate/values=ones,1/block=65536x65536".to_owned(),
    ];
    for line in lines {
        let case: Case = line.parse().unwrap_or_else(|e| panic!("{line}: {e}"));
        let Ok(loaded) = case.origin.load() else { panic!("{line}: the matrix itself is small") };
        match build(&case, &loaded) {
            Err(OperandError::TooLarge { elements, limit }) => assert!(elements > limit, "{line}"),
            Err(OperandError::Encode { format, .. }) => {
                assert_eq!(format, case.contract.format.name(), "{line}");
            }
            other => panic!("{line}: expected a refusal, got {:?}", other.map(|o| o.result)),
        }
    }
    let e = Origin::load(
        &"uniform:rows=4294967295,cols=4294967295,density=1,seed=1".parse().expect("legal text"),
    );
    assert!(e.is_err());
}

/// The contract is found by its printed name only.
#[test]
fn every_contract_begins_a_line() {
    for contract in all_contracts() {
        let case: Case = format!("{contract}/embedded:karate/values=own,0").parse().expect("legal");
        assert_eq!(Contract::from_name(&contract.to_string()), Some(case.contract));
    }
}

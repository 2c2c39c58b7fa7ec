//! Parameters that a format is not defined for must be refused, not put right.

use sparse_conformance::backend::{Backend, Failure, Portable, Support};
use sparse_conformance::case::{Case, Params};
use sparse_conformance::report::VerdictRecord;
use sparse_conformance::runner::run_case;
use sparse_oracle::contract::Contract;
use sparse_oracle::format::FormatParams;
use sparse_oracle::task::{Answer, Task};

/// Puts legal parameters in the place of illegal ones instead of refusing them.
struct Lenient;

impl Backend for Lenient {
    fn name(&self) -> &'static str {
        "lenient"
    }

    fn version(&self) -> String {
        "0".to_owned()
    }

    fn description(&self) -> &'static str {
        "takes every parameter"
    }

    fn support(&self, contract: &Contract, params: &Params) -> Support {
        Portable.support(contract, params)
    }

    fn run(&self, contract: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
        let task = match task {
            // All of a window is kept: any matrix has that pattern.
            Task::Convert { a, to, .. } => {
                Task::Convert { a, to, params: FormatParams { n: 4, ..FormatParams::default() } }
            }
            other => other,
        };
        Portable.run(contract, task)
    }
}

/// Illegal parameters that are too large were called a limit of the oracle, so that whoever took them passed; those of N:M ended
/// the case before anybody was asked.
#[test]
fn illegal_parameters_must_be_refused() {
    for (contract, parameter) in [
        ("convert.csr.libra_spmm.f32", "eta=129"),
        ("convert.csr.libra_spmm.f32", "eta=0"),
        ("convert.csr.libra_spmm.f32", "kb=5"),
        ("convert.csr.libra_sddmm.f32", "eta=129"),
        ("convert.csr.rp_csc.f32", "groups=65"),
        ("convert.csr.cp_csr.f32", "groups=65"),
        ("convert.csr.rp_csc.f32", "groups=0"),
        ("convert.csr.loops.f32", "boundary=999999"),
        ("convert.csr.loops.f32", "br=65537"),
        ("convert.csr.loops.f32", "br=0"),
        ("convert.csr.sr_bcrs.f32", "v=65537"),
        ("convert.csr.nm.f32", "nm_n=5"),
        ("convert.csr.nm.f32", "nm_n=0"),
        ("convert.csr.nm.f32", "nm_l=0"),
    ] {
        let line = format!("{contract}/rmat:scale=5,seed=7/values=small-int,1/{parameter}");
        let case: Case = line.parse().unwrap_or_else(|e| panic!("{line}: {e}"));
        let loaded = case.origin.load().expect("a generated matrix loads");
        let backends: Vec<Box<dyn Backend>> = vec![Box::new(Portable), Box::new(Lenient)];
        let records = run_case(&case, &loaded, &backends).records;
        let (honest, lenient) = (&records[0].verdict, &records[1].verdict);
        assert!(matches!(honest, VerdictRecord::AgreedRefusal { .. }), "{line}: {honest}");
        assert!(matches!(lenient, VerdictRecord::LoneAcceptance { .. }), "{line}: {lenient}");
    }
}

//! A kernel of one's own under judgement, from a crate of one's own: this program is the whole `conformance` command over one
//! backend. In a repository of yours, the path dependencies become git dependencies.
//!
//! ```sh
//! cargo run --release --manifest-path conformance/examples/own-backend/Cargo.toml -- run --report report
//! ```

use sparse_conformance::backend::{Backend, Failure, Support};
use sparse_conformance::{case::Params, cli};
use sparse_oracle::arithmetic::{Arithmetic, Reduction};
use sparse_oracle::contract::{Contract, Op};
use sparse_oracle::format::{AnySparse, FormatKind, Sparse};
use sparse_oracle::profile::Profile;
use sparse_oracle::scalar::{AnySlice, AnySliceMut, Precision};
use sparse_oracle::task::{Answer, Task};
use std::process::ExitCode;

struct MySpmv;

impl Backend for MySpmv {
    fn name(&self) -> &'static str {
        "my-spmv"
    }

    fn version(&self) -> String {
        "0.1".to_owned()
    }

    fn description(&self) -> &'static str {
        "y = A * x for CSR in f32, products and sums rounded apart"
    }

    // Said before anything runs: what is supported, and how it rounds.
    fn support(&self, contract: &Contract, params: &Params) -> Support {
        let mine =
            (contract.op, contract.format, contract.types.a) == (Op::Spmv, FormatKind::Csr, Precision::F32);
        let plain =
            params.alpha == 1.0 && params.beta == 0.0 && !params.transpose_a && params.fault.is_none();
        if !(mine && plain) {
            return Support::Excluded { reason: "only y = A * x for CSR in f32".into() };
        }
        let arithmetic = Arithmetic::chain(Reduction::MulAddChain, Precision::F32, Precision::F32);
        Support::Supported { arithmetic, profile: Profile::default() }
    }

    fn run(&self, _contract: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
        let Task::Spmv {
            a: AnySparse::F32(Sparse::Csr(a)), x: AnySlice::F32(x), y: AnySliceMut::F32(y), ..
        } = task
        else {
            return Err("not an f32 CSR SpMV".into());
        };
        for (i, y) in y.iter_mut().enumerate() {
            let (cols, values) = a.row(i);
            *y = cols.iter().zip(values).map(|(&k, v)| v * x[k as usize]).fold(0.0, |sum, p| sum + p);
        }
        Ok(Answer::Written)
    }
}

fn main() -> ExitCode {
    cli::main(vec![Box::new(MySpmv)])
}

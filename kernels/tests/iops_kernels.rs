//! The IOPS model as kernels of the registry: which there are, and that its encoders make the arrays of the reference.

use crate::iops_support::{csr, value};
use crate::support::{Rng, entries};
use sparse_kernels::{Kernel, all_kernels};
use sparse_oracle::contract::Op;
use sparse_oracle::format::{AnyParts, AnySparse, FormatKind, FormatParams, Parts, Sparse};
use sparse_oracle::judge::first_difference;
use sparse_oracle::prelude::*;
use sparse_oracle::task::{Answer, Task};

fn rows(op: Op) -> impl Iterator<Item = &'static Kernel> {
    all_kernels().iter().filter(move |k| k.engine == "iops" && k.contract.op == op)
}

/// The encoders of the machine make the arrays of the reference, or refuse as it does; the DMA reads them back.
#[test]
fn encoders_agree_with_the_reference() {
    let mut rng = Rng(11);
    let mut compared = 0;
    for (rows_, cols, density) in
        [(0, 0, 0), (0, 3, 0), (5, 5, 30), (40, 33, 12), (300, 2, 100), (2, 300, 100), (7, 65, 3)]
    {
        let e = entries(&mut rng, rows_, cols, density, value);
        let matrix = AnySparse::from(Sparse::Csr(csr(&e)));
        for groups in [0, 1, 2, 7, 64, 65] {
            let params = FormatParams { groups, ..FormatParams::default() };
            for kernel in rows(Op::Convert).filter(|k| k.name.ends_with("_f64__iops")) {
                let Some(to) = kernel.contract.to.filter(|to| *to != FormatKind::Csr) else {
                    continue;
                };
                let found = (kernel.run)(Task::Convert { a: &matrix, to, params });
                match (Sparse::from_entries(to, params, &e), found) {
                    (Ok(expected), Ok(Answer::Parts(AnyParts::F64(found)))) => {
                        let parts = Parts::from(expected.clone());
                        assert_eq!(first_difference(&parts, &found), None, "{} {groups}", kernel.name);
                        let back = decoded(&expected.into());
                        assert!(back == matrix, "{} {groups}: another matrix came back", kernel.name);
                    }
                    (expected, found) => assert_eq!(found.err(), expected.err(), "{} {groups}", kernel.name),
                }
                compared += 1;
            }
        }
    }
    assert_eq!(compared, 7 * 6 * 2);
}

fn decoded(a: &AnySparse) -> AnySparse {
    let mut kernels = rows(Op::Convert);
    let kernel = kernels.find(|k| k.contract.format == a.kind() && k.name.ends_with("_f64__iops"));
    let params = FormatParams::default();
    match (kernel.expect("registered").run)(Task::Convert { a, to: FormatKind::Csr, params }) {
        Ok(Answer::Sparse(raw)) => raw.check().expect("valid"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_rows_of_the_registry() {
    let count = |op| rows(op).count();
    assert_eq!((count(Op::Spgemm), count(Op::Spmm), count(Op::Convert)), (4, 8, 8));
    assert!(rows(Op::Spmm).all(|k| k.needs.is_empty() && k.name.ends_with("__iops")));
}

//! The partition of the IOPS model against the reference's: two searches, one answer.

use crate::iops_support::any_machine;
use proptest::prelude::*;
use sparse_kernels::iops::{Machine, OperandSize, Partition, Problem, Reuse, partition};
use sparse_schedules::iops as reference;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Refusals included.
    #[test]
    fn the_partition_is_the_reference_s(
        (m, k, n) in (0usize..60_000, 0usize..60_000, 0usize..60_000),
        (share_a, share_b) in (0u64..1 << 20, 0u64..1 << 20),
        ssmm in any::<bool>(), machine in any_machine(), scale in 1u64..4000, reserve in 0u32..99,
    ) {
        let of = |rows: usize, cols: usize, share: u64| {
            // Sparse most of the time, full now and then.
            let full = rows as u64 * cols as u64;
            if share.is_multiple_of(7) { full } else { full * share / (1 << 30) }
        };
        let (a, b) = (of(m, k, share_a), of(k, n, share_b));
        let machine = Machine {
            buffer_a: machine.buffer_a * scale,
            buffer_b: machine.buffer_b * scale,
            psum: machine.psum * (1 + scale / 40),
            reserve,
            ..machine
        };
        let problem = if ssmm {
            Problem::ssmm((m, k, n), (a, b), 8)
        } else {
            Problem::sdmm((m, k, n), a, 8)
        };
        let operand = |o: OperandSize| reference::OperandSize { nnz: o.nnz, bytes: o.bytes };
        let theirs = reference::ProductShape {
            m, k, n,
            a: operand(problem.a),
            b: operand(problem.b),
            mode: if ssmm { reference::Mode::Ssmm } else { reference::Mode::Sdmm },
        };
        let device = reference::Machine {
            groups_a: machine.groups_a,
            groups_b: machine.groups_b,
            buffer_a: machine.buffer_a,
            buffer_b: machine.buffer_b,
            psum: machine.psum,
            reserve: machine.reserve,
        };
        let found = partition(&problem, &machine);
        let expected = reference::partition(&theirs, &device);
        prop_assert_eq!(found.clone().map(|p| turned(&p)), expected);
        if let Ok(p) = found {
            prop_assert_eq!(p.check(&problem, &machine), Ok(()));
            prop_assert_eq!(p.traffic(&problem), turned(&p).traffic(&theirs));
        }
    }
}

fn turned(p: &Partition) -> reference::Partition {
    let &Partition { mt, kt, nt, tm, tk, tn, reuse } = p;
    let reuse = match reuse {
        Reuse::Raf => reference::Reuse::Raf,
        Reuse::Rbf => reference::Reuse::Rbf,
        Reuse::Rabe => reference::Reuse::Rabe,
    };
    reference::Partition { mt, kt, nt, tm, tk, tn, reuse }
}

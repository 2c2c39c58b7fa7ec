//! The reviewed errors of the papers' kernels: one snapshot a system, and a ratchet.
//!
//! What differs is listed first, row by row, with the line that replays it; then insta shows the texts side by side and, where it may
//! write, leaves a `.snap.new` to be reviewed.

mod reviewed;

use reviewed::reviewed;
use sparse_golden::pinned::table;
use sparse_golden::ratchet::{Kind, differences};
use sparse_golden::table::System;

/// Prints past the capture of the test harness.
macro_rules! say {
    ($($text:tt)*) => {
        std::io::Write::write_fmt(&mut std::io::stderr(), format_args!("{}\n", format_args!($($text)*))).expect("stderr takes text")
    };
}

fn is_as_reviewed(system: System) {
    let fresh = table(system).expect("every case can be computed");
    let differences = differences(&reviewed(system.name()), &fresh);
    for difference in &differences {
        say!("{difference}");
    }
    insta::with_settings!({ snapshot_path => "../snapshots", prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!(system.name(), fresh);
    });
    let worse = differences.iter().filter(|d| d.kind == Kind::Worse).count();
    assert_eq!(worse, 0, "{worse} numbers got worse, see above; once accepted, run again");
}

#[test]
fn loops_is_as_reviewed() {
    is_as_reviewed(System::Loops);
}

#[test]
fn rsh_is_as_reviewed() {
    is_as_reviewed(System::Rsh);
}

#[test]
fn libra_is_as_reviewed() {
    is_as_reviewed(System::Libra);
}

#[test]
fn nm_is_as_reviewed() {
    is_as_reviewed(System::Nm);
}

#[test]
fn cuda_core_is_as_reviewed() {
    is_as_reviewed(System::CudaCore);
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.expect("threads").install(|| table(System::CudaCore).expect("every case can be computed"))
    };
    assert_eq!(with(1), with(3));
}

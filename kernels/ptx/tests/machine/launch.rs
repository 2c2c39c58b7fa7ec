//! What cannot be launched, and what ends early.

use super::builder::Kernel;
use super::world::World;
use sparse_oracle::arithmetic::Architecture;
use sparse_ptx::check::Kind;
use sparse_ptx::machine::{LaunchError, run, shared_limit};
use sparse_ptx::program::{Act, Initial, Program};
use sparse_ptx::registers::Slot;

fn trivial() -> Program {
    let mut k = Kernel::new();
    k.param();
    k.finish()
}

fn refused(program: &Program, change: impl FnOnce(&mut World)) -> LaunchError {
    let mut world = World::new(1, 32, &[64]);
    change(&mut world);
    run(program, &world.launch, &mut world.device).expect_err("this cannot be launched")
}

#[test]
fn dimensions_have_limits() {
    let program = trivial();
    for block in [[0, 1, 1], [1025, 1, 1], [1, 1, 65]] {
        assert!(matches!(
            refused(&program, |w| w.launch.block = block),
            LaunchError::Dimension { what: "the block", .. }
        ));
    }
    for grid in [[0, 1, 1], [1, 65536, 1], [1 << 31, 1, 1]] {
        assert!(matches!(
            refused(&program, |w| w.launch.grid = grid),
            LaunchError::Dimension { what: "the grid", .. }
        ));
    }
    let error = refused(&program, |w| w.launch.block = [32, 32, 2]);
    assert!(error.to_string().contains("a block of 2048 threads is more than 1024"), "{error}");
    let mut small = trivial();
    small.max_threads = Some(16);
    assert!(refused(&small, |_| ()).to_string().contains("as .maxntid of the entry says"));
    // Story: .reqntid was taken for a limit, and called .maxntid.
    let mut exact = trivial();
    exact.required_block = Some([32, 1, 1]);
    for block in [[16, 1, 1], [16, 2, 1], [33, 1, 1]] {
        let error = refused(&exact, |w| w.launch.block = block);
        assert!(matches!(error, LaunchError::Block { required: [32, 1, 1], .. }), "{error}");
        assert!(error.to_string().contains("says .reqntid: launch it with blocks of [32, 1, 1]"), "{error}");
    }
    let mut world = World::new(1, 32, &[64]);
    assert!(run(&exact, &world.launch, &mut world.device).is_ok());
}

#[test]
fn parameters_have_a_size() {
    let error = refused(&trivial(), |w| w.launch.params.push(0));
    assert!(error.to_string().contains("9 bytes of parameters were given, and entry test has 8"), "{error}");
}

#[test]
fn shared_memory_has_a_limit_by_architecture() {
    let program = trivial();
    for architecture in Architecture::ALL {
        let mut world = World::new(1, 32, &[64]);
        world.launch.architecture = architecture;
        world.launch.dynamic_shared = shared_limit(architecture);
        assert!(run(&program, &world.launch, &mut world.device).expect("it fits").is_clean());
        world.launch.dynamic_shared += 1;
        let error = run(&program, &world.launch, &mut world.device).expect_err("too much");
        assert!(error.to_string().contains(&architecture.to_string()), "{error}");
    }
    let mut fixed = trivial();
    fixed.shared_bytes = 49153;
    assert!(refused(&fixed, |_| ()).to_string().contains("as static memory; declare it extern"));
    let mut local = trivial();
    local.local_bytes = u32::MAX;
    assert!(matches!(refused(&local, |_| ()), LaunchError::Local { .. }));
}

#[test]
fn symbols_need_addresses() {
    let mut program = trivial();
    program.extent.wide += 1;
    let slot = Slot::wide(program.extent.wide as u16 - 1);
    program.initial.push((slot, Initial::Global("table".to_owned(), 4)));
    assert!(refused(&program, |_| ()).to_string().contains("uses the variable table"));
    let mut world = World::new(1, 32, &[64]);
    world.launch.symbols.insert("table".to_owned(), 1 << 40);
    assert!(world.run(&program).is_clean());
}

#[test]
fn broken_programs_are_refused() {
    let mut without_end = trivial();
    without_end.steps.pop();
    let mut register = trivial();
    register.extent.wide = 0;
    let mut class = trivial();
    if let Act::Load(access) = &mut class.steps[0].act {
        access.data[0] = Slot::predicate(0);
    }
    class.extent.predicates = 1;
    let mut target = trivial();
    target.steps[0].act = Act::Branch { target: 2, uniform: false };
    let mut size = trivial();
    if let Act::Load(access) = &mut size.steps[0].act {
        access.width = 3;
    }
    for (program, says) in [
        (without_end, "the last step is not an exit"),
        (register, "a register does not exist"),
        (class, "a register is of the wrong class"),
        (target, "the branch goes past the end"),
        (size, "an access has a size that no instruction has"),
    ] {
        let error = refused(&program, |_| ());
        assert!(error.to_string().contains(says), "{error}");
    }
}

#[test]
fn a_huge_grid_ends_at_the_limit_of_steps() {
    let mut world = World::new(0x7fff_ffff, 1, &[64]);
    world.launch.grid = [0x7fff_ffff, 0xffff, 0xffff];
    world.launch.step_limit = 10_000;
    for number in 0..3 {
        world.launch.schedule = sparse_ptx::machine::Schedule::number(number);
        let outcome = world.run(&trivial());
        assert!(!outcome.complete);
        assert_eq!((outcome.findings.len(), outcome.findings[0].kind), (1, Kind::StepLimit));
        assert_eq!(outcome.counters.instructions, 10_000);
    }
}

/// Story: a text for `sm_90` was played as `sm_80`, which no driver does. A GPU runs what is for it or older.
#[test]
fn a_text_for_a_newer_architecture_is_refused() {
    for (target, architecture, says) in [
        ("sm_80", Architecture::Sm80, None),
        ("sm_70", Architecture::Sm100, None),
        (
            "sm_90",
            Architecture::Sm80,
            Some("'.target sm_90', which sm_80 does not run: it is newer; play sm_90 or a newer one"),
        ),
        ("sm_90a", Architecture::Sm90, None),
        ("sm_90a", Architecture::Sm100, Some("binds it to one architecture")),
        ("sm_100f", Architecture::Sm100, None),
    ] {
        let mut program = trivial();
        program.target = target.to_owned();
        let mut world = World::new(1, 1, &[64]);
        world.launch.architecture = architecture;
        let outcome = sparse_ptx::machine::run(&program, &world.launch, &mut world.device);
        match says {
            None => assert!(outcome.is_ok(), "{target}: {outcome:?}"),
            Some(says) => {
                let error = outcome.expect_err(target);
                assert!(
                    matches!(error, LaunchError::Target { .. }) && error.to_string().contains(says),
                    "{error}"
                );
            }
        }
    }
}

//! Loads and stores: bounds, freed memory, alignment, undefined values.

use super::builder::Kernel;
use super::world::{World, clean, only, run_one};
use sparse_ptx::check::Kind;
use sparse_ptx::memory::{LOCAL_WINDOW, SHARED_WINDOW};
use sparse_ptx::program::Special;
use sparse_ptx::text::Space::{Generic, Global, Local, Shared};

/// Thread i stores i to word i + `shift` of a buffer of 4 KiB.
fn store_shifted(shift: i64) -> (Kernel, u32) {
    let mut k = Kernel::new();
    let (buffer, thread) = (k.param(), k.special(Special::Thread(0)));
    let at = k.at(buffer, thread, 4);
    let line = k.store(Global, 4, &[thread], (Some(at), 4 * shift));
    (k, line)
}

#[test]
fn an_access_past_the_end_is_found() {
    let (outcome, words) = {
        let (k, line) = store_shifted(1000);
        let (outcome, words) = run_one(k, 1, 32);
        let finding = only(&outcome, Kind::OutOfBounds, line);
        assert_eq!((finding.thread, finding.block, finding.allocation), ([24, 0, 0], [0; 3], Some(0)));
        assert_eq!(finding.count, 8);
        assert!(
            finding
                .explanation
                .contains("outside of allocation 0 (4096 B); the first byte outside is right behind its end"),
            "{finding}"
        );
        assert!(finding.to_string().ends_with("(8 times at this line, counted by lanes)"), "{finding}");
        (outcome, words)
    };
    assert!(outcome.complete && !outcome.is_clean());
    assert_eq!(words[1000..], (0..24).collect::<Vec<u32>>());
    let (repaired, words) = run_one(store_shifted(992).0, 1, 32);
    clean(&repaired);
    assert_eq!(words[992..], (0..32).collect::<Vec<u32>>());
}

#[test]
fn an_access_across_the_end_is_found() {
    let mut k = Kernel::new();
    let buffer = k.param();
    let [a, b] = [1, 2].map(|bits| k.bits(bits));
    let line = k.store(Global, 4, &[a, b], (Some(buffer), 4092));
    let (outcome, words) = run_one(k, 1, 1);
    let kinds: Vec<Kind> = outcome.findings.iter().map(|finding| finding.kind).collect();
    assert_eq!(kinds, [Kind::OutOfBounds]);
    let words_of = &outcome.findings[0].explanation;
    assert!(
        words_of.contains(
            "at byte 4092 of allocation 0 (4096 B); the first byte outside is right behind its end"
        ),
        "{words_of}"
    );
    assert_eq!((outcome.findings[0].line, words[1023]), (line, 0));
}

#[test]
fn freed_memory_is_named() {
    for freed in [true, false] {
        let (k, line) = store_shifted(0);
        let mut world = World::new(1, 32, &[4096]);
        if freed {
            world.device.free(world.buffers[0]).expect("it lives");
        }
        let outcome = world.run(&k.finish());
        if freed {
            let finding = only(&outcome, Kind::UseAfterFree, line);
            assert!(
                finding.explanation.contains("at byte 0 of allocation 0 (4096 B), which was freed"),
                "{finding}"
            );
            assert_eq!((finding.allocation, finding.count, finding.thread), (Some(0), 32, [0; 3]));
        } else {
            clean(&outcome);
        }
    }
}

#[test]
fn misaligned_accesses_are_found() {
    let build = |offset| {
        let mut k = Kernel::new();
        let (buffer, thread) = (k.param(), k.special(Special::Thread(0)));
        let at = k.at(buffer, thread, 8);
        let d = [k.narrow(), k.narrow()];
        let line = k.load(Global, 4, &d, (Some(at), offset));
        (k, line)
    };
    let (k, line) = build(4);
    let (outcome, _) = run_one(k, 1, 4);
    let finding = only(&outcome, Kind::Misaligned, line);
    assert!(
        finding.explanation.contains("8 bytes at byte 4 of allocation 0 (4096 B), which is no multiple of 8"),
        "{finding}"
    );
    assert_eq!(finding.count, 4);
    clean(&run_one(build(8).0, 1, 4).0);
}

#[test]
fn shared_local_and_parameter_memory_have_bounds() {
    for (space, name) in [(Shared, "shared"), (Local, "local")] {
        for (offset, bad) in [(60, false), (64, true)] {
            let mut k = Kernel::new();
            k.shared(64);
            k.local(64);
            let one = k.bits(1);
            let line = k.store(space, 4, &[one], (None, offset));
            let (outcome, _) = {
                k.param();
                run_one(k, 1, 1)
            };
            if bad {
                let finding = only(&outcome, Kind::OutOfBounds, line);
                assert!(finding.explanation.contains(&format!("byte 64 of {name} memory")), "{finding}");
            } else {
                clean(&outcome);
            }
        }
    }
    let mut k = Kernel::new();
    k.param();
    let d = k.narrow();
    let line = k.load(sparse_ptx::text::Space::Param, 4, &[d], (None, 8));
    let (outcome, _) = run_one(k, 1, 1);
    assert!(only(&outcome, Kind::OutOfBounds, line).explanation.contains("parameter memory"));
}

#[test]
fn local_memory_belongs_to_a_thread() {
    let mut k = Kernel::new();
    k.local(16);
    let (buffer, thread) = (k.param(), k.special(Special::Thread(0)));
    k.store(Local, 4, &[thread], (None, 8));
    let d = k.narrow();
    k.load(Local, 4, &[d], (None, 8));
    let at = k.at(buffer, thread, 4);
    k.store(Global, 4, &[d], (Some(at), 0));
    let (outcome, words) = run_one(k, 1, 70);
    clean(&outcome);
    assert_eq!(words[..70], (0..70).collect::<Vec<u32>>());
}

#[test]
fn generic_addresses_find_their_memory() {
    let mut k = Kernel::new();
    k.shared(256);
    k.local(16);
    let (buffer, thread) = (k.param(), k.special(Special::Thread(0)));
    let windows = [SHARED_WINDOW, LOCAL_WINDOW].map(|base| {
        let slot = k.wide();
        k.program().initial.push((slot, sparse_ptx::program::Initial::Bits(base)));
        slot
    });
    let at = k.at(windows[0], thread, 4);
    k.store(Generic, 4, &[thread], (Some(at), 0));
    k.store(Generic, 4, &[thread], (Some(windows[1]), 4));
    let [a, b] = [k.narrow(), k.narrow()];
    let four = k.bits(4);
    let offset = k.mul(thread, four);
    k.load(Shared, 4, &[a], (Some(offset), 0));
    k.load(Local, 4, &[b], (None, 4));
    let sum = k.add(a, b);
    let at = k.at(buffer, thread, 4);
    k.store(Generic, 4, &[sum], (Some(at), 0));
    let (outcome, words) = run_one(k, 1, 32);
    clean(&outcome);
    assert_eq!(words[..32], (0..32).map(|i| 2 * i).collect::<Vec<u32>>());
}

#[test]
fn vectors_and_narrow_elements_keep_their_bytes() {
    let mut k = Kernel::new();
    let buffer = k.param();
    let elements: Vec<_> = (0..4).map(|_| k.narrow()).collect();
    k.load(Global, 1, &elements, (Some(buffer), 0));
    k.store(Global, 2, &elements, (Some(buffer), 8));
    let mut signed = Kernel::access(Global, 2, &elements[..1], (Some(buffer), 2));
    signed.signed = true;
    k.act(sparse_ptx::program::Act::Load(signed));
    k.store(Global, 4, &elements[..1], (Some(buffer), 16));
    let wide = k.wide();
    k.load(Global, 8, &[wide], (Some(buffer), 0));
    k.store(Global, 8, &[wide], (Some(buffer), 24));
    let mut world = World::new(1, 1, &[4096]);
    world.write(0, &[0x8182_7f01]);
    clean(&world.run(&k.finish()));
    assert_eq!(world.words(0, 8), [0x8182_7f01, 0, 0x007f_0001, 0x0081_0082, 0xffff_8182, 0, 0x8182_7f01, 0]);
}

/// Loads word 0 of a buffer that nobody wrote, or that was written.
fn undefined_world(written: bool) -> World {
    let mut world = World::new(1, 32, &[4096]);
    let fresh = world.device.alloc(256, 4).expect("it fits");
    if written {
        world.device.fill(fresh, 256, 0).expect("inside");
    }
    world.launch.params.extend(fresh.to_le_bytes());
    world.buffers.push(fresh);
    world
}

#[test]
fn an_undefined_address_is_found() {
    let mut k = Kernel::new();
    let (buffer, fresh) = (k.param(), k.param());
    let d = k.narrow();
    k.load(Global, 4, &[d], (Some(fresh), 0));
    let zero = k.bits(0);
    let index = k.mul(d, zero);
    let at = k.at(buffer, index, 4);
    let line = k.load(Global, 4, &[d], (Some(at), 0));
    let program = k.finish();
    let outcome = undefined_world(false).run(&program);
    assert_eq!(only(&outcome, Kind::UndefinedAddress, line).thread, [0; 3]);
    clean(&undefined_world(true).run(&program));
}

/// Story: an address from an index that nobody wrote was found out of bounds, and only then undefined.
#[test]
fn where_an_undefined_address_points_is_not_said() {
    for writes in [false, true] {
        let mut k = Kernel::new();
        let (buffer, fresh, d) = (k.param(), k.param(), k.narrow());
        k.load(Global, 4, &[d], (Some(fresh), 0));
        let at = k.at(buffer, d, 3 << 20);
        let at = k.at(at, d, 1 << 30);
        let line = if writes {
            k.store(Global, 4, &[d], (Some(at), 8194))
        } else {
            k.load(Global, 4, &[d], (Some(at), 8194))
        };
        only(&undefined_world(false).run(&k.finish()), Kind::UndefinedAddress, line);
    }
}

#[test]
fn an_undefined_guard_is_found() {
    let mut k = Kernel::new();
    let (buffer, fresh, thread) = (k.param(), k.param(), k.special(Special::Thread(0)));
    let (d, end) = (k.narrow(), k.label());
    let two = k.bits(2);
    // Only lanes 2 and up load something undefined.
    let early = k.less(thread, two);
    k.load(Global, 4, &[d], (Some(buffer), 0));
    k.when(early, false).load(Global, 4, &[d], (Some(fresh), 0));
    let p = k.equal(d, two);
    let line = k.when(p, true).branch(end);
    k.place(end);
    let program = k.finish();
    let outcome = undefined_world(false).run(&program);
    let finding = only(&outcome, Kind::UndefinedGuard, line);
    assert_eq!(finding.thread, [2, 0, 0]);
    assert!(finding.explanation.contains("0xfffffffc"), "{finding}");
    clean(&undefined_world(true).run(&program));
}

#[test]
fn undefined_values_travel_silently_until_the_host_reads_them() {
    let mut k = Kernel::new();
    let (buffer, fresh) = (k.param(), k.param());
    let thread = k.special(Special::Thread(0));
    let d = k.narrow();
    k.load(Global, 4, &[d], (Some(fresh), 0));
    let sum = k.add(d, thread);
    let at = k.at(buffer, thread, 4);
    k.store(Global, 4, &[sum], (Some(at), 0));
    let program = k.finish();
    for (written, undefined) in [(false, vec![(0, 128)]), (true, vec![])] {
        let mut world = undefined_world(written);
        clean(&world.run(&program));
        let checked = world.device.read_checked(world.buffers[0], 4096).expect("inside");
        assert_eq!(checked.undefined, undefined);
    }
}

#[test]
fn checks_can_be_switched_off_and_nothing_bad_happens_then() {
    let (k, _) = store_shifted(1000);
    let mut world = World::new(1, 32, &[4096]);
    world.launch.checks = sparse_ptx::check::Checks::NONE;
    clean(&world.run(&k.finish()));
    assert_eq!(world.words(0, 1024)[1000..], (0..24).collect::<Vec<u32>>());
}

#[test]
fn a_selection_is_as_undefined_as_what_it_selects() {
    let mut k = Kernel::new();
    let (buffer, fresh, thread) = (k.param(), k.param(), k.special(Special::Thread(0)));
    let (undefined, selected, limit) = (k.narrow(), k.narrow(), k.bits(30));
    k.load(Global, 4, &[undefined], (Some(fresh), 0));
    let p = k.less(thread, limit);
    k.lanes(super::builder::select, selected, &[thread, undefined, p]);
    let at = k.at(buffer, thread, 4);
    k.store(Global, 4, &[selected], (Some(at), 0));
    let mut world = undefined_world(false);
    clean(&world.run(&k.finish()));
    let checked = world.device.read_checked(world.buffers[0], 4096).expect("inside");
    assert_eq!(checked.undefined, [(120, 8)]);
}

//! The device as the host sees it.

use sparse_ptx::memory::{Device, Limits, MemoryError};
use sparse_ptx::program::Global;

#[test]
fn allocations_are_apart_and_never_come_again() {
    let mut device = Device::default();
    let first = device.alloc(100, 4).expect("it fits");
    let second = device.alloc(100, 4096).expect("it fits");
    assert_eq!((first % 256, second % 4096), (0, 0));
    assert!(second > first + 100 + 4096);
    device.free(first).expect("it lives");
    let third = device.alloc(100, 4).expect("it fits");
    assert!(third > second);
    assert_eq!(device.used(), 200);
}

#[test]
fn what_is_written_is_read_and_the_rest_is_undefined() {
    let mut device = Device::default();
    let address = device.alloc(200, 1).expect("it fits");
    device.write(address + 3, &[1, 2, 3]).expect("inside");
    device.fill(address + 60, 70, 9).expect("inside");
    let checked = device.read_checked(address, 200).expect("inside");
    assert_eq!(checked.bytes[3..6], [1, 2, 3]);
    assert_eq!(checked.bytes[60..130], [9; 70]);
    assert_eq!(checked.undefined, [(0, 3), (6, 54), (130, 70)]);
    let defined = (0..checked.bytes.len()).map(|at| (3..6).contains(&at) || (60..130).contains(&at));
    assert!(checked.defined().into_iter().eq(defined));
    assert_eq!(device.read_checked(address + 4, 4).expect("inside").undefined, [(2, 2)]);
    assert!(device.read_checked(address + 61, 64).expect("inside").undefined.is_empty());
}

#[test]
fn what_is_outside_is_refused_with_the_distance() {
    let mut device = Device::default();
    let address = device.alloc(64, 1).expect("it fits");
    let text = |result: Result<(), MemoryError>| result.expect_err("it is outside").to_string();
    assert!(
        text(device.write(address + 60, &[0; 8]))
            .contains("at byte 60 of allocation 0 (64 B); the first byte outside is right behind its end")
    );
    assert!(
        text(device.write(address + 80, &[0]))
            .contains("outside of allocation 0 (64 B); the first byte outside lies 16 bytes behind its end")
    );
    assert!(text(device.write(address - 8, &[0])).contains("it begins 8 bytes before allocation 0 (64 B)"));
    assert!(
        text(device.write(address + 64, &[0]))
            .contains("outside of allocation 0 (64 B); the first byte outside is right behind its end")
    );
    assert!(text(device.write(1 << 20, &[0])).contains("before allocation 0"));
    assert!(text(device.write(u64::MAX >> 1, &[0; 2])).contains("behind its end"));
    device.name(address, "x");
    assert!(text(device.write(address + 64, &[0])).contains("outside of 'x' (64 B)"));
    // Story: these were so many bytes before the first allocation, or behind the last.
    assert!(text(device.write(0, &[0])).contains("the null pointer"));
    assert!(text(device.write(8, &[0])).contains("8 bytes behind the null pointer"));
    assert!(text(device.write(u64::MAX - 3, &[0; 2])).contains("that is -4: a negative address"));
    let mut device = Device::default();
    let address = device.alloc(64, 1).expect("it fits");
    assert!(text(device.free(address + 4)).contains("at byte 4 of allocation 0"));
    device.free(address).expect("it lives");
    assert!(text(device.free(address)).contains("which was freed"));
    assert!(text(device.write(address, &[1])).contains("which was freed"));
}

#[test]
fn limits_hold() {
    let mut device = Device::new(Limits { bytes: 1000, allocations: 3 });
    assert_eq!(device.alloc(1001, 1), Err(MemoryError::Full { wanted: 1001, used: 0, limit: 1000 }));
    assert_eq!(device.alloc(8, 3), Err(MemoryError::Align(3)));
    let all = device.alloc(1000, 1).expect("it fits");
    assert_eq!(device.alloc(1, 1), Err(MemoryError::Full { wanted: 1, used: 1000, limit: 1000 }));
    device.free(all).expect("it lives");
    assert!(device.alloc(u64::MAX, 1).is_err());
    device.alloc(0, 1).expect("nothing fits");
    device.alloc(0, 1).expect("nothing fits");
    assert_eq!(device.alloc(0, 1), Err(MemoryError::TooMany(3)));
}

#[test]
fn what_is_not_freed_is_a_leak() {
    let mut device = Device::default();
    let global = Global { name: "table".to_owned(), align: 4, bytes: vec![7; 12] };
    let table = device.load(&[global]).expect("it fits")["table"];
    assert_eq!(device.read(table, 12).expect("inside"), [7; 12]);
    let [a, b] = [16, 32].map(|bytes| device.alloc(bytes, 1).expect("it fits"));
    device.free(a).expect("it lives");
    let leaks = device.leaks();
    assert_eq!(leaks.len(), 1);
    assert_eq!((leaks[0].allocation, leaks[0].address, leaks[0].bytes), (2, b, 32));
    device.free(b).expect("it lives");
    assert!(device.leaks().is_empty());
}

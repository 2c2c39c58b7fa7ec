//! How much memory a child and its descendants use, and a hard limit as a backstop.
//!
//! The resident size of the process group is read from `/proc` while the judge waits. Between two looks a limit on private
//! writable memory (`RLIMIT_DATA`, twice the limit) holds: address space that is only reserved, as GPU drivers do by the
//! terabyte, does not count there.

use rustix::process::{Pid, Resource, Rlimit, prlimit};
use std::sync::Once;

/// Sets what the kernel watches: private memory, and no core dumps. Says once if it can't.
pub(super) fn limit(pid: Pid, memory: u64) {
    static SAID: Once = Once::new();
    let set = |resource, bytes| {
        let limit = Rlimit { current: Some(bytes), maximum: Some(bytes) };
        prlimit(Some(pid), resource, limit)
    };
    let data = set(Resource::Data, memory.saturating_mul(2).saturating_add(256 << 20));
    if let Err(error) = data.and(set(Resource::Core, 0)) {
        SAID.call_once(|| {
            eprintln!("conformance: no hard memory limit on programs that are judged (prlimit: {error}); their size is watched instead");
        });
    }
}

/// Resident bytes of all processes of a group; `None` where there is no `/proc`.
pub(super) fn resident(group: Pid) -> Option<u64> {
    static SAID: Once = Once::new();
    let Ok(list) = std::fs::read_dir("/proc") else {
        SAID.call_once(|| {
            eprintln!("conformance: no /proc: memory of programs that are judged is not watched");
        });
        return None;
    };
    let group = group.as_raw_nonzero().get();
    let page = rustix::param::page_size() as u64;
    let numbered =
        |name: &std::ffi::OsStr| name.to_str().is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit()));
    let pages = list
        .flatten()
        .filter(|entry| numbered(&entry.file_name()))
        .filter_map(|entry| std::fs::read_to_string(entry.path().join("stat")).ok())
        .filter_map(|stat| pages_of(&stat, group));
    Some(pages.sum::<u64>() * page)
}

/// Resident pages of a process, if it is of the group. The name, in brackets, may hold anything.
fn pages_of(stat: &str, group: i32) -> Option<u64> {
    let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace();
    // After the name: state, parent, group, ..., and resident pages as the 22nd.
    let own: i32 = fields.nth(2)?.parse().ok()?;
    let pages = fields.nth(18)?.parse().ok()?;
    (own == group).then_some(pages)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_group_and_the_size_are_read_past_a_strange_name() {
        let stat = "17 (a) b) S 1 17 17 0 -1 4194304 100 0 0 0 1 2 0 0 20 0 1 0 300 1000000 4321 18446744073709551615 1";
        assert_eq!(pages_of(stat, 17), Some(4321));
        assert_eq!(pages_of(stat, 18), None);
        assert_eq!(pages_of("17 (cut", 17), None);
    }

    #[test]
    fn this_process_has_a_size() {
        let group = rustix::process::getpgrp();
        assert!(resident(group).expect("there is /proc") > 1 << 20);
    }
}

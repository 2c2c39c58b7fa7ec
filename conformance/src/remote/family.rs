//! A process and everything that it started, wherever that went: what it uses, and its end.
//!
//! ```text
//! judge --- warden --- program --- helper          by parent, so a helper that left its group or session is still found:
//!                  \-- orphaned helper             the warden adopts what loses its parent (warden.rs)
//! ```
//!
//! Read from `/proc`. Members of the root's process group belong to it as well: without a warden an orphan has no other mark.

use crate::notice::say;
use rustix::process::{
    Pid, PidfdFlags, Resource, Rlimit, Signal, kill_process, kill_process_group, pidfd_open,
    pidfd_send_signal, prlimit,
};
use std::collections::HashSet;
use std::sync::Once;
use std::time::{Duration, Instant};

/// How long killing goes on at most: what forks faster than it is killed is not waited for.
pub(super) const KILLING: Duration = Duration::from_secs(2);

/// What a family used.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Usage {
    /// Resident bytes.
    pub(super) resident: u64,
    /// Time of processors, that of ended members included.
    pub(super) computed: Duration,
}

/// A line of `/proc/PID/stat`, as far as it matters here.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Entry {
    pid: i32,
    parent: i32,
    group: i32,
    /// It has ended, and its parent has not asked how.
    ended: bool,
    /// Time of processors, its own and that of children that it waited for, in clock ticks.
    ticks: u64,
    /// When it was started: with its number it names a process for good.
    started: u64,
    /// Resident pages.
    pages: u64,
}

impl Entry {
    /// The name, in brackets, may hold anything.
    fn parse(stat: &str) -> Option<Entry> {
        let (number, rest) = stat.split_once(" (")?;
        let fields: Vec<&str> = rest.rsplit_once(')')?.1.split_ascii_whitespace().collect();
        // Numbered as in proc(5), where the state is the third.
        let field = |number: usize| fields.get(number - 3).copied();
        let count = |number: usize| field(number)?.parse::<u64>().ok();
        Some(Entry {
            pid: number.parse().ok()?,
            parent: field(4)?.parse().ok()?,
            group: field(5)?.parse().ok()?,
            ended: matches!(field(3)?, "Z" | "X"),
            // Those of children count as signed numbers.
            ticks: count(14)? + count(15)? + count(16)? + count(17)?,
            started: count(22)?,
            pages: count(24)?,
        })
    }

    fn of(pid: i32) -> Option<Entry> {
        Entry::parse(&String::from_utf8_lossy(&std::fs::read(format!("/proc/{pid}/stat")).ok()?))
    }
}

/// All processes of this machine that can be seen; `None` where there is no `/proc`.
fn processes() -> Option<Vec<Entry>> {
    static SAID: Once = Once::new();
    let Ok(list) = std::fs::read_dir("/proc") else {
        SAID.call_once(|| {
            say("conformance: no /proc: memory and time of programs that are judged are not watched");
        });
        return None;
    };
    let number = |entry: std::fs::DirEntry| entry.file_name().to_str()?.parse().ok();
    Some(list.flatten().filter_map(number).filter_map(Entry::of).collect())
}

/// The root, its descendants, and the members of its group with theirs.
fn members(root: i32, all: &[Entry]) -> Vec<Entry> {
    let mut known = HashSet::from([root]);
    loop {
        let before = known.len();
        let belongs = |e: &&Entry| e.pid == root || e.group == root || known.contains(&e.parent);
        let found: Vec<i32> = all.iter().filter(belongs).map(|e| e.pid).collect();
        known.extend(found);
        if known.len() == before {
            return all.iter().filter(|e| known.contains(&e.pid)).copied().collect();
        }
    }
}

/// What the family of a process used; `None` where there is no `/proc`.
pub(super) fn usage(root: Pid) -> Option<Usage> {
    let members = members(root.as_raw_nonzero().get(), &processes()?);
    let pages: u64 = members.iter().map(|e| e.pages).sum();
    let ticks: u64 = members.iter().map(|e| e.ticks).sum();
    let second = rustix::param::clock_ticks_per_second().max(1);
    Some(Usage {
        resident: pages * rustix::param::page_size() as u64,
        computed: Duration::from_secs_f64(ticks as f64 / second as f64),
    })
}

/// Kills everything that a process started, but not the process. True when nothing is left of it.
pub(super) fn end(root: Pid) -> bool {
    let root = root.as_raw_nonzero().get();
    let deadline = Instant::now() + KILLING;
    loop {
        let Some(all) = processes() else { return false };
        let left: Vec<Entry> =
            members(root, &all).into_iter().filter(|e| e.pid != root && !e.ended).collect();
        if left.is_empty() {
            return true;
        }
        if Instant::now() >= deadline {
            return false;
        }
        left.iter().for_each(kill);
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// [`end`], and then the process with its group, which is its own: nobody has waited for it. Where there is no `/proc`, that is all.
pub(super) fn end_with(root: Pid) {
    end(root);
    let _ = kill_process_group(root, Signal::KILL);
}

/// Kills this process and no other that was given its number since.
fn kill(entry: &Entry) {
    let Some(pid) = Pid::from_raw(entry.pid) else { return };
    let same = || Entry::of(entry.pid).is_some_and(|now| now.started == entry.started);
    match pidfd_open(pid, PidfdFlags::empty()) {
        Ok(process) if same() => _ = pidfd_send_signal(process, Signal::KILL),
        Ok(_) => {}
        // Ended meanwhile.
        Err(rustix::io::Errno::SRCH) => {}
        // A kernel without them, or no descriptor left: the moment between is short.
        Err(_) if same() => _ = kill_process(pid, Signal::KILL),
        Err(_) => {}
    }
}

/// Sets what the kernel watches: private memory (twice the limit: the backstop between two looks at the resident size; address space
/// that is only reserved, as GPU drivers do by the terabyte, does not count), and no core dumps. Says once if it can't.
pub(super) fn limit(pid: Option<Pid>, memory: u64) {
    static SAID: Once = Once::new();
    let set = |resource, bytes| prlimit(pid, resource, Rlimit { current: Some(bytes), maximum: Some(bytes) });
    let data = set(Resource::Data, memory.saturating_mul(2).saturating_add(256 << 20));
    if let Err(error) = data.and(set(Resource::Core, 0)) {
        SAID.call_once(|| {
            say(&format!("conformance: no hard memory limit on programs that are judged (prlimit: {error}); their size is watched instead"));
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_past_a_strange_name() {
        let stat = "17 (a) b) S 1 18 17 0 -1 4194304 100 0 0 0 1 2 3 4 20 0 1 0 300 1000000 4321 18446744073709551615 1";
        let entry =
            Entry { pid: 17, parent: 1, group: 18, ended: false, ticks: 10, started: 300, pages: 4321 };
        assert_eq!(Entry::parse(stat), Some(entry));
        assert_eq!(Entry::parse("17 (cut"), None);
        assert_eq!(Entry::parse("17 (a) S 1 18"), None);
    }

    #[test]
    fn a_family_is_told_by_parent_and_by_group() {
        let entry =
            |pid, parent, group| Entry { pid, parent, group, ended: false, ticks: 0, started: 0, pages: 0 };
        // 9 is an orphan of the group, 10 its child with a group of its own; 20 is a stranger.
        let all = [
            entry(10, 9, 10),
            entry(9, 1, 5),
            entry(7, 6, 7),
            entry(6, 5, 6),
            entry(5, 2, 5),
            entry(20, 1, 20),
        ];
        let found: Vec<i32> = members(5, &all).iter().map(|e| e.pid).collect();
        assert_eq!(found, [10, 9, 7, 6, 5]);
    }

    #[test]
    fn this_process_uses_something() {
        let used = usage(rustix::process::getpid()).expect("there is /proc");
        assert!(used.resident > 1 << 20, "{used:?}");
    }
}

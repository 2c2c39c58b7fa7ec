//! How much memory there is for this process: the least of what the machine has, what its control group may take, and what the limits of
//! the process leave.

use std::path::{Component, Path, PathBuf};

/// Where nothing says how much there is.
const UNKNOWN: u64 = 8 << 30;

/// Bytes.
pub(super) fn memory() -> u64 {
    let read = |path: &Path| std::fs::read_to_string(path).ok();
    let text = |path: &str| read(Path::new(path)).unwrap_or_default();
    let groups = group_files(&text("/proc/self/cgroup"));
    let groups = groups.iter().filter_map(|path| read(path)?.trim().parse().ok());
    let status = text("/proc/self/status");
    let process = process(&text("/proc/self/limits"), |name| kib(&status, name));
    let all = groups.chain(kib(&text("/proc/meminfo"), "MemTotal:")).chain(process);
    all.min().unwrap_or(UNKNOWN)
}

/// The number of bytes in a line `name   123 kB`.
fn kib(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// The files in which the limits of a control group and of those around it would stand, of both versions. In a container what
/// `/proc/self/cgroup` names may lie outside of what is mounted; the group itself is then the root.
fn group_files(memberships: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for line in memberships.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else { continue };
        let (root, name) = match controllers {
            "" => ("/sys/fs/cgroup", "memory.max"),
            list if list.split(',').any(|one| one == "memory") => {
                ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")
            }
            _ => continue,
        };
        let mut folder = PathBuf::from(root);
        files.push(folder.join(name));
        for part in Path::new(path).components() {
            if let Component::Normal(part) = part {
                folder.push(part);
                files.push(folder.join(name));
            }
        }
    }
    files
}

/// What the limits of the process leave: address space, and private memory.
fn process(limits: &str, used: impl Fn(&str) -> Option<u64>) -> Option<u64> {
    let left = |name: &str, used_by: &str| {
        let line = limits.lines().find_map(|line| line.strip_prefix(name))?;
        let soft: u64 = line.split_whitespace().next()?.parse().ok()?;
        Some(soft.saturating_sub(used(used_by).unwrap_or(0)))
    };
    left("Max address space", "VmSize:").into_iter().chain(left("Max data size", "VmData:")).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_says_how_much_it_has() {
        let info = "MemTotal:       24629244 kB\nMemFree:        20000000 kB\n";
        assert_eq!(kib(info, "MemTotal:"), Some(24_629_244 << 10));
        assert_eq!(kib(info, "MemAvailable:"), None);
        assert!(memory() > 16 << 20);
    }

    #[test]
    fn limits_of_control_groups_count_those_around_them_too() {
        let names =
            |text: &str| group_files(text).iter().map(|path| path.display().to_string()).collect::<Vec<_>>();
        assert_eq!(
            names("9:name=systemd:/x\n4:cpu,memory:/a/b\n0::/\n"),
            [
                "/sys/fs/cgroup/memory/memory.limit_in_bytes",
                "/sys/fs/cgroup/memory/a/memory.limit_in_bytes",
                "/sys/fs/cgroup/memory/a/b/memory.limit_in_bytes",
                "/sys/fs/cgroup/memory.max",
            ]
        );
        assert_eq!(names("0::/../job\n"), ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/job/memory.max"]);
        assert!(names("garbage\n\n").is_empty());
    }

    #[test]
    fn limits_of_the_process_count_what_it_has_already() {
        let limits = "Limit                     Soft Limit           Hard Limit           Units\n\
                      Max data size             unlimited            unlimited            bytes\n\
                      Max address space         1000000              unlimited            bytes\n";
        assert_eq!(process(limits, |name| (name == "VmSize:").then_some(400_000)), Some(600_000));
        assert_eq!(process(limits, |_| Some(2_000_000)), Some(0));
        assert_eq!(process("Max address space unlimited unlimited bytes\n", |_| None), None);
    }
}

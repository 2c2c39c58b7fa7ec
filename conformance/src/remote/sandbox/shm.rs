//! A `/dev/shm` of a sandboxed program's own. Semaphores and memory by name (`sem_open`, `shm_open`) are files there: Python's
//! `multiprocessing` starts with one. In the system's own, a program would see those of others and leave its own behind.

use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_change};
use rustix::process::{getegid, geteuid};
use rustix::thread::UnshareFlags;
use std::path::{Path, PathBuf};

/// What a trial says where there can be one.
pub(super) const OWN: &str = "a /dev/shm of its own";
/// Who may do what there, and how much of the machine's memory it may take, which is counted for no process that has it not mapped.
const OPTIONS: &std::ffi::CStr = c"mode=1777,size=256m,nr_inodes=4096";

/// Mounts it for this process and what it starts: gone with the last of them. Where this process is not root's, as a user namespace lets
/// any user do. Must come before landlock and seccomp, which let nobody mount.
pub(super) fn mount_own() -> std::io::Result<PathBuf> {
    let place = Path::new("/dev/shm").canonicalize()?;
    let (user, group) = (geteuid(), getegid());
    if user.is_root() {
        unshare(UnshareFlags::NEWNS)?;
    } else {
        unshare(UnshareFlags::NEWNS | UnshareFlags::NEWUSER)?;
        let (user, group) = (user.as_raw(), group.as_raw());
        std::fs::write("/proc/self/setgroups", "deny")?;
        std::fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
        std::fs::write("/proc/self/gid_map", format!("{group} {group} 1"))?;
    }
    // What is mounted here is not to be seen outside.
    mount_change("/", MountPropagationFlags::DOWNSTREAM | MountPropagationFlags::REC)?;
    mount(
        "tmpfs",
        &place,
        "tmpfs",
        MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC,
        Some(OPTIONS),
    )?;
    if !user.is_root() {
        give_up_capabilities()?;
    }
    Ok(place)
}

/// Those that the new user namespace gave.
fn give_up_capabilities() -> std::io::Result<()> {
    use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities};
    let none = CapabilitySet::empty();
    Ok(set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })?)
}

#[expect(
    deprecated,
    reason = "what its successor is unsafe for, tables of open files, is not asked for here"
)]
fn unshare(what: UnshareFlags) -> std::io::Result<()> {
    Ok(rustix::thread::unshare(what)?)
}

//! This process restricts itself, for good and for all that it starts: landlock, another user where it is root's, seccomp.

use super::calls;
use super::reads::Reads;
use super::{Held, SandboxError};
use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, LandlockStatus, Ruleset, RulesetAttr, RulesetCreatedAttr,
    RulesetStatus, Scope, path_beneath_rules,
};
use rustix::fs::{FileType, chown, fchown, fstat};
use rustix::process::{Gid, Uid, geteuid, getpid};
use rustix::thread::{
    CapabilitySet, CapabilitySets, configure_capability_in_ambient_set, set_capabilities,
    set_keep_capabilities, set_thread_groups, set_thread_res_gid, set_thread_res_uid,
};
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The newest landlock that is asked for; a kernel gives what it has of it.
const NEWEST: ABI = ABI::V10;
/// The user of a process is the one of this number plus its own, so that two programs are two users. No system gives out such numbers.
const USERS: u32 = 0x7000_0000;
/// `nobody`, where a container has no numbers as high as those.
const NOBODY: u32 = 65534;
/// What a GPU's driver wants, by the start of its name in `/dev`.
const GPUS: [&str; 3] = ["nvidia", "dri", "kfd"];
/// Devices without memory, without end.
const DEVICES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// Restricts this process to these paths, a folder of its own and, where it has one, a `/dev/shm` of its own.
pub(super) fn restrict(folder: &Path, shm: Option<&Path>, reads: &Reads) -> Result<Held, SandboxError> {
    let mut held = Held::default();
    let gpus = gpus();
    let user = geteuid().is_root().then(|| own_user(folder)).flatten();
    let abi = landlock((folder, shm), reads, &gpus)?;
    say_landlock(&mut held, abi);
    if geteuid().is_root() {
        // Nothing but landlock would limit what the capability reads.
        let keeps = abi >= ABI::V1 && (reads.are_closed_to_others() || Reads::closes(folder));
        change_user(user, keeps, &gpus).map_err(|error| SandboxError::User(error.into()))?;
        match user {
            Some(_) if keeps => held.enforced.push(
                "another user, who may read what root may where landlock lets it (its files are closed to others)".into(),
            ),
            Some(_) => held.enforced.push("another user".into()),
            None => held.missing.push("another user (this container has no other)".into()),
        }
    }
    match calls::filter() {
        Ok(()) => held
            .enforced
            .push("system calls by seccomp: no network, no connections, no look into other processes".into()),
        Err(reason) => {
            let tcp = if abi >= ABI::V4 { "network other than TCP" } else { "network" };
            held.missing.push(format!("no seccomp ({reason}): {tcp} and system calls are open"));
        }
    }
    if abi < ABI::V1 && user.is_none() {
        held.missing.push("memory of other processes of the same user (that of the judge is closed)".into());
    }
    Ok(held)
}

fn say_landlock(held: &mut Held, abi: ABI) {
    if abi < ABI::V1 {
        held.missing.push("no landlock in this kernel: files are as open as to any program of the user, who if this one is root may not come to the program".into());
        return;
    }
    held.enforced.push(format!("files and memory of other processes by landlock (ABI {abi})"));
    // What came later than the first landlock, with the kernel that brought it.
    for (since, kernel, what) in [
        (ABI::V3, "6.2", "cutting files that it may write no other way"),
        (ABI::V5, "6.10", "commands to devices that it has open"),
        (ABI::V6, "6.12", "signals to processes of the same user"),
    ] {
        if abi < since {
            held.missing.push(format!("{what} (needs landlock ABI {since}, Linux {kernel})"));
        }
    }
}

/// Restricts files, TCP, signals and abstract sockets as far as this kernel can: its version of landlock.
fn landlock(
    (folder, shm): (&Path, Option<&Path>),
    reads: &Reads,
    gpus: &[PathBuf],
) -> Result<ABI, SandboxError> {
    let device: BitFlags<AccessFs> = AccessFs::ReadFile
        | AccessFs::ReadDir
        | AccessFs::WriteFile
        | AccessFs::Truncate
        | AccessFs::IoctlDev;
    let read = AccessFs::from_read(NEWEST);
    let all = AccessFs::from_all(NEWEST);
    // CUDA names its threads in `/proc/self/task/N/comm` and does not start where it can't (error 304, seen on an H100). A rule on
    // `/proc/self` would hold for this process and none that it starts. Memory there asks for more rights than these.
    let named_threads = (!gpus.is_empty()).then_some("/proc");
    let status = Ruleset::default()
        .handle_access(all)?
        .handle_access(AccessNet::from_all(NEWEST))?
        .scope(Scope::from_all(NEWEST))?
        .create()?
        .add_rules(path_beneath_rules(Reads::system(), read))?
        .add_rules(path_beneath_rules(&reads.whole, read))?
        .add_rules(path_beneath_rules(&reads.listed, AccessFs::ReadDir))?
        .add_rules(path_beneath_rules(
            DEVICES.iter().map(Path::new).chain(gpus.iter().map(PathBuf::as_path)),
            device,
        ))?
        .add_rules(path_beneath_rules(named_threads, AccessFs::WriteFile | AccessFs::Truncate))?
        .add_rules(path_beneath_rules([folder].into_iter().chain(shm), all))?
        .restrict_self()?;
    Ok(match status.landlock {
        LandlockStatus::Available { effective_abi, .. } if status.ruleset != RulesetStatus::NotEnforced => {
            effective_abi
        }
        _ => ABI::Unsupported,
    })
}

fn gpus() -> Vec<PathBuf> {
    let devices = std::fs::read_dir("/dev").into_iter().flatten().flatten();
    let is_gpu = |name: &str| GPUS.iter().any(|start| name.starts_with(start));
    devices.filter(|d| d.file_name().to_str().is_some_and(is_gpu)).map(|d| d.path()).collect()
}

/// The first user that there can be, given the folder.
fn own_user(folder: &Path) -> Option<u32> {
    let own = USERS + getpid().as_raw_nonzero().get().unsigned_abs();
    [own, NOBODY]
        .into_iter()
        .find(|&id| chown(folder, Some(Uid::from_raw(id)), Some(Gid::from_raw(id))).is_ok())
}

/// Gives this user the pipes to the judge: `/dev/stdout` and `/dev/stderr` open them by their owner's rights.
fn own_pipes(id: u32) -> rustix::io::Result<()> {
    let (stdin, stdout, stderr) = (std::io::stdin(), std::io::stdout(), std::io::stderr());
    for end in [stdin.as_fd(), stdout.as_fd(), stderr.as_fd()] {
        // A file or a terminal, where somebody starts this by hand, stays whose it was.
        if FileType::from_raw_mode(fstat(end)?.st_mode) == FileType::Fifo {
            fchown(end, Some(Uid::from_raw(id)), Some(Gid::from_raw(id)))?;
        }
    }
    Ok(())
}

/// Gives up root and every capability, but that to read where it `keeps` it. Groups are those of the GPUs' devices.
fn change_user(user: Option<u32>, keeps: bool, gpus: &[PathBuf]) -> rustix::io::Result<()> {
    if let Some(id) = user {
        let within = gpus.iter().flat_map(|path| std::fs::read_dir(path).into_iter().flatten().flatten());
        let devices = within.map(|entry| entry.path()).chain(gpus.iter().cloned());
        let groups = devices.filter_map(|path| Some(std::fs::metadata(path).ok()?.gid()));
        let mut groups: Vec<u32> = groups.filter(|&group| group != 0).collect();
        groups.sort_unstable();
        groups.dedup();
        let groups: Vec<Gid> = groups.into_iter().map(Gid::from_raw).collect();
        // A container without the right has no groups of others to give up.
        if let Err(error) = set_thread_groups(&groups)
            && error != rustix::io::Errno::PERM
        {
            return Err(error);
        }
        own_pipes(id)?;
        set_keep_capabilities(true)?;
        let (group, user) = (Gid::from_raw(id), Uid::from_raw(id));
        set_thread_res_gid(group, group, group)?;
        set_thread_res_uid(user, user, user)?;
    }
    let kept = if keeps { CapabilitySet::DAC_READ_SEARCH } else { CapabilitySet::empty() };
    set_capabilities(None, CapabilitySets { effective: kept, permitted: kept, inheritable: kept })?;
    if keeps {
        configure_capability_in_ambient_set(CapabilitySet::DAC_READ_SEARCH, true)?;
    }
    Ok(())
}

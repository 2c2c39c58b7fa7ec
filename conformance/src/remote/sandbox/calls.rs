//! System calls that a sandboxed program is refused (seccomp): what reaches another machine, another process or the kernel's inside, and
//! no kernel of sparse matrices needs. Whatever is not listed is allowed: landlock and the user limit that.

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, apply_filter,
};
use std::collections::BTreeMap;

/// Refused whatever their arguments.
const REFUSED: [i64; 58] = [
    // Other processes: their memory, files, pages.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_process_mrelease,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    libc::SYS_migrate_pages,
    // Memory and queues that processes of a user share by number.
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_msgget,
    libc::SYS_msgrcv,
    libc::SYS_msgsnd,
    libc::SYS_msgctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_semctl,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
    // Whatever listens, on a network or on this machine: services run programs for their callers.
    libc::SYS_connect,
    // Would do the same behind the filter's back.
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    // Files past the paths that landlock sees; what is mounted where.
    libc::SYS_open_by_handle_at,
    libc::SYS_name_to_handle_at,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_fanotify_init,
    libc::SYS_quotactl,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_unshare,
    libc::SYS_setns,
    // The kernel: programs in it, its keys, its log, its measurements, its faults, another one.
    libc::SYS_bpf,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_syslog,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_reboot,
    libc::SYS_acct,
    libc::SYS_vhangup,
];

/// Which 64-bit programs add to the number of a call to make it one of x32, with the same effect.
#[cfg(target_arch = "x86_64")]
const X32: i64 = 0x4000_0000;
/// Numbers that only x32 has: the first and the last.
#[cfg(target_arch = "x86_64")]
const X32_OWN: (i64, i64) = (512, 547);

/// Kinds of sockets that send to an address without a connection.
const WITHOUT_CONNECTION: [libc::c_int; 2] = [libc::SOCK_DGRAM, libc::SOCK_RAW];
/// `ioprio_set` of a process or thread.
const IOPRIO_WHO_PROCESS: u64 = 1;
/// Of the kind of a socket, the bits that are its kind.
const KIND: u64 = 0xf;

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Installs the filters for this process and what it starts.
pub(super) fn filter() -> Result<(), String> {
    let build = || -> Result<[BpfProgram; 2], seccompiler::BackendError> {
        let arch = TargetArch::try_from(std::env::consts::ARCH)?;
        let errno = |number: libc::c_int| SeccompAction::Errno(number.unsigned_abs());
        let compiled = |rules: Rules, action| -> Result<BpfProgram, seccompiler::BackendError> {
            SeccompFilter::new(rules, SeccompAction::Allow, action, arch)?.try_into()
        };
        Ok([
            compiled(refused()?, errno(libc::EPERM))?,
            // Its arguments are in memory, where no filter sees them. C libraries then take the call before it, whose arguments are seen.
            compiled(with_x32(Rules::from([(libc::SYS_clone3, Vec::new())])), errno(libc::ENOSYS))?,
        ])
    };
    let programs = build().map_err(|error| error.to_string())?;
    // A filter asks for this; landlock, where there is one, has done it already.
    rustix::thread::set_no_new_privs(true).map_err(|error| error.to_string())?;
    programs.iter().try_for_each(|program| apply_filter(program)).map_err(|error| error.to_string())
}

fn refused() -> Result<Rules, seccompiler::BackendError> {
    let mut rules: Rules = REFUSED.iter().map(|&call| (call, Vec::new())).collect();
    // Sockets only between the program's own processes: of this machine, in pairs or with a name that nobody can reach.
    let mut sockets = vec![rule(0, SeccompCmpOp::Ne, of(libc::AF_UNIX))?];
    for kind in WITHOUT_CONNECTION {
        sockets.push(rule(1, SeccompCmpOp::MaskedEq(KIND), of(kind))?);
    }
    rules.insert(libc::SYS_socket, sockets.clone());
    rules.insert(libc::SYS_socketpair, sockets);
    // Limits, pages and scheduling of the calling process or thread (0) only. `sched_setaffinity` is not among them: C libraries start
    // threads on chosen processors by it, with a thread's number, which no filter can tell from another process's.
    for call in [
        libc::SYS_prlimit64,
        libc::SYS_move_pages,
        libc::SYS_sched_setscheduler,
        libc::SYS_sched_setparam,
        libc::SYS_sched_setattr,
    ] {
        rules.insert(call, vec![rule(0, SeccompCmpOp::Ne, 0)?]);
    }
    // The same for priorities, whose first argument says what the second is a number of: not a group's, not a user's.
    for (call, process) in
        [(libc::SYS_setpriority, u64::from(libc::PRIO_PROCESS)), (libc::SYS_ioprio_set, IOPRIO_WHO_PROCESS)]
    {
        rules.insert(call, vec![rule(0, SeccompCmpOp::Ne, process)?, rule(1, SeccompCmpOp::Ne, 0)?]);
    }
    let spaces = [
        libc::CLONE_NEWUSER,
        libc::CLONE_NEWNS,
        libc::CLONE_NEWPID,
        libc::CLONE_NEWNET,
        libc::CLONE_NEWIPC,
        libc::CLONE_NEWUTS,
        libc::CLONE_NEWCGROUP,
    ];
    let new = |space: libc::c_int| rule(0, SeccompCmpOp::MaskedEq(of(space)), of(space));
    rules.insert(libc::SYS_clone, spaces.into_iter().map(new).collect::<Result<_, _>>()?);
    Ok(with_x32(rules))
}

fn of(constant: libc::c_int) -> u64 {
    u64::from(constant.unsigned_abs())
}

/// An argument of 32 bits that compares so.
fn rule(argument: u8, how: SeccompCmpOp, value: u64) -> Result<SeccompRule, seccompiler::BackendError> {
    let condition = SeccompCondition::new(argument, SeccompCmpArgLen::Dword, how, value)?;
    SeccompRule::new(vec![condition])
}

/// The same rules for the other numbers of the same calls.
#[cfg(target_arch = "x86_64")]
fn with_x32(mut rules: Rules) -> Rules {
    let others: Vec<_> = rules.iter().map(|(call, rules)| (call | X32, rules.clone())).collect();
    rules.extend(others);
    rules.extend((X32_OWN.0..=X32_OWN.1).map(|call| (call | X32, Vec::new())));
    rules
}

#[cfg(not(target_arch = "x86_64"))]
fn with_x32(rules: Rules) -> Rules {
    rules
}

/* A plug-in that tries what --sandbox is to prevent, and refuses its task with the names of what it could do.
 *
 *   judge (its parent's parent) --- warden (its parent) --- this
 *   environment: SECRET, READABLE (files), PLANT (a folder), PORT (TCP), ABSTRACT, SOCKET (of the system), SIGN (a name in /tmp)
 */
#define _GNU_SOURCE
#include "sparse_conformance.h"
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <semaphore.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

uint32_t sc_abi_version(void) { return SC_ABI_VERSION; }

const char *sc_manifest(void) {
    return "{\"protocol\": 1, \"name\": \"prying\", \"supports\": [{\"contracts\": [\"spmv.csr.f32_f32_f32_f32\"]}]}";
}

static char done[4000];

static void note(const char *name, int could) {
    size_t used = strlen(done);
    if (could) snprintf(done + used, sizeof done - used, " %s", name);
}

static const char *given(const char *name) {
    const char *value = getenv(name);
    return value ? value : "";
}

static int parent_of(int pid) {
    char path[64], line[256];
    int parent = -1;
    snprintf(path, sizeof path, "/proc/%d/status", pid);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "PPid: %d", &parent) == 1) break;
    if (file) fclose(file);
    return parent;
}

static int can_read(const char *path) {
    char byte;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    ssize_t count = read(file, &byte, 1);
    close(file);
    return count == 1;
}

static int can_create(const char *path) {
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    if (file < 0) return 0;
    close(file);
    return 1;
}

/* Opening is where the right is asked for; the first mapped byte is then read. */
static int can_read_memory(int pid) {
    char path[64], byte;
    unsigned long start = 0;
    snprintf(path, sizeof path, "/proc/%d/maps", pid);
    FILE *maps = fopen(path, "r");
    int known = maps && fscanf(maps, "%lx", &start) == 1;
    if (maps) fclose(maps);
    snprintf(path, sizeof path, "/proc/%d/mem", pid);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    int could = !known || pread(file, &byte, 1, (off_t)start) == 1;
    close(file);
    return could;
}

/* Of every process but this one that has memory (threads of the kernel have none). */
static int can_read_any_memory(void) {
    DIR *list = opendir("/proc");
    struct dirent *entry;
    int could = 0;
    while (list && !could && (entry = readdir(list))) {
        int pid = atoi(entry->d_name);
        could = pid > 0 && pid != getpid() && can_read_memory(pid);
    }
    if (list) closedir(list);
    return could;
}

static int can_read_of(int pid, const char *what) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", pid, what);
    return can_read(path);
}

static int can_follow(int pid, const char *what) {
    char path[64], target[256];
    snprintf(path, sizeof path, "/proc/%d/%s", pid, what);
    return readlink(path, target, sizeof target) > 0;
}

static int can_copy_memory(int pid) {
    char byte;
    struct iovec own = {&byte, 1}, other = {(void *)4096, 1};
    /* A bad address is found after the right to read. */
    return process_vm_readv(pid, &own, 1, &other, 1, 0) == 1 || errno == EFAULT;
}

/* In a child that ends at once, and lets go with that: who is traced stops at its next signal. */
static int can_trace(int pid) {
    int status = 1;
    pid_t child = fork();
    if (child == 0) _exit(ptrace(PTRACE_SEIZE, pid, 0, 0) == 0 ? 0 : 1);
    waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static int can_limit(int pid) {
    struct rlimit limit;
    return prlimit(pid, RLIMIT_CORE, NULL, &limit) == 0 && prlimit(pid, RLIMIT_CORE, &limit, NULL) == 0;
}

static int can_connect_tcp(void) {
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(given("PORT")))};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int end = socket(AF_INET, SOCK_STREAM, 0);
    int could = end >= 0 && connect(end, (struct sockaddr *)&to, sizeof to) == 0;
    if (end >= 0) close(end);
    return could;
}

static int can_listen_tcp(void) {
    struct sockaddr_in at = {.sin_family = AF_INET};
    int end = socket(AF_INET, SOCK_STREAM, 0);
    int could = end >= 0 && bind(end, (struct sockaddr *)&at, sizeof at) == 0 && listen(end, 1) == 0;
    if (end >= 0) close(end);
    return could;
}

static int can_send_udp(void) {
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(9)};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int end = socket(AF_INET, SOCK_DGRAM, 0);
    int could = end >= 0 && sendto(end, "x", 1, 0, (struct sockaddr *)&to, sizeof to) == 1;
    if (end >= 0) close(end);
    return could;
}

static int can_connect_local(const char *name, int abstract) {
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    size_t start = abstract ? 1 : 0, length = strlen(name);
    memcpy(to.sun_path + start, name, length);
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + start + length + (abstract ? 0 : 1));
    int end = socket(AF_UNIX, SOCK_STREAM, 0);
    int could = end >= 0 && connect(end, (struct sockaddr *)&to, size) == 0;
    if (end >= 0) close(end);
    return could;
}

/* A pair without connections sends to any name. */
static int can_send_local(void) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_DGRAM, 0, ends)) return 0;
    close(ends[0]);
    close(ends[1]);
    return 1;
}

static int can_see_all_sockets(void) {
    int end = socket(AF_NETLINK, SOCK_RAW, 0);
    if (end >= 0) close(end);
    return end >= 0;
}

static int can_ring(void) {
    char parameters[256] = {0};
    long ring = syscall(SYS_io_uring_setup, 1, parameters);
    if (ring >= 0) close((int)ring);
    return ring >= 0;
}

/* Each sets what is set already. */
static int can_prioritise(int pid) { return setpriority(PRIO_PROCESS, pid, getpriority(PRIO_PROCESS, pid)) == 0; }

static int can_prioritise_group(int pid) {
    int group = getpgid(pid);
    return setpriority(PRIO_PGRP, group, getpriority(PRIO_PGRP, group)) == 0;
}

static int can_prioritise_disk(int pid) {
    long now = syscall(SYS_ioprio_get, 1, pid);
    return now >= 0 && syscall(SYS_ioprio_set, 1, pid, now) == 0;
}

static int can_schedule(int pid) {
    struct sched_param parameters;
    return sched_getparam(pid, &parameters) == 0 && sched_setscheduler(pid, sched_getscheduler(pid), &parameters) == 0;
}

static int can_parametrise(int pid) {
    struct sched_param parameters;
    return sched_getparam(pid, &parameters) == 0 && sched_setparam(pid, &parameters) == 0;
}

static int can_set_attributes(int pid) {
    uint32_t attributes[14] = {0};
    return syscall(SYS_sched_getattr, pid, attributes, sizeof attributes, 0) == 0 &&
           syscall(SYS_sched_setattr, pid, attributes, 0) == 0;
}

static int can_bind(int pid) {
    cpu_set_t processors;
    return sched_getaffinity(pid, sizeof processors, &processors) == 0 &&
           sched_setaffinity(pid, sizeof processors, &processors) == 0;
}

/* There is no such thing, and who is told so could have asked for one that there is. */
static int reached(long result) { return result >= 0 || errno == EINVAL || errno == ENOENT; }

static int can_open_stream(const char *path) {
    int file = open(path, O_WRONLY | O_CLOEXEC);
    if (file >= 0) close(file);
    return file >= 0;
}

static int can_name_a_semaphore(void) {
    char name[64];
    snprintf(name, sizeof name, "/prying-%d", getpid());
    sem_t *semaphore = sem_open(name, O_CREAT | O_EXCL, 0600, 1);
    if (semaphore == SEM_FAILED) return 0;
    sem_close(semaphore);
    return sem_unlink(name) == 0;
}

static void of_others_by_number(int judge) {
    struct shmid_ds memory;
    struct msqid_ds messages;
    struct sembuf step = {0, 0, IPC_NOWAIT};
    char path[128];
    note("priority", can_prioritise(judge));
    note("priority-of-group", can_prioritise_group(judge));
    note("priority-of-disk", can_prioritise_disk(judge));
    note("schedule", can_schedule(judge));
    note("schedule-parameters", can_parametrise(judge));
    note("schedule-attributes", can_set_attributes(judge));
    note("shmctl", reached(shmctl(INT_MAX, IPC_STAT, &memory)));
    note("msgctl", reached(msgctl(INT_MAX, IPC_STAT, &messages)));
    note("semctl", reached(semctl(INT_MAX, 0, GETVAL)));
    note("semtimedop", reached(syscall(SYS_semtimedop, INT_MAX, &step, 1, NULL)));
    note("mq_unlink", reached(syscall(SYS_mq_unlink, "prying-there-is-none")));
    snprintf(path, sizeof path, "/dev/shm/%s", given("SIGN"));
    note("others-shm", can_read(path));
}

/* What libraries do that are no misdeeds. */
static void of_its_own(void) {
    note("own-stdout", can_open_stream("/dev/stdout"));
    note("own-stderr", can_open_stream("/dev/stderr"));
    note("own-affinity", can_bind(0) && can_bind((int)syscall(SYS_gettid)));
    note("own-priority", can_prioritise(0) && can_prioritise_disk(0));
    note("own-schedule", can_schedule(0) && can_parametrise(0) && can_set_attributes(0));
    note("own-semaphore", can_name_a_semaphore());
}

/* Whoever removes it must open it first. */
static void close_a_folder(const char *path) {
    char file[4200];
    if (!given("TMPDIR")[0] || mkdir(path, 0700)) return;
    snprintf(file, sizeof file, "%s/file", path);
    note("write-closed", can_create(file) && chmod(path, 0) == 0);
}

static void misdeeds(void) {
    int warden = getppid(), judge = parent_of(warden);
    char path[4096];
    note("memory", can_read_memory(judge));
    note("warden-memory", can_read_memory(warden));
    note("any-memory", can_read_any_memory());
    note("copy", can_copy_memory(judge));
    note("trace", can_trace(judge));
    note("environ", can_read_of(judge, "environ"));
    note("maps", can_read_of(judge, "maps"));
    note("folder-of-judge", can_follow(judge, "cwd"));
    note("descriptors", can_follow(judge, "fd/0"));
    note("signal-judge", kill(judge, 0) == 0);
    note("signal-warden", kill(warden, 0) == 0);
    note("limit-judge", can_limit(judge));
    note("read-secret", can_read(given("SECRET")));
    note("read-readable", can_read(given("READABLE")));
    note("read-folder", can_read("secret"));
    snprintf(path, sizeof path, "%s/planted", given("PLANT"));
    note("write-report", can_create(path));
    note("write-folder", can_create("planted"));
    snprintf(path, sizeof path, "/tmp/%s", given("SIGN"));
    note("write-tmp", can_create(path));
    snprintf(path, sizeof path, "%s/own-%d", given("TMPDIR"), getpid());
    note("write-own", can_create(path));
    snprintf(path, sizeof path, "%s/closed-%d", given("TMPDIR"), getpid());
    close_a_folder(path);
    note("tcp", can_connect_tcp());
    note("listen", can_listen_tcp());
    note("udp", can_send_udp());
    note("netlink", can_see_all_sockets());
    note("abstract", can_connect_local(given("ABSTRACT"), 1));
    note("socket", can_connect_local(given("SOCKET"), 0));
    note("datagrams", can_send_local());
    note("ring", can_ring());
    of_others_by_number(judge);
    of_its_own();
}

int32_t sc_run(const sc_task *task, sc_result *result) {
    (void)task;
    if (!done[0]) {
        snprintf(done, sizeof done, "could:");
        misdeeds();
        size_t used = strlen(done);
        snprintf(done + used, sizeof done - used, " user=%d home=%s", (int)getuid(), given("HOME"));
    }
    return sc_refuse(result, done);
}

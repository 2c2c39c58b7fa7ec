/* Preloaded into the judge's process (LD_PRELOAD), and into no other: fails the n-th call of a kind, as a full disk or a busy machine would.
 *
 *   FAULT=KIND:N:HOW      the N-th call (from 1) of KIND ends as HOW says:  alloc:17:ENOMEM  write:5:short  read:5:EINTR  clock:5:+3600
 *   FAULT=KIND:N:HOW:on   that one, and all later ones
 *   FAULT=storm:N:EINTR   a signal every N microseconds: whatever waits is interrupted, calls that go past the C library as well
 *   FAULT_COUNT=FILE      at exit, how many calls of KIND there were: beyond it there is nothing to fail
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

/* What the wrapped functions are in glibc; asking dlsym for them would call them. */
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t), *__libc_memalign(size_t, size_t);

static char kind[16], how[16], count_file[4096];
static unsigned long at;
static int on, armed;
static atomic_ulong seen;

static void interrupt(int signal) { (void)signal; }

__attribute__((constructor)) static void start(void) {
    const char *fault = getenv("FAULT"), *file = getenv("FAULT_COUNT");
    char rest[8] = "";
    if (fault && sscanf(fault, "%15[^:]:%lu:%15[^:]:%7s", kind, &at, how, rest) >= 3) {
        on = !strcmp(rest, "on");
        if (file) snprintf(count_file, sizeof count_file, "%s", file);
        armed = 1;
    }
    /* What the judge starts is disturbed by nothing. */
    unsetenv("LD_PRELOAD"), unsetenv("FAULT"), unsetenv("FAULT_COUNT");
    if (armed && !strcmp(kind, "storm")) {
        struct sigaction action = {.sa_handler = interrupt}; /* without SA_RESTART */
        struct itimerval every = {{0, (long)at}, {0, (long)at}};
        sigaction(SIGALRM, &action, NULL);
        setitimer(ITIMER_REAL, &every, NULL);
    }
}

__attribute__((destructor)) static void stop(void) {
    char text[32];
    if (!armed || !*count_file) return;
    armed = 0;
    long file = syscall(SYS_openat, AT_FDCWD, count_file, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    int length = snprintf(text, sizeof text, "%lu", (unsigned long)seen);
    if (file >= 0) syscall(SYS_write, file, text, (size_t)length), syscall(SYS_close, file);
}

/* Counts a call; true where it is to fail. */
static int due(const char *name) {
    if (!armed || strcmp(kind, name)) return 0;
    unsigned long number = ++seen;
    return number == at || (on && number > at);
}

static int is(const char *what) { return !strcmp(how, what); }

static int reason(void) {
    return is("EINTR") ? EINTR : is("ENOSPC") ? ENOSPC : is("EMFILE") ? EMFILE : is("EAGAIN") ? EAGAIN : is("EIO") ? EIO : ENOMEM;
}

static int fail(void) { return errno = reason(), -1; }

/* Files are full and break; pipes do neither. Whatever else happens, happens to both. */
static int concerns(int file) {
    struct stat status;
    if (!armed || !(is("ENOSPC") || is("EIO"))) return armed;
    return !fstat(file, &status) && S_ISREG(status.st_mode);
}

void *malloc(size_t size) { return due("alloc") ? errno = ENOMEM, NULL : __libc_malloc(size); }
void *calloc(size_t count, size_t size) { return due("alloc") ? errno = ENOMEM, NULL : __libc_calloc(count, size); }
void *realloc(void *old, size_t size) { return due("alloc") ? errno = ENOMEM, NULL : __libc_realloc(old, size); }
void *aligned_alloc(size_t align, size_t size) { return due("alloc") ? errno = ENOMEM, NULL : __libc_memalign(align, size); }

int posix_memalign(void **out, size_t align, size_t size) {
    void *made = due("alloc") ? NULL : __libc_memalign(align, size);
    if (!made) return ENOMEM;
    *out = made;
    return 0;
}

ssize_t write(int file, const void *bytes, size_t count) {
    if (concerns(file) && due("write")) {
        if (!is("short")) return fail();
        count = count > 1 ? count / 2 : count;
    }
    return syscall(SYS_write, file, bytes, count);
}

ssize_t writev(int file, const struct iovec *parts, int count) {
    if (concerns(file) && due("write")) {
        if (!is("short")) return fail();
        count = count > 1 ? 1 : count;
    }
    return syscall(SYS_writev, file, parts, count);
}

ssize_t read(int file, void *bytes, size_t count) {
    if (concerns(file) && due("read")) {
        if (!is("short")) return fail();
        count = count > 1 ? 1 : count;
    }
    return syscall(SYS_read, file, bytes, count);
}

static int opened(const char *path, int flags, va_list rest) {
    int mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, int) : 0;
    return due("open") ? fail() : (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int open(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    int file = opened(path, flags, rest);
    va_end(rest);
    return file;
}

int open64(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    int file = opened(path, flags | O_LARGEFILE, rest);
    va_end(rest);
    return file;
}

int rename(const char *from, const char *to) {
    return due("rename") ? fail() : (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int fdatasync(int file) { return due("sync") ? fail() : (int)syscall(SYS_fdatasync, file); }
int fsync(int file) { return due("sync") ? fail() : (int)syscall(SYS_fsync, file); }
int unlink(const char *path) { return due("unlink") ? fail() : (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0); }
int pipe2(int ends[2], int flags) { return due("pipe") ? fail() : (int)syscall(SYS_pipe2, ends, flags); }

int clock_gettime(clockid_t clock, struct timespec *time) {
    long result = syscall(SYS_clock_gettime, clock, time);
    if ((clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC) && due("clock")) {
        long jump = atol(how);
        /* A monotonic clock never goes back. */
        if (clock == CLOCK_REALTIME || jump > 0) time->tv_sec += jump;
    }
    return (int)result;
}

int posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes,
                 char *const arguments[], char *const variables[]) {
    __typeof__(&posix_spawnp) real = (__typeof__(real))dlsym(RTLD_NEXT, "posix_spawnp");
    return due("spawn") ? reason() : real(pid, file, actions, attributes, arguments, variables);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument) {
    __typeof__(&pthread_create) real = (__typeof__(real))dlsym(RTLD_NEXT, "pthread_create");
    return due("thread") ? reason() : real(thread, attributes, run, argument);
}

/* Runs a command as an older kernel would: without landlock, without seccomp, or both.
 *
 *     older_kernel landlock|seccomp|both COMMAND...
 *     older_kernel prlimit COMMAND...     as one (or a container) that lets nobody set a limit
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define UNLESS(value, skip) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, skip)
#define GIVE(error) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (error))
#define ALLOW BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

static struct sock_filter no_landlock[] = {LOAD(nr), UNLESS(444, 1), GIVE(ENOSYS), ALLOW};
static struct sock_filter no_seccomp[] = {
    LOAD(nr), UNLESS(SYS_seccomp, 1), GIVE(EINVAL), UNLESS(SYS_prctl, 3), LOAD(args[0]), UNLESS(PR_SET_SECCOMP, 1),
    GIVE(EINVAL), ALLOW,
};

/* Asking for a limit, without a new one, is allowed. */
static struct sock_filter no_prlimit[] = {
    LOAD(nr), UNLESS(SYS_prlimit64, 3), LOAD(args[2]), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0), GIVE(EPERM), ALLOW,
};

static int install(struct sock_filter *filter, size_t length) {
    struct sock_fprog program = {(unsigned short)length, filter};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int main(int count, char **words) {
    if (count < 3) return 2;
    if (strcmp(words[1], "prlimit") == 0) {
        if (install(no_prlimit, sizeof no_prlimit / sizeof *no_prlimit)) return perror("prlimit"), 2;
        execv(words[2], words + 2);
        return perror(words[2]), 2;
    }
    int landlock = strcmp(words[1], "seccomp") != 0, seccomp = strcmp(words[1], "landlock") != 0;
    if (landlock && install(no_landlock, sizeof no_landlock / sizeof *no_landlock)) return perror("landlock"), 2;
    if (seccomp && install(no_seccomp, sizeof no_seccomp / sizeof *no_seccomp)) return perror("seccomp"), 2;
    execv(words[2], words + 2);
    perror(words[2]);
    return 2;
}

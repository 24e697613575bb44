// Runs a program in a sandbox that answers some system calls with an error, as seccomp profiles of containers do.
//
//     deny ERRNO CALL[,CALL...] PROGRAM ARGUMENT...
//
// ERRNO is a number of <errno.h>. A call that this architecture does not have is left out; exit code 125 says that
// the filter could not be set, or that a name is not known here.
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
    const char *name;
    int number;
} calls[] = {
    {"clone3", SYS_clone3}, {"copy_file_range", SYS_copy_file_range}, {"dup3", SYS_dup3},
    {"faccessat2", SYS_faccessat2},
    {"fadvise64", SYS_fadvise64}, {"fallocate", SYS_fallocate}, {"fchmod", SYS_fchmod},
    {"fchmodat", SYS_fchmodat}, {"fchown", SYS_fchown}, {"fdatasync", SYS_fdatasync},
    {"fgetxattr", SYS_fgetxattr}, {"flock", SYS_flock}, {"fremovexattr", SYS_fremovexattr},
    {"fsetxattr", SYS_fsetxattr}, {"fstatfs", SYS_fstatfs}, {"fsync", SYS_fsync},
    {"ftruncate", SYS_ftruncate}, {"getdents64", SYS_getdents64}, {"ioprio_set", SYS_ioprio_set},
    {"linkat", SYS_linkat}, {"mkdirat", SYS_mkdirat}, {"openat2", SYS_openat2},
    {"pwrite64", SYS_pwrite64}, {"renameat2", SYS_renameat2}, {"statx", SYS_statx},
    {"sync_file_range", SYS_sync_file_range}, {"unlinkat", SYS_unlinkat}, {"utimensat", SYS_utimensat},
#ifdef SYS_renameat
    {"renameat", SYS_renameat},
#else
    {"renameat", -1},
#endif
};

static int number_of(const char *name) {
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (!strcmp(calls[i].name, name)) return calls[i].number;
    fprintf(stderr, "deny: %s is not known\n", name);
    exit(125);
}

int main(int count, char *arguments[]) {
    enum { MOST = 64 };
    struct sock_filter filter[MOST + 4];
    unsigned short length = 0;
    if (count < 4) return 125;
    const unsigned error = (unsigned)atoi(arguments[1]);
    filter[length++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (char *name = strtok(arguments[2], ","); name && length < MOST; name = strtok(NULL, ",")) {
        const int number = number_of(name);
        if (number < 0) continue;
        filter[length++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, 1);
        filter[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (error & SECCOMP_RET_DATA));
    }
    filter[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    const struct sock_fprog program = {length, filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
        perror("deny");
        return 125;
    }
    execv(arguments[3], arguments + 3);
    perror(arguments[3]);
    return 125;
}

// Makes calls on the files of one folder fail; loaded into a program by LD_PRELOAD, built by the tests
// (Tests/EndToEndTests/Disks/DiskFaults.swift). Calls on anything else, such as sockets and pipes, are left
// alone.
//
// FAULTS_FOLDER: the folder, as realpath(3) gives it.
// FAULTS_LOG: a file that gets a line `CALL ROLE` for every call.
// FAULTS_WHEN: a path; as long as nothing stands there, the rules hit nothing and count nothing.
// FAULTS: rules, separated by spaces: CALL:ROLE:NTH:COUNT:WHAT
//   CALL   the function's name, or `*`; ROLE what it was called on: part, manifest, rewrite, folder or file,
//          or `*` for each of them
//   NTH    the first call that is hit, from 1; COUNT how many are, 0 for all that follow
//   WHAT   a number of <errno.h>, with which it fails without having done anything (close(2) closes);
//          or `byte`, `half`: at most so much is read or written; or `lose:ERRNO`: as ERRNO, and the
//          first half of the file is zeros from then on, as after a failed fsync(2); or `after:ERRNO`:
//          as ERRNO, although the call was carried out; or `lie`: it succeeds without having done
//          anything; or `wait:MS`: it takes so many milliseconds longer; or `kill`: the process ends
//          there, as by SIGKILL
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { RULES = 16 };

static struct rule {
    char call[24], role[16];
    int nth, count, error;
    int limit;  // 1: one byte; 2: half
    int lose, kill, after, wait, lie;
    atomic_int seen;
} rules[RULES];
static int rule_count, log_file = -1;
static char folder[PATH_MAX], when[PATH_MAX];

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("FAULTS_FOLDER"), *text = getenv("FAULTS"), *log = getenv("FAULTS_LOG");
    if (!path) return;
    if (log) {
        int opened = (int)syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC,
                                  0600);
        // Away from the low numbers, which a program may count on.
        log_file = (int)syscall(SYS_fcntl, opened, F_DUPFD_CLOEXEC, 500);
        syscall(SYS_close, opened);
    }
    while (text && rule_count < RULES) {
        struct rule *rule = &rules[rule_count];
        char what[24];
        text += strspn(text, " ");
        if (sscanf(text, "%23[^:]:%15[^:]:%d:%d:%23[^ ]", rule->call, rule->role, &rule->nth,
                   &rule->count, what) != 5)
            break;
        rule->limit = !strcmp(what, "byte") ? 1 : !strcmp(what, "half") ? 2 : 0;
        rule->kill = !strcmp(what, "kill");
        rule->lose = !strncmp(what, "lose:", 5);
        rule->after = !strncmp(what, "after:", 6);
        rule->lie = !strcmp(what, "lie");
        rule->wait = strncmp(what, "wait:", 5) ? 0 : atoi(what + 5);
        rule->error = rule->wait ? 0 : atoi(what + (rule->lose ? 5 : rule->after ? 6 : 0));
        rule_count++;
        text += strcspn(text, " ");
    }
    if (getenv("FAULTS_WHEN")) snprintf(when, sizeof when, "%s", getenv("FAULTS_WHEN"));
    snprintf(folder, sizeof folder, "%s", path);
    // Programs that this one starts are not meant.
    unsetenv("FAULTS_FOLDER");
    unsetenv("LD_PRELOAD");
}

static int ends_with(const char *text, const char *end) {
    size_t a = strlen(text), b = strlen(end);
    return a >= b && !strcmp(text + a - b, end);
}

// The role of a path, without a mark of the kernel's that it is deleted; NULL where it is not meant.
static const char *role_of(char *path) {
    size_t length = strlen(folder);
    if (!length) return NULL;
    if (ends_with(path, " (deleted)")) path[strlen(path) - 10] = 0;
    if (strncmp(path, folder, length)) return NULL;
    if (!path[length]) return "folder";
    if (path[length] != '/') return NULL;
    return ends_with(path, ".segget~")  ? "rewrite"
           : ends_with(path, ".segget") ? "manifest"
           : ends_with(path, ".part")   ? "part"
                                        : "file";
}

static const char *role_of_descriptor(int fd) {
    char link[40], path[PATH_MAX];
    if (!folder[0] || fd < 0) return NULL;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t count = syscall(SYS_readlinkat, AT_FDCWD, link, path, sizeof path - 1);
    if (count <= 0) return NULL;
    path[count] = 0;
    return role_of(path);
}

static const char *role_of_name(int at, const char *name) {
    char path[PATH_MAX], link[40];
    if (!folder[0]) return NULL;
    if (name[0] == '/') {
        snprintf(path, sizeof path, "%s", name);
        return role_of(path);
    }
    snprintf(link, sizeof link, at == AT_FDCWD ? "/proc/self/cwd" : "/proc/self/fd/%d", at);
    ssize_t count = syscall(SYS_readlinkat, AT_FDCWD, link, path, sizeof path - 1);
    if (count <= 0) return NULL;
    path[count] = 0;
    if (strcmp(name, ".")) snprintf(path + count, sizeof path - count, "/%s", name);
    return role_of(path);
}

// The rule that hits this call, after it has been counted.
static struct rule *hit(const char *call, const char *role) {
    struct rule *found = NULL;
    if (!role) return NULL;
    if (log_file >= 0) {
        char line[64];
        int count = snprintf(line, sizeof line, "%s %s\n", call, role);
        (void)!syscall(SYS_write, log_file, line, count);
    }
    if (when[0] && syscall(SYS_faccessat, AT_FDCWD, when, F_OK)) return NULL;
    for (int i = 0; i < rule_count; i++) {
        struct rule *rule = &rules[i];
        if ((strcmp(rule->call, call) && strcmp(rule->call, "*"))
            || (strcmp(rule->role, "*") && strcmp(rule->role, role)))
            continue;
        int number = atomic_fetch_add(&rule->seen, 1) + 1;
        if (number < rule->nth || (rule->count && number >= rule->nth + rule->count)) continue;
        if (rule->kill) syscall(SYS_kill, getpid(), SIGKILL);
        if (rule->wait) usleep(rule->wait * 1000);
        if (!found) found = rule;
    }
    return found;
}

static void lose(int fd) {
    struct stat status;
    char zeros[4096] = {0};
    if (syscall(SYS_fstat, fd, &status)) return;
    for (off_t at = 0; at < status.st_size / 2; at += sizeof zeros)
        (void)!syscall(SYS_pwrite64, fd, zeros, sizeof zeros, at);
}

static size_t shorter(const struct rule *rule, size_t count) {
    return rule->limit == 1 ? (count ? 1 : 0) : (count + 1) / 2;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

// The body of a call that fails or is done; `role` must not touch errno where it does not fail.
#define CALL(name, role_expression, ...)                                                         \
    int before = errno;                                                                          \
    struct rule *rule = hit(#name, role_expression);                                             \
    errno = before;                                                                              \
    if (rule && rule->lie) return 0;                                                             \
    if (rule && rule->error) {                                                                   \
        if (rule->after) REAL(name)(__VA_ARGS__);                                                \
        errno = rule->error;                                                                     \
        return -1;                                                                               \
    }                                                                                            \
    return REAL(name)(__VA_ARGS__)

#define TRANSFER(name, fd, count, ...)                                                           \
    int before = errno;                                                                          \
    struct rule *rule = hit(#name, role_of_descriptor(fd));                                      \
    errno = before;                                                                              \
    if (rule && rule->error) {                                                                   \
        errno = rule->error;                                                                     \
        return -1;                                                                               \
    }                                                                                            \
    if (rule && rule->limit) count = shorter(rule, count);                                       \
    return REAL(name)(__VA_ARGS__)

#define SYNC(name, fd)                                                                           \
    int before = errno;                                                                          \
    struct rule *rule = hit(#name, role_of_descriptor(fd));                                      \
    errno = before;                                                                              \
    if (rule && rule->error) {                                                                   \
        if (rule->lose) lose(fd);                                                                \
        errno = rule->error;                                                                     \
        return -1;                                                                               \
    }                                                                                            \
    return REAL(name)(fd)

static int mode_of(int flags, va_list list) {
    return flags & (O_CREAT | O_TMPFILE) ? va_arg(list, int) : 0;
}

int open(const char *path, int flags, ...) {
    va_list list;
    va_start(list, flags);
    int mode = mode_of(flags, list);
    va_end(list);
    CALL(open, role_of_name(AT_FDCWD, path), path, flags, mode);
}

int openat(int at, const char *path, int flags, ...) {
    va_list list;
    va_start(list, flags);
    int mode = mode_of(flags, list);
    va_end(list);
    CALL(openat, role_of_name(at, path), at, path, flags, mode);
}

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t at) {
    TRANSFER(pwrite, fd, count, fd, bytes, count, at);
}

ssize_t write(int fd, const void *bytes, size_t count) {
    TRANSFER(write, fd, count, fd, bytes, count);
}

ssize_t pread(int fd, void *bytes, size_t count, off_t at) {
    TRANSFER(pread, fd, count, fd, bytes, count, at);
}

ssize_t copy_file_range(int from, off_t *a, int to, off_t *b, size_t count, unsigned flags) {
    TRANSFER(copy_file_range, to, count, from, a, to, b, count, flags);
}

int fsync(int fd) { SYNC(fsync, fd); }

int fdatasync(int fd) { SYNC(fdatasync, fd); }

int ftruncate(int fd, off_t length) { CALL(ftruncate, role_of_descriptor(fd), fd, length); }

int fallocate(int fd, int mode, off_t offset, off_t length) {
    CALL(fallocate, role_of_descriptor(fd), fd, mode, offset, length);
}

int posix_fadvise(int fd, off_t offset, off_t length, int advice) {
    hit("posix_fadvise", role_of_descriptor(fd));
    return REAL(posix_fadvise)(fd, offset, length, advice);
}

int renameat(int a, const char *from, int b, const char *to) {
    CALL(renameat, role_of_name(b, to), a, from, b, to);
}

int renameat2(int a, const char *from, int b, const char *to, unsigned flags) {
    CALL(renameat2, role_of_name(b, to), a, from, b, to, flags);
}

int linkat(int a, const char *from, int b, const char *to, int flags) {
    CALL(linkat, role_of_name(b, to), a, from, b, to, flags);
}

int mkdirat(int at, const char *path, mode_t mode) {
    CALL(mkdirat, role_of_name(at, path), at, path, mode);
}

int unlinkat(int at, const char *path, int flags) {
    CALL(unlinkat, role_of_name(at, path), at, path, flags);
}

int fstat(int fd, struct stat *status) { CALL(fstat, role_of_descriptor(fd), fd, status); }

int fstatat(int at, const char *restrict path, struct stat *restrict status, int flags) {
    CALL(fstatat, role_of_name(at, path), at, path, status, flags);
}

int fstatvfs(int fd, struct statvfs *status) { CALL(fstatvfs, role_of_descriptor(fd), fd, status); }

int fchmod(int fd, mode_t mode) { CALL(fchmod, role_of_descriptor(fd), fd, mode); }

int futimens(int fd, const struct timespec times[2]) {
    CALL(futimens, role_of_descriptor(fd), fd, times);
}

int flock(int fd, int operation) { CALL(flock, role_of_descriptor(fd), fd, operation); }

int dup3(int from, int to, int flags) { CALL(dup3, role_of_descriptor(from), from, to, flags); }

int fsetxattr(int fd, const char *name, const void *value, size_t size, int flags) {
    CALL(fsetxattr, role_of_descriptor(fd), fd, name, value, size, flags);
}

ssize_t fgetxattr(int fd, const char *name, void *value, size_t size) {
    CALL(fgetxattr, role_of_descriptor(fd), fd, name, value, size);
}

int fremovexattr(int fd, const char *name) {
    CALL(fremovexattr, role_of_descriptor(fd), fd, name);
}

int close(int fd) {
    int before = errno;
    struct rule *rule = hit("close", role_of_descriptor(fd));
    errno = before;
    int result = REAL(close)(fd);
    if (rule && rule->error) {
        errno = rule->error;
        return -1;
    }
    return result;
}

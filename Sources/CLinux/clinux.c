#define _GNU_SOURCE
#include "clinux.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <linux/capability.h>
#include <linux/ioprio.h>
#include <linux/magic.h>
#include <linux/rtnetlink.h>
#include <linux/tcp.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

int segget_rename_noreplace(int folder, const char *from, const char *to) {
    return renameat2(folder, from, folder, to, RENAME_NOREPLACE);
}

int segget_move(int from_folder, const char *from, int to_folder, const char *to) {
    if (renameat2(from_folder, from, to_folder, to, RENAME_NOREPLACE) == 0) return 0;
    if (errno != EINVAL && errno != ENOSYS && errno != EOPNOTSUPP && errno != EPERM) return -1;
    return renameat(from_folder, from, to_folder, to);
}

int segget_move_noreplace(int from_folder, const char *from, int to_folder, const char *to) {
    return renameat2(from_folder, from, to_folder, to, RENAME_NOREPLACE);
}

int segget_is_being_written(int fd) {
    // When another process opens the file, the kernel sends a signal to the lease holder. SIGURG is
    // ignored by default; SIGIO would end the process.
    if (fcntl(fd, F_SETSIG, SIGURG) != 0) return 0;
    if (fcntl(fd, F_SETLEASE, F_RDLCK) != 0) return errno == EAGAIN;
    fcntl(fd, F_SETLEASE, F_UNLCK);
    return 0;
}

off_t segget_next_data(int fd, off_t offset) { return lseek(fd, offset, SEEK_DATA); }

off_t segget_next_hole(int fd, off_t offset) { return lseek(fd, offset, SEEK_HOLE); }

int segget_fallocate(int fd, off_t length) { return fallocate(fd, 0, 0, length); }

int segget_start_writeback(int fd) {
    return sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE);
}

int segget_is_in_memory(int fd) {
    struct statfs status;
    return fstatfs(fd, &status) == 0 && status.f_type == TMPFS_MAGIC;
}

static int64_t read_date(const char *text) {
    struct tm parts = {0};
    // No code changes the locale, so the month names are those of "C".
    const char *end = strptime(text, "%a, %d %b %Y %H:%M:%S GMT", &parts);
    if (end == NULL || *end != 0 || parts.tm_year < 70 || parts.tm_sec > 59) return -1;
    return timegm(&parts);
}

int64_t segget_read_date(const char *text) {
    // strptime(3) takes microseconds. `Date` is the same in all responses of a second, and several
    // callers read the `Last-Modified` of one response.
    static _Thread_local struct {
        char text[32];
        int64_t seconds;
    } known[2];
    static _Thread_local unsigned next;
    for (int i = 0; i < 2; i++)
        if (known[i].text[0] != 0 && strcmp(known[i].text, text) == 0) return known[i].seconds;
    const int64_t seconds = read_date(text);
    if (strlen(text) >= sizeof known[0].text) return seconds;
    strcpy(known[next % 2].text, text);
    known[next++ % 2].seconds = seconds;
    return seconds;
}

int segget_replace_descriptor(int from, int to) {
    if (dup3(from, to, O_CLOEXEC) >= 0) return 0;
    return errno == ENOSYS && dup2(from, to) >= 0 && !fcntl(to, F_SETFD, FD_CLOEXEC) ? 0 : -1;
}

int segget_set_modified(int fd, int64_t seconds) {
    const struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = (time_t)seconds}};
    return futimens(fd, times);
}

ssize_t segget_copy_range(int from, off_t start, int to, off_t place, size_t length) {
    return copy_file_range(from, &start, to, &place, length, 0);
}

int segget_set_attribute(int fd, const char *name, const void *value, size_t length) {
    return fsetxattr(fd, name, value, length, 0);
}

ssize_t segget_get_attribute(int fd, const char *name, void *value, size_t length) {
    return fgetxattr(fd, name, value, length);
}

int segget_remove_attribute(int fd, const char *name) { return fremovexattr(fd, name); }

void segget_name_thread(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }

int segget_take_idle_disk_priority(void) {
    // 0 is the calling thread, not the process.
    return (int)syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, 0,
                        IOPRIO_PRIO_VALUE(IOPRIO_CLASS_IDLE, 0));
}

int segget_stay_nice(void) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3];
    if (syscall(SYS_capget, &header, sets) != 0) return -1;
    uint32_t kept = ~CAP_TO_MASK(CAP_SYS_NICE);
    struct __user_cap_data_struct *set = &sets[CAP_TO_INDEX(CAP_SYS_NICE)];
    set->effective &= kept;
    set->permitted &= kept;
    return (int)syscall(SYS_capset, &header, sets);
}

// Starts a program with these standard descriptors and no others. `flags` are those of
// posix_spawnattr_setflags(3), for the process group or session.
static int spawn(const char *path, char *const arguments[], char *const environment[], int input,
                 int output, int errors, short flags, pid_t *pid) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, ours;
    sigemptyset(&none);
    sigemptyset(&ours);
    sigaddset(&ours, SIGPIPE);
    sigaddset(&ours, SIGXFSZ);
    int error = posix_spawn_file_actions_init(&actions);
    if (error) return error;
    error = posix_spawnattr_init(&attributes);
    if (!error) {
        error = posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
        if (!error) error = posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
        if (!error) error = posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO);
        if (!error) error = posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
        if (!error) error = posix_spawnattr_setpgroup(&attributes, 0);
        if (!error) error = posix_spawnattr_setsigmask(&attributes, &none);
        if (!error) error = posix_spawnattr_setsigdefault(&attributes, &ours);
        if (!error)
            error = posix_spawnattr_setflags(
                &attributes, flags | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
        if (!error) error = posix_spawnp(pid, path, &actions, &attributes, arguments, environment);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

int segget_spawn(char *const arguments[], char *const environment[], int input, int output,
                 int errors, int in_group, pid_t *pid) {
    return spawn(arguments[0], arguments, environment, input, output, errors,
                 in_group ? POSIX_SPAWN_SETPGROUP : 0, pid);
}

int segget_spawn_session(const char *path, char *const arguments[], char *const environment[],
                         int input, int output, pid_t *pid) {
    return spawn(path, arguments, environment, input, output, output, POSIX_SPAWN_SETSID, pid);
}

// Runs in the child of segget_spawn_bound, which shares the memory of its parent. Only system calls
// are allowed here.
static int become(const char *path, char *const arguments[], char *const environment[], int input,
                  int output, pid_t parent) {
    const int defaults[] = {SIGPIPE, SIGXFSZ};
    for (unsigned i = 0; i < sizeof defaults / sizeof *defaults; i++) signal(defaults[i], SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0)) return errno;
    // The parent may have ended before the call of prctl.
    if (getppid() != parent) return ESRCH;
    if (dup2(input, STDIN_FILENO) < 0 || dup2(output, STDOUT_FILENO) < 0 ||
        dup2(output, STDERR_FILENO) < 0 || close_range(STDERR_FILENO + 1, ~0U, 0))
        return errno;
    // A program that is killed or aborts leaves no core dump.
    const struct rlimit no_core = {0, 0};
    if (setrlimit(RLIMIT_CORE, &no_core)) return errno;
    if (sigprocmask(SIG_SETMASK, &none, NULL)) return errno;
    execve(path, arguments, environment);
    return errno;
}

int segget_spawn_bound(const char *path, char *const arguments[], char *const environment[],
                       int input, int output, pid_t *pid) {
    volatile int error = 0;
    sigset_t all, before;
    sigfillset(&all);
    // The child shares our memory: it must not run our signal handlers.
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const pid_t parent = getpid();
    const pid_t child = vfork();
    if (child == 0) {
        error = become(path, arguments, environment, input, output, parent);
        _exit(127);
    }
    const int failed = child < 0 ? errno : error;
    if (child > 0 && failed) waitpid(child, NULL, 0);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    *pid = child;
    return failed;
}

int segget_open_process(pid_t pid) { return (int)syscall(SYS_pidfd_open, pid, 0); }

int segget_memory_file(const char *name) { return memfd_create(name, MFD_CLOEXEC); }

int segget_read_tcp_state(int fd, struct segget_tcp_state *state) {
    struct tcp_info info;
    socklen_t length = sizeof info;
    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length)) return -1;
    // Kernels before 5.4 do not fill in all members.
    if (length < offsetof(struct tcp_info, tcpi_rcv_ooopack) + sizeof info.tcpi_rcv_ooopack) {
        errno = EOPNOTSUPP;
        return -1;
    }
    state->segments = info.tcpi_data_segs_in;
    state->disordered = info.tcpi_rcv_ooopack;
    state->round_trip = info.tcpi_rcv_rtt;
    state->sent_round_trip = info.tcpi_rtt;
    return 0;
}

int segget_read_ends(int fd, uint16_t *port, char *address) {
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } end;
    socklen_t length = sizeof end;
    if (getsockname(fd, &end.any, &length)) return -1;
    *port = ntohs(end.any.sa_family == AF_INET6 ? end.v6.sin6_port : end.v4.sin_port);
    length = sizeof end;
    if (getpeername(fd, &end.any, &length)) return -1;
    const int family = end.any.sa_family;
    const void *bytes = family == AF_INET6 ? (void *)&end.v6.sin6_addr : &end.v4.sin_addr;
    return inet_ntop(family, bytes, address, INET6_ADDRSTRLEN) ? 0 : -1;
}

int segget_nameless_file(int folder, mode_t mode) {
    return openat(folder, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
}

int segget_name_file(int fd, int folder, const char *name) {
    // Faster, because the kernel looks up no path. Before Linux 6.10 it needs CAP_DAC_READ_SEARCH, and
    // fails with ENOENT without it.
    static _Atomic int is_refused;
    if (!is_refused) {
        if (linkat(fd, "", folder, name, AT_EMPTY_PATH) == 0) return 0;
        if (errno != ENOENT) return -1;
        is_refused = 1;
    }
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return linkat(AT_FDCWD, path, folder, name, AT_SYMLINK_FOLLOW);
}

void segget_start_writing(int fd) { (void)sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE); }

int segget_open_route_changes(void) {
    const int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
    if (fd < 0) return -1;
    const struct sockaddr_nl name = {
        .nl_family = AF_NETLINK,
        .nl_groups = RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_IFADDR |
                     RTMGRP_IPV6_ROUTE,
    };
    if (bind(fd, (const struct sockaddr *)&name, sizeof name) == 0) return fd;
    const int error = errno;
    close(fd);
    errno = error;
    return -1;
}

void segget_forget_route_changes(int fd) {
    char buffer[8192];
    // ENOBUFS: the queue overflowed. The socket reports that once.
    while (recv(fd, buffer, sizeof buffer, MSG_DONTWAIT) > 0 || errno == EINTR || errno == ENOBUFS) {
    }
}

int segget_has_route(const char *address) {
    const struct addrinfo hints = {
        .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV, .ai_socktype = SOCK_DGRAM};
    struct addrinfo *found;
    // Port 9, the discard service (RFC 863); nothing is sent.
    if (getaddrinfo(address, "9", &hints, &found) != 0) return -1;
    int has_route = 1;
    int fd = socket(found->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, found->ai_addr, found->ai_addrlen) != 0) {
        switch (errno) {
            // EINVAL and EACCES are the errors of blackhole and prohibit routes.
            case ENETUNREACH: case EHOSTUNREACH: case ENETDOWN: case EADDRNOTAVAIL: case EAFNOSUPPORT:
            case EINVAL: case EACCES:
                has_route = 0;
        }
    }
    if (fd >= 0) close(fd);
    freeaddrinfo(found);
    return has_route;
}

int segget_open_boot_timer(void) {
    return timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
}

int segget_set_boot_timer(int fd, double seconds) {
    struct itimerspec at = {0};
    at.it_value.tv_sec = (time_t)seconds;
    at.it_value.tv_nsec = (long)((seconds - (double)at.it_value.tv_sec) * 1e9);
    return timerfd_settime(fd, TFD_TIMER_ABSTIME, &at, NULL);
}

int segget_open_clock_changes(void) {
    const int fd = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK);
    if (fd < 0 || segget_forget_clock_changes(fd) == 0) return fd;
    const int error = errno;
    close(fd);
    errno = error;
    return -1;
}

int segget_forget_clock_changes(int fd) {
    // Never expires in practice: the timer is only cancelled, by a change of the clock.
    const struct itimerspec never = {.it_value = {.tv_sec = INT32_MAX * (int64_t)16}};
    return timerfd_settime(fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &never, NULL);
}

int segget_open_event(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

int segget_raise_event(int fd) { return eventfd_write(fd, 1); }

int segget_peer_user(int fd, uid_t *user) {
    struct ucred peer;
    socklen_t length = sizeof peer;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length)) return -1;
    *user = peer.uid;
    return 0;
}

// getopt_long keeps its state in global variables.
static pthread_mutex_t reading = PTHREAD_MUTEX_INITIALIZER;

// The value that getopt_long returns for the first option.
enum { first_option = 256 };

static int option_of(int result, int options, const int letters[]) {
    if (result >= first_option) return result - first_option;
    for (int i = 0; i < options; i++)
        if (letters[i] != 0 && letters[i] == result) return i;
    return -1;
}

struct segget_command_line segget_read_command_line(
    int count, char *arguments[], int options, const char *const names[], const int letters[],
    const int kinds[], struct segget_found_option found[]) {
    struct segget_command_line result = {.rest = count, .option = -1};
    struct option *known = calloc((size_t)options + 1, sizeof *known);
    char *short_names = malloc((size_t)options * 3 + 2), *end = short_names;
    if (known == NULL || short_names == NULL) abort();
    // With a leading colon, getopt_long distinguishes missing arguments from unknown options.
    *end++ = ':';
    for (int i = 0; i < options; i++) {
        known[i] = (struct option){names[i], kinds[i], NULL, first_option + i};
        if (letters[i] == 0) continue;
        *end++ = (char)letters[i];
        for (int colon = 0; colon < kinds[i]; colon++) *end++ = ':';
    }
    *end = '\0';
    pthread_mutex_lock(&reading);
    optind = 0;
    opterr = 0;
    for (;;) {
        int next = getopt_long(count, arguments, short_names, known, NULL);
        if (next == -1) break;
        if (next == '?' || next == ':') {
            result.problem = next;
            result.option = option_of(optopt, options, letters);
            result.letter = optopt > 0 && optopt < first_option ? optopt : 0;
            result.place = optind - 1;
            break;
        }
        found[result.count++] =
            (struct segget_found_option){option_of(next, options, letters), optarg};
    }
    result.rest = optind;
    pthread_mutex_unlock(&reading);
    free(known);
    free(short_names);
    return result;
}

int segget_open_beneath(int folder, const char *path, int flags) {
    struct open_how how = {
        .flags = (unsigned)flags | O_CLOEXEC,
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
    };
    return (int)syscall(SYS_openat2, folder, path, &how, sizeof how);
}

#define _GNU_SOURCE
#include "ctestsupport.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/ioprio.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

int segget_test_spawn_chdir(posix_spawn_file_actions_t *actions, const char *path) {
    return posix_spawn_file_actions_addchdir_np(actions, path);
}

int segget_test_spawn_close_from(posix_spawn_file_actions_t *actions, int first) {
    return posix_spawn_file_actions_addclosefrom_np(actions, first);
}

short segget_test_poll_peer_closed(void) { return POLLRDHUP; }

int segget_test_enter_network(const char *path) {
    int ours = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
    int theirs = open(path, O_RDONLY | O_CLOEXEC);
    int entered = ours >= 0 && theirs >= 0 && setns(theirs, CLONE_NEWNET) == 0;
    int code = errno;
    if (theirs >= 0) close(theirs);
    if (!entered && ours >= 0) close(ours);
    errno = code;
    return entered ? ours : -1;
}

int segget_test_is_disk_idle(int thread) {
    long priority = syscall(SYS_ioprio_get, IOPRIO_WHO_PROCESS, thread);
    return priority >= 0 && IOPRIO_PRIO_CLASS(priority) == IOPRIO_CLASS_IDLE;
}

void segget_test_leave_network(int ours) {
    // A thread that stays in another namespace would spoil every later test.
    if (setns(ours, CLONE_NEWNET) != 0) abort();
    close(ours);
}

int segget_test_socket_in(const char *path, int domain, int type) {
    int ours = segget_test_enter_network(path);
    if (ours < 0) return -1;
    int made = socket(domain, type | SOCK_CLOEXEC, 0);
    int code = errno;
    segget_test_leave_network(ours);
    errno = code;
    return made;
}

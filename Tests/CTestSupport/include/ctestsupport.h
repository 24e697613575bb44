// What Swift's Glibc does not show and only the tests need: calls behind _GNU_SOURCE.
#ifndef SEGGET_CTESTSUPPORT_H
#define SEGGET_CTESTSUPPORT_H

#include <spawn.h>

// The child changes into `path` (posix_spawn_file_actions_addchdir_np). Returns 0 or an errno.
int segget_test_spawn_chdir(posix_spawn_file_actions_t *actions, const char *path);

// The child inherits no descriptor from `first` on (posix_spawn_file_actions_addclosefrom_np), so
// that a child never keeps a socket or pipe of the tests open. Returns 0 or an errno.
int segget_test_spawn_close_from(posix_spawn_file_actions_t *actions, int first);

// POLLRDHUP of poll(2): the peer has closed its writing side.
short segget_test_poll_peer_closed(void);

// A socket in the network namespace at `path` (setns(2), for as long as that takes on this thread).
// Returns -1 and sets errno.
int segget_test_socket_in(const char *path, int domain, int type);

// Has the calling thread enter the network namespace at `path` (setns(2)). Returns a descriptor of the one
// that it was in, for segget_test_leave_network, or -1 with errno.
int segget_test_enter_network(const char *path);

// Whether the disk serves a thread only when nobody else wants anything of it (ioprio_get(2)); 0 is the
// calling one.
int segget_test_is_disk_idle(int thread);

// Has the calling thread go back.
void segget_test_leave_network(int ours);

#endif

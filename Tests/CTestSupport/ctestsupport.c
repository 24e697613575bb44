#define _GNU_SOURCE
#include "ctestsupport.h"

#include <poll.h>

int segget_test_spawn_chdir(posix_spawn_file_actions_t *actions, const char *path) {
    return posix_spawn_file_actions_addchdir_np(actions, path);
}

int segget_test_spawn_close_from(posix_spawn_file_actions_t *actions, int first) {
    return posix_spawn_file_actions_addclosefrom_np(actions, first);
}

short segget_test_poll_peer_closed(void) { return POLLRDHUP; }

#define _GNU_SOURCE
#include "clinux.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

int segget_rename_noreplace(int folder, const char *from, const char *to) {
    return renameat2(folder, from, folder, to, RENAME_NOREPLACE);
}

int segget_fallocate(int fd, off_t length) { return fallocate(fd, 0, 0, length); }

int segget_replace_descriptor(int from, int to) { return dup3(from, to, O_CLOEXEC) < 0 ? -1 : 0; }

int segget_set_modified(int fd, int64_t seconds) {
    const struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = (time_t)seconds}};
    return futimens(fd, times);
}

void segget_name_thread(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }

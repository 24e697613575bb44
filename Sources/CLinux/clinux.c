#define _GNU_SOURCE
#include "clinux.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
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

ssize_t segget_copy_range(int from, int to, off_t offset, size_t length) {
    off_t source = offset, target = offset;
    return copy_file_range(from, &source, to, &target, length, 0);
}

int segget_set_attribute(int fd, const char *name, const void *value, size_t length) {
    return fsetxattr(fd, name, value, length, 0);
}

ssize_t segget_get_attribute(int fd, const char *name, void *value, size_t length) {
    return fgetxattr(fd, name, value, length);
}

int segget_remove_attribute(int fd, const char *name) { return fremovexattr(fd, name); }

void segget_name_thread(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }

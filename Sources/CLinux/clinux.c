#define _GNU_SOURCE
#include "clinux.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/prctl.h>

int segget_rename_noreplace(int folder, const char *from, const char *to) {
    return renameat2(folder, from, folder, to, RENAME_NOREPLACE);
}

int segget_fallocate(int fd, off_t length) { return fallocate(fd, 0, 0, length); }

void segget_name_thread(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }

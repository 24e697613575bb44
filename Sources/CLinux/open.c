// open(2) where /proc is not mounted.
//
// Once a second libdispatch reads from /proc/TID/stat whether its threads are running, and traps where it cannot open
// that (src/event/workqueue.c of swift-corelibs-libdispatch). A definition in the program goes before the one of the C
// library (ld.so(8)), so libdispatch calls this one. There it reads that a thread is running, and starts no other one.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

// Whether a path is /proc/NUMBER/stat.
static int is_thread(const char *path) {
    int number, length = 0;
    return sscanf(path, "/proc/%d/stat%n", &number, &length) == 1 && length > 0 && !path[length];
}

int open(const char *path, int flags, ...) {
    mode_t mode = 0;
    if (flags & (O_CREAT | __O_TMPFILE)) {
        va_list rest;
        va_start(rest, flags);
        mode = va_arg(rest, mode_t);
        va_end(rest);
    }
    // Of the C library, or of what is loaded before it (LD_PRELOAD).
    static int (*next)(const char *, int, ...);
    if (!next) next = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open");
    if (!next) {
        errno = ENOSYS;
        return -1;
    }
    int file = next(path, flags, mode);
    if (file >= 0 || errno != ENOENT || !is_thread(path) || access("/proc/self", F_OK) == 0)
        return file;
    static const char running[] = "1 (segget) R 1\n";
    file = memfd_create("stat", MFD_CLOEXEC);
    if (file >= 0 && pwrite(file, running, sizeof running - 1, 0) < 0) {
        close(file);
        return -1;
    }
    return file;
}

// Replaces open(2), so that the program runs where /proc is not mounted.
//
// Once per second, libdispatch reads from /proc/TID/stat whether its threads are running, and traps
// if the file cannot be opened (src/event/workqueue.c of swift-corelibs-libdispatch). The dynamic
// linker prefers a definition in the program to that of the C library (ld.so(8)). Here libdispatch
// reads that the thread is running, and starts no further one.
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

typedef int (*opener)(const char *, int, ...);

// Several threads may make the first call at the same time.
int open(const char *path, int flags, ...) {
    mode_t mode = 0;
    if (flags & (O_CREAT | __O_TMPFILE)) {
        va_list rest;
        va_start(rest, flags);
        mode = va_arg(rest, mode_t);
        va_end(rest);
    }
    // The definition in the C library, or in a library that LD_PRELOAD loads before it.
    static _Atomic(opener) known;
    opener next = known;
    if (!next) known = next = (opener)dlsym(RTLD_NEXT, "open");
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

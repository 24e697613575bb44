// The process: its arguments and path without /proc, its memory, and its limit of threads.
#define _GNU_SOURCE
#include "clinux.h"
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

void segget_share_heaps(void) { mallopt(M_ARENA_MAX, 2); }

void segget_give_back_memory(void) { malloc_trim(0); }

// Sets the arguments that the Swift runtime uses. Otherwise the runtime reads /proc/self/cmdline,
// and traps if that does not exist.
extern void _swift_stdlib_overrideUnsafeArgvArgc(char **argv, int argc);

// glibc passes the arguments of main to constructors.
__attribute__((constructor)) static void take_arguments(int argc, char **argv) {
    if (access("/proc/self/cmdline", R_OK) != 0) _swift_stdlib_overrideUnsafeArgvArgc(argv, argc);
}

size_t segget_own_path(char *path, size_t length) {
    const ssize_t count = readlink("/proc/self/exe", path, length);
    if (count > 0) return (size_t)count;
    const char *started = (const char *)getauxval(AT_EXECFN);
    char *resolved = started ? realpath(started, NULL) : NULL;
    if (!resolved) return 0;
    const size_t known = strnlen(resolved, length);
    memcpy(path, resolved, known);
    free(resolved);
    return known;
}

static void *wait_at(void *gate) {
    pthread_mutex_lock(gate);
    pthread_mutex_unlock(gate);
    return NULL;
}

int segget_possible_threads(int most) {
    enum { longest = 256 };
    // Address space that must remain for the heap, besides the stacks of the threads.
    const size_t heap = 64 << 20;
    pthread_t ids[longest];
    pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&gate);
    int count = 0;
    while (count < most && count < longest &&
           pthread_create(&ids[count], NULL, wait_at, &gate) == 0)
        count++;
    struct rlimit space;
    int has_room = 1;
    if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY) {
        void *room = mmap(NULL, heap, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        has_room = room != MAP_FAILED;
        if (has_room) munmap(room, heap);
    }
    pthread_mutex_unlock(&gate);
    for (int i = 0; i < count; i++) pthread_join(ids[i], NULL);
    return has_room ? count : 0;
}

// Returns the number at the start of a file; -1 if there is none (`max`) or the file does not
// exist.
static long number_in(const char *path) {
    char text[32] = "";
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return -1;
    const ssize_t count = read(fd, text, sizeof text - 1);
    close(fd);
    return count > 0 && text[0] >= '0' && text[0] <= '9' ? strtol(text, NULL, 10) : -1;
}

// Whether the control group, or one of its ancestors, is limited to fewer than `small` processes
// and threads.
static int has_small_group(const char *root, char *group, long small) {
    while (1) {
        char path[1200];
        snprintf(path, sizeof path, "%s%s/pids.max", root, group);
        const long most = number_in(path);
        if (most >= 0 && most < small) return 1;
        char *end = strrchr(group, '/');
        if (!end) return 0;
        *end = 0;
    }
}

int segget_has_tight_limits(void) {
    // More than a download, its server and a shell need together.
    const long small = 2048;
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
        mallopt(M_ARENA_MAX, 1);
        return 1;
    }
    if (getrlimit(RLIMIT_NPROC, &limit) == 0 && limit.rlim_cur < (rlim_t)small) return 1;
    char groups[1024] = "";
    const int fd = open("/proc/self/cgroup", O_RDONLY | O_CLOEXEC);
    if (fd < 0) return 0;
    const ssize_t count = read(fd, groups, sizeof groups - 1);
    close(fd);
    if (count <= 0) return 0;
    char *rest = NULL;
    for (char *line = strtok_r(groups, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        char *v1 = strstr(line, ":pids:");
        if (strncmp(line, "0::", 3) == 0 && has_small_group("/sys/fs/cgroup", line + 3, small))
            return 1;
        if (v1 && has_small_group("/sys/fs/cgroup/pids", v1 + 6, small)) return 1;
    }
    return 0;
}

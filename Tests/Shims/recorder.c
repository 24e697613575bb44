// Preloaded into segget (LD_PRELOAD): writes down, in the order in which it happened, everything that
// changes the files of one folder, so that a test can work out what a power cut might have left.
//
// SEGGET_RECORD_FOLDER: the folder; its folder .segget, where the ledgers of sets are, belongs to it. SEGGET_RECORD_LOG: the file that records are appended to.
// SEGGET_RECORD_LINKS, when not empty: renameat2(2) is refused, as by a file system without it.
//
// A lock is held around each call and its record: what the log says came first had ended before the
// next one began. Only calls that succeeded are recorded. Tests/EndToEndTests/PowerCut/DiskRecord.swift reads it.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

enum kind {
    OPENED = 1, OPENED_FOLDER, CLOSED, DUPLICATED, WRITTEN, APPENDED, SYNCED, TRUNCATED, ALLOCATED,
    MODE_SET, ATTRIBUTE_SET, ATTRIBUTE_REMOVED, UNLINKED, RENAMED, LINKED, NAMED,
};

struct record {
    uint32_t kind;
    int32_t descriptor;
    int64_t number;   // an offset, a length, a mode, an inode or another descriptor
    uint64_t first;   // length of what follows
    uint64_t second;  // length of what follows that
};

enum { DESCRIPTORS = 4096 };
static char traced[DESCRIPTORS];  // 0, 'd' for the folder, 's' for .segget in it, 'f' for a file in either
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int sink = -1;
static dev_t device;
static ino_t inode;
static const char *place;  // path of the folder

__attribute__((constructor)) static void start(void) {
    const char *folder = getenv("SEGGET_RECORD_FOLDER"), *path = getenv("SEGGET_RECORD_LOG");
    struct stat status;
    if (!folder || !path || stat(folder, &status)) return;
    device = status.st_dev;
    inode = status.st_ino;
    place = folder;
    int file = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_APPEND | O_CLOEXEC);
    if (file >= 0) sink = fcntl(file, F_DUPFD_CLOEXEC, 900);
}

static void emit(const void *bytes, size_t count) {
    while (count) {
        long done = syscall(SYS_write, sink, bytes, count);
        if (done <= 0) abort();
        bytes = (const char *)bytes + done;
        count -= (size_t)done;
    }
}

static void note(enum kind kind, int descriptor, int64_t number, const void *first, size_t one,
                 const void *second, size_t two) {
    int saved = errno;
    struct record record = {(uint32_t)kind, descriptor, number, one, two};
    emit(&record, sizeof record);
    emit(first, one);
    emit(second, two);
    errno = saved;
}

#define LEDGERS ".segget"

// Whether a descriptor is that of the folder, or of the folder of ledgers in it.
static int is_folder(char kind) { return kind == 'd' || kind == 's'; }

// Writes down a change of names in a folder.
static void note_names(enum kind kind, char folder, int descriptor, int64_t number, const char *from,
                       const char *to) {
    const char *prefix = folder == 's' ? LEDGERS "/" : "";
    char first[2][PATH_MAX];
    snprintf(first[0], PATH_MAX, "%s%s", *from ? prefix : "", from);
    snprintf(first[1], PATH_MAX, "%s%s", *to ? prefix : "", to);
    note(kind, descriptor, number, first[0], strlen(first[0]), first[1], strlen(first[1]));
}

static char kind_of(int descriptor) {
    return sink >= 0 && descriptor >= 0 && descriptor < DESCRIPTORS ? traced[descriptor] : 0;
}

#define REAL(name) __typeof__(name) *real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)
#define LOCKED(call)             \
    pthread_mutex_lock(&lock);   \
    __typeof__(call) result = call
#define UNLOCKED                 \
    pthread_mutex_unlock(&lock); \
    return result

// The name of a file in the folder that is given by its whole path, as SQLite has it; else NULL.
static const char *name_in_folder(const char *path) {
    size_t length = place ? strlen(place) : 0;
    if (!length || strncmp(path, place, length) || path[length] != '/') return NULL;
    const char *name = path + length + 1;
    return *name && !strchr(name, '/') ? name : NULL;
}

// 'd' for the folder, 's' for the folder of ledgers in it, else 0.
static char folder_kind(const struct stat *status) {
    if (!S_ISDIR(status->st_mode) || status->st_dev != device) return 0;
    if (status->st_ino == inode) return 'd';
    char path[PATH_MAX];
    struct stat ledgers;
    snprintf(path, sizeof path, "%s/" LEDGERS, place);
    return !lstat(path, &ledgers) && ledgers.st_ino == status->st_ino ? 's' : 0;
}

static int opened(int result, int folder, const char *path, int flags) {
    struct stat status;
    int saved = errno;
    if (result >= 0 && result < DESCRIPTORS && sink >= 0 && !fstat(result, &status)) {
        traced[result] = 0;
        char kind = folder_kind(&status);
        if (kind) {
            traced[result] = kind;
            note(OPENED_FOLDER, result, 0, kind == 's' ? LEDGERS "/" : "", kind == 's' ? 8 : 0, "", 0);
        } else if ((is_folder(kind_of(folder)) || (path = name_in_folder(path))) &&
                   S_ISREG(status.st_mode) && (flags & O_ACCMODE) != O_RDONLY) {
            traced[result] = 'f';
            // What has no name yet is known by none.
            int has_name = (flags & O_TMPFILE) != O_TMPFILE;
            note_names(OPENED, kind_of(folder), result, (int64_t)status.st_ino, has_name ? path : "", "");
        }
    }
    errno = saved;
    return result;
}

int open(const char *path, int flags, ...) {
    REAL(open);
    va_list list;
    va_start(list, flags);
    mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(list, mode_t) : 0;
    va_end(list);
    LOCKED(opened(real(path, flags, mode), -1, path, flags));
    UNLOCKED;
}

int open64(const char *path, int flags, ...) {
    REAL(open64);
    va_list list;
    va_start(list, flags);
    mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(list, mode_t) : 0;
    va_end(list);
    LOCKED(opened(real(path, flags, mode), -1, path, flags));
    UNLOCKED;
}

int openat(int folder, const char *path, int flags, ...) {
    REAL(openat);
    va_list list;
    va_start(list, flags);
    mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(list, mode_t) : 0;
    va_end(list);
    LOCKED(opened(real(folder, path, flags, mode), folder, path, flags));
    UNLOCKED;
}

int close(int descriptor) {
    REAL(close);
    LOCKED(real(descriptor));
    if (kind_of(descriptor)) {
        traced[descriptor] = 0;
        note(CLOSED, descriptor, 0, "", 0, "", 0);
    }
    UNLOCKED;
}

int dup3(int from, int to, int flags) {
    REAL(dup3);
    LOCKED(real(from, to, flags));
    if (result >= 0 && (kind_of(from) || kind_of(to))) {
        traced[to] = traced[from];
        note(DUPLICATED, from, to, "", 0, "", 0);
    }
    UNLOCKED;
}

ssize_t pwrite(int descriptor, const void *bytes, size_t count, off_t offset) {
    REAL(pwrite);
    if (kind_of(descriptor) != 'f') return real(descriptor, bytes, count, offset);
    LOCKED(real(descriptor, bytes, count, offset));
    if (result > 0) note(WRITTEN, descriptor, offset, bytes, (size_t)result, "", 0);
    UNLOCKED;
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t count, off64_t offset) {
    return pwrite(descriptor, bytes, count, offset);
}

ssize_t write(int descriptor, const void *bytes, size_t count) {
    REAL(write);
    if (kind_of(descriptor) != 'f') return real(descriptor, bytes, count);
    LOCKED(real(descriptor, bytes, count));
    if (result > 0) note(APPENDED, descriptor, 0, bytes, (size_t)result, "", 0);
    UNLOCKED;
}

ssize_t copy_file_range(int from, off_t *source, int to, off_t *target, size_t count,
                        unsigned flags) {
    REAL(copy_file_range);
    off_t at = target ? *target : 0;
    LOCKED(real(from, source, to, target, count, flags));
    if (result > 0 && kind_of(to) == 'f') {
        void *bytes = malloc((size_t)result);
        if (!bytes || pread(to, bytes, (size_t)result, at) != result) abort();
        note(WRITTEN, to, at, bytes, (size_t)result, "", 0);
        free(bytes);
    }
    UNLOCKED;
}

int fsync(int descriptor) {
    REAL(fsync);
    LOCKED(real(descriptor));
    if (!result && kind_of(descriptor)) note(SYNCED, descriptor, 0, "", 0, "", 0);
    UNLOCKED;
}

int fdatasync(int descriptor) {
    REAL(fdatasync);
    LOCKED(real(descriptor));
    if (!result && kind_of(descriptor)) note(SYNCED, descriptor, 0, "", 0, "", 0);
    UNLOCKED;
}

int ftruncate(int descriptor, off_t length) {
    REAL(ftruncate);
    LOCKED(real(descriptor, length));
    if (!result && kind_of(descriptor)) note(TRUNCATED, descriptor, length, "", 0, "", 0);
    UNLOCKED;
}

int ftruncate64(int descriptor, off64_t length) { return ftruncate(descriptor, length); }

int fallocate(int descriptor, int mode, off_t offset, off_t length) {
    REAL(fallocate);
    LOCKED(real(descriptor, mode, offset, length));
    if (!result && kind_of(descriptor)) note(ALLOCATED, descriptor, offset + length, "", 0, "", 0);
    UNLOCKED;
}

int fchmod(int descriptor, mode_t mode) {
    REAL(fchmod);
    LOCKED(real(descriptor, mode));
    if (!result && kind_of(descriptor)) note(MODE_SET, descriptor, mode, "", 0, "", 0);
    UNLOCKED;
}

int fsetxattr(int descriptor, const char *name, const void *value, size_t count, int flags) {
    REAL(fsetxattr);
    LOCKED(real(descriptor, name, value, count, flags));
    if (!result && kind_of(descriptor))
        note(ATTRIBUTE_SET, descriptor, 0, name, strlen(name), value, count);
    UNLOCKED;
}

int fremovexattr(int descriptor, const char *name) {
    REAL(fremovexattr);
    LOCKED(real(descriptor, name));
    if (!result && kind_of(descriptor))
        note(ATTRIBUTE_REMOVED, descriptor, 0, name, strlen(name), "", 0);
    UNLOCKED;
}

int unlink(const char *path) {
    REAL(unlink);
    LOCKED(real(path));
    const char *name = name_in_folder(path);
    if (!result && name && sink >= 0) note(UNLINKED, -1, 0, name, strlen(name), "", 0);
    UNLOCKED;
}

int unlinkat(int folder, const char *name, int flags) {
    REAL(unlinkat);
    LOCKED(real(folder, name, flags));
    if (!result && is_folder(kind_of(folder))) note_names(UNLINKED, kind_of(folder), folder, 0, name, "");
    UNLOCKED;
}

int renameat(int folder, const char *from, int other, const char *to) {
    REAL(renameat);
    LOCKED(real(folder, from, other, to));
    if (!result && is_folder(kind_of(folder)))
        note_names(RENAMED, kind_of(folder), folder, 0, from, to);
    UNLOCKED;
}

int renameat2(int folder, const char *from, int other, const char *to, unsigned flags) {
    REAL(renameat2);
    const char *links = getenv("SEGGET_RECORD_LINKS");
    if (is_folder(kind_of(folder)) && links && *links) {
        errno = EINVAL;
        return -1;
    }
    LOCKED(real(folder, from, other, to, flags));
    if (!result && is_folder(kind_of(folder)))
        note_names(RENAMED, kind_of(folder), folder, 0, from, to);
    UNLOCKED;
}

int linkat(int folder, const char *from, int other, const char *to, int flags) {
    REAL(linkat);
    LOCKED(real(folder, from, other, to, flags));
    int named = -1;
    if (!result && is_folder(kind_of(folder)))
        note_names(LINKED, kind_of(folder), folder, 0, from, to);
    else if (!result && is_folder(kind_of(other)) &&
             ((named = flags & AT_EMPTY_PATH ? folder : -1) >= 0 || sscanf(from, "/proc/self/fd/%d", &named) == 1) &&
             kind_of(named) == 'f')
        note_names(NAMED, kind_of(other), named, 0, to, "");
    UNLOCKED;
}

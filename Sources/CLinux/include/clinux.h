// What Swift's Glibc does not show of the kernel: flags and calls behind _GNU_SOURCE.
#ifndef SEGGET_CLINUX_H
#define SEGGET_CLINUX_H

#include <stdint.h>
#include <sys/types.h>

// Opens a folder only to find what is in it, which takes no right to read it (open(2), O_PATH).
static const int segget_path_only = 010000000;

// Renames within one folder and fails with EEXIST rather than replace `to`
// (renameat2(2), RENAME_NOREPLACE). Returns 0, or -1 with errno.
int segget_rename_noreplace(int folder, const char *from, const char *to);

// Renames to another folder and fails with EEXIST rather than replace what stands there
// (renameat2(2), RENAME_NOREPLACE); where the file system does not know that, it replaces (renameat(2)).
// Returns 0, or -1 with errno.
int segget_move(int from_folder, const char *from, int to_folder, const char *to);

// Renames to another folder and fails with EEXIST rather than replace what stands there, wherever that is
// (renameat2(2), RENAME_NOREPLACE). Returns 0, or -1 with errno.
int segget_move_noreplace(int from_folder, const char *from, int to_folder, const char *to);

// Whether any process has an open file open for writing, as far as the kernel says to whoever owns the
// file: a read lease is taken and given back at once (fcntl(2), F_SETLEASE). The descriptor must be open
// for reading only.
int segget_is_being_written(int fd);

// The first byte at or behind `offset` that is not in a hole, or that is (lseek(2), SEEK_DATA and
// SEEK_HOLE). Returns -1 with errno: ENXIO when there is none.
off_t segget_next_data(int fd, off_t offset);
off_t segget_next_hole(int fd, off_t offset);

// Reserves the space of bytes 0..<length (fallocate(2), mode 0). Returns 0, or -1 with errno.
int segget_fallocate(int fd, off_t length);

// Has the kernel begin to write what it holds of an open file, and waits for nothing
// (sync_file_range(2), SYNC_FILE_RANGE_WRITE). Returns 0, or -1 with errno.
int segget_start_writeback(int fd);

// Whether the file system of an open file is in memory: tmpfs(5) (fstatfs(2)).
int segget_is_in_memory(int fd);

// Whether the link counts of an open file may mean nothing, because a server or a program states them: FUSE, NFS,
// SMB and other shares (fstatfs(2)).
int segget_has_unsure_links(int fd);

// Whether `..`, often enough, leads from an open folder to the root of this process: not from a file system that was
// unmounted while in use (umount2(2), MNT_DETACH). Returns -1 with errno when the system does not say.
int segget_is_attached(int folder);

// Makes `to` refer to what `from` refers to, close-on-exec, in one step (dup3(2)).
// Returns 0, or -1 with errno.
int segget_replace_descriptor(int from, int to);

// Sets the time of the last change, in seconds since 1970, and leaves the time of the last access
// (futimens(2), UTIME_OMIT). Returns 0, or -1 with errno.
int segget_set_modified(int fd, int64_t seconds);

// Copies up to `length` bytes at `offset` to the same offset of another file, shared where the file
// system can (copy_file_range(2)). Returns the number copied, 0 at the end, or -1 with errno.
ssize_t segget_copy_range(int from, int to, off_t offset, size_t length);

// Sets an extended attribute of an open file (fsetxattr(2)). Returns 0, or -1 with errno.
int segget_set_attribute(int fd, const char *name, const void *value, size_t length);

// Reads an extended attribute of an open file (fgetxattr(2)). Returns its length, or -1 with errno.
ssize_t segget_get_attribute(int fd, const char *name, void *value, size_t length);

// Removes an extended attribute of an open file (fremovexattr(2)). Returns 0, or -1 with errno.
int segget_remove_attribute(int fd, const char *name);

// Reads a date of the form `Sun, 06 Nov 1994 08:49:37 GMT` (strptime(3)), from 1970 on.
// Returns seconds since 1970, or -1 when it has another form.
int64_t segget_read_date(const char *text);

// Names the calling thread for ps and gdb, at most 15 bytes (prctl(2), PR_SET_NAME).
void segget_name_thread(const char *name);

// Has the disk serve the calling thread only when nobody else wants anything of it (ioprio_set(2),
// IOPRIO_CLASS_IDLE); threads that it starts inherit that. Returns 0, or -1 with errno.
int segget_take_idle_disk_priority(void);

// Has the calling thread, and those that it starts from now on, never become less nice (capset(2), without
// CAP_SYS_NICE); programs that it starts may. Returns 0, or -1 with errno.
int segget_stay_nice(void);
// How many threads this process can have at a time beside the calling one, at most `most`: as many are started and
// ended. Where its address space is limited (RLIMIT_AS), room for a heap is wanted, too: 0 without it.
int segget_possible_threads(int most);

// Whether a limit is near that keeps processes from having threads: a small RLIMIT_NPROC or pids.max of a control
// group (cgroups(7)), or any RLIMIT_AS; with the latter, malloc(3) keeps to one arena from now on.
int segget_has_tight_limits(void);

// Path of this program without symbolic links, also where /proc is not mounted (AT_EXECFN of getauxval(3)). Returns
// its length, at most `length`; 0 when it is not known.
size_t segget_own_path(char *path, size_t length);

// Gives the kernel back the free pieces of this process's heap (malloc_trim(3)).
void segget_give_back_memory(void);

// Starts the program `arguments[0]`, looked for in PATH, with `input`, `output` and `errors` as its
// standard descriptors (posix_spawnp(3)); with `in_group`, in a process group of its own. It inherits
// no other descriptor and no blocked signal, and SIGPIPE and SIGXFSZ do what they do by default. Both
// lists end in NULL. Returns 0, or an error number.
int segget_spawn(char *const arguments[], char *const environment[], int input, int output,
                 int errors, int in_group, pid_t *pid);

// Starts the program at a path in a session of its own, away from the terminal; standard error goes where standard
// output does. All other descriptors are closed, no signal is blocked, and none that is ignored here is ignored there.
// Returns an errno, 0 for none.
int segget_spawn_session(const char *path, char *const arguments[], char *const environment[],
                         int input, int output, pid_t *pid);

// Starts the program at `path` as segget_spawn does, not looked for in PATH, and such that it
// is killed when the calling thread ends (prctl(2), PR_SET_PDEATHSIG); it dumps no core.
// Returns 0, or an error number.
int segget_spawn_bound(const char *path, char *const arguments[], char *const environment[],
                       int input, int output, pid_t *pid);

// Opens a child process for poll(2), which reports its end (pidfd_open(2)).
// Returns a descriptor, closed on exec, or -1 with errno.
int segget_open_process(pid_t pid);

// Makes a file that exists in memory only (memfd_create(2)), closed on exec.
// Returns its descriptor, or -1 with errno.
int segget_memory_file(const char *name);

// What the kernel says of a connection (TCP_INFO, tcp(7)), as far as a receiver cares.
struct segget_tcp_state {
    uint32_t segments;    // segments with data that have come (tcpi_data_segs_in)
    uint32_t disordered;  // those that came out of order, because one before them was lost
    uint32_t round_trip;  // round trip as the receiver sees it, in microseconds; 0 when unknown
    uint32_t sent_round_trip;  // round trip of what was sent, smoothed (tcpi_rtt), likewise
};

// Reads the state of a TCP connection. Returns 0, or -1 with errno: ENOTSOCK and the like for what is
// none.
int segget_read_tcp_state(int fd, struct segget_tcp_state *state);

// Reads the port of this machine that a connection of IPv4 or IPv6 comes from, and the address that it leads to
// (getsockname(2), getpeername(2)), whose text takes 46 bytes. Returns 0, or -1 with errno.
int segget_read_ends(int fd, uint16_t *port, char *address);

// Makes a file that has no name yet, in an open folder, for its owner only (openat(2), O_TMPFILE);
// closed on exec. Returns its descriptor, or -1 with errno.
int segget_nameless_file(int folder, mode_t mode);

// Opens a file or folder below a folder, by a relative path without symbolic links in it, with the
// flags of open(2); closed on exec. Negative with errno, ENOSYS before Linux 5.6.
int segget_open_beneath(int folder, const char *path, int flags);

// Gives a file without a name one in `folder`, and fails with EEXIST rather than replace what stands
// there (linkat(2) by /proc/self/fd). Returns 0, or -1 with errno.
int segget_name_file(int fd, int folder, const char *name);

// Has the kernel begin to write out what is not on the disk yet, and does not wait for that
// (sync_file_range(2)).
void segget_start_writing(int fd);

// Opens a socket that becomes readable with every change of a link, an address or a route of the
// network namespace that the caller is in (rtnetlink(7)); does not block, closed on exec.
// Returns its descriptor, or -1 with errno.
int segget_open_route_changes(void);

// Reads away what such a socket has heard; waits for nothing.
void segget_forget_route_changes(int fd);

// Whether the kernel has a route to an IPv4 or IPv6 address; nothing is sent (connect(2) of a UDP socket).
// Returns 1 or 0, or -1 where the text is no address.
int segget_has_route(const char *address);

// Opens a timer on CLOCK_BOOTTIME, which runs on while the machine is suspended (timerfd_create(2)).
// Returns its descriptor, closed on exec, or -1 with errno.
int segget_open_boot_timer(void);

// Has such a timer become readable at a time of its clock, in seconds; 0 for never.
// Returns 0, or -1 with errno.
int segget_set_boot_timer(int fd, double seconds);

// Opens a timer that becomes readable when the time of day is set, as it is after a suspend
// (timerfd_create(2), TFD_TIMER_CANCEL_ON_SET). Returns its descriptor, closed on exec, or -1 with errno.
int segget_open_clock_changes(void);

// Has such a timer wait for the next time that the time of day is set. Returns 0, or -1 with errno.
int segget_forget_clock_changes(int fd);

// Opens what one thread wakes another with (eventfd(2)); does not block, closed on exec.
// Returns its descriptor, or -1 with errno.
int segget_open_event(void);

// Makes such a descriptor readable for good. Returns 0, or -1 with errno.
int segget_raise_event(int fd);

// The user that a connection of Unix sockets was made by, as the kernel noted then (SO_PEERCRED, unix(7)).
// Returns 0, or -1 with errno.
int segget_peer_user(int fd, uid_t *user);

// An option on a command line.
struct segget_found_option {
    int option;         // its place in the lists of names
    const char *value;  // what was given with it, or NULL
};

// What reading a command line has come to.
struct segget_command_line {
    int count;    // options found
    int rest;     // the first argument that is no option, after all options were moved before those
    int problem;  // 0; ':' when an option misses its argument; '?' for any other mistake
    int option;   // of a mistake: the option's place, -1 when that is unknown
    int letter;   // of a mistake: the short name that was given, or 0
    int place;    // of a mistake: the argument that it is in
};

// Reads a command line as getopt_long(3) of this system does, abbreviations, order and `--` included, and
// prints nothing. `arguments` begins with the program's name and is reordered. Each option has a name, a
// letter or 0, and 0, 1 or 2 for no argument, one that must be given, or one that may be. `found` has
// room for as many options as the arguments have bytes. It may be called on any thread.
struct segget_command_line segget_read_command_line(
    int count, char *arguments[], int options, const char *const names[], const int letters[],
    const int kinds[], struct segget_found_option found[]);

#endif

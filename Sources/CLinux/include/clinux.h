// Linux flags and calls that Swift's Glibc module does not import, since they require _GNU_SOURCE.
#ifndef SEGGET_CLINUX_H
#define SEGGET_CLINUX_H

#include <stdint.h>
#include <sys/types.h>

// O_PATH: opens a folder as a base for other paths, without permission to read it (open(2)).
static const int segget_path_only = 010000000;

// Renames a file within a folder; fails with EEXIST if `to` exists (renameat2(2),
// RENAME_NOREPLACE). Returns 0, or -1 with errno.
int segget_rename_noreplace(int folder, const char *from, const char *to);

// Renames a file to another folder; fails with EEXIST if `to` exists (renameat2(2),
// RENAME_NOREPLACE). On file systems that do not support the flag, `to` is replaced (renameat(2)).
// Returns 0, or -1 with errno.
int segget_move(int from_folder, const char *from, int to_folder, const char *to);

// Renames a file to another folder; fails with EEXIST if `to` exists, and with another error where
// RENAME_NOREPLACE is not supported (renameat2(2)). Returns 0, or -1 with errno.
int segget_move_noreplace(int from_folder, const char *from, int to_folder, const char *to);

// Whether any process has the file open for writing. The function takes a read lease and releases
// it immediately (fcntl(2), F_SETLEASE). The kernel grants leases only to the owner of the file;
// for others, the result is 0. The descriptor must be open for reading only.
int segget_is_being_written(int fd);

// Returns the first offset at or after `offset` that is in data, or in a hole (lseek(2), SEEK_DATA
// and SEEK_HOLE). Returns -1 with errno; ENXIO if there is none.
off_t segget_next_data(int fd, off_t offset);
off_t segget_next_hole(int fd, off_t offset);

// Reserves space for the bytes 0..<length (fallocate(2), mode 0). Returns 0, or -1 with errno.
int segget_fallocate(int fd, off_t length);

// Asks the kernel to start writing the dirty pages of a file, without waiting (sync_file_range(2),
// SYNC_FILE_RANGE_WRITE). Returns 0, or -1 with errno.
int segget_start_writeback(int fd);

// Whether the file is on a tmpfs(5), which is in memory (fstatfs(2)).
int segget_is_in_memory(int fd);

// Whether the link counts of a file are unreliable because a server or a program provides them: on
// FUSE, NFS, SMB and other shares (fstatfs(2)).
int segget_has_unsure_links(int fd);

// Whether `..`, repeated, leads from an open folder to the root of this process. It does not if the
// file system was unmounted while in use (umount2(2), MNT_DETACH). Returns -1 with errno if that is
// unknown.
int segget_is_attached(int folder);

// Atomically replaces the descriptor `to` with a duplicate of `from`, with close-on-exec (dup3(2)).
// Returns 0, or -1 with errno.
int segget_replace_descriptor(int from, int to);

// Sets the modification time, in seconds since 1970, and keeps the access time (futimens(2),
// UTIME_OMIT). Returns 0, or -1 with errno.
int segget_set_modified(int fd, int64_t seconds);

// Copies up to `length` bytes from `start` to `place` of another file, as a shared copy if the file
// system supports that (copy_file_range(2)). Returns the number of bytes copied, 0 at the end of
// the file, or -1 with errno.
ssize_t segget_copy_range(int from, off_t start, int to, off_t place, size_t length);

// Sets an extended attribute of an open file (fsetxattr(2)). Returns 0, or -1 with errno.
int segget_set_attribute(int fd, const char *name, const void *value, size_t length);

// Reads an extended attribute of an open file (fgetxattr(2)). Returns its length, or -1 with errno.
ssize_t segget_get_attribute(int fd, const char *name, void *value, size_t length);

// Removes an extended attribute of an open file (fremovexattr(2)). Returns 0, or -1 with errno.
int segget_remove_attribute(int fd, const char *name);

// Parses a date from 1970 on, in the form `Sun, 06 Nov 1994 08:49:37 GMT` (strptime(3)). Returns
// seconds since 1970, or -1 if the text has another form.
int64_t segget_read_date(const char *text);

// Sets the name of the calling thread that ps and gdb show, at most 15 bytes (prctl(2),
// PR_SET_NAME).
void segget_name_thread(const char *name);

// Sets the I/O priority of the calling thread to idle: the disk serves it only when no other
// process uses the disk (ioprio_set(2), IOPRIO_CLASS_IDLE). New threads inherit the priority.
// Returns 0, or -1 with errno.
int segget_take_idle_disk_priority(void);

// Prevents the calling thread, and threads that it starts later, from lowering their nice value, by
// dropping CAP_SYS_NICE (capset(2)). Programs that they start are not affected. Returns 0, or -1
// with errno.
int segget_stay_nice(void);
// Returns how many threads the process can start besides the calling one, at most `most`. The
// function starts that many threads and ends them. If the address space is limited (RLIMIT_AS), it
// also checks that 64 MiB remain for the heap, and returns 0 if not.
int segget_possible_threads(int most);

// Whether a limit may keep the process from starting threads: a small RLIMIT_NPROC, a small
// pids.max of a control group (cgroups(7)), or any RLIMIT_AS. With RLIMIT_AS, malloc(3) is limited
// to one arena from now on.
int segget_has_tight_limits(void);

// Copies the path of this program, without symbolic links. If /proc is not mounted, AT_EXECFN is
// used (getauxval(3)). Returns the length, at most `length`; 0 if the path is unknown. The path is
// not terminated by 0.
size_t segget_own_path(char *path, size_t length);

// Has threads that start from now on share two heaps, instead of one for each (mallopt(3),
// M_ARENA_MAX).
void segget_share_heaps(void);

// Returns unused heap memory to the kernel (malloc_trim(3)).
void segget_give_back_memory(void);

// Starts the program `arguments[0]`, searched for in PATH, with `input`, `output` and `errors` as
// its standard descriptors (posix_spawnp(3)). With `in_group`, it gets a new process group. It
// inherits no other descriptor and no blocked signal; SIGPIPE and SIGXFSZ have their default
// actions. Both lists end in NULL. Returns 0, or an error number.
int segget_spawn(char *const arguments[], char *const environment[], int input, int output,
                 int errors, int in_group, pid_t *pid);

// Starts the program at `path` in a new session, without the terminal. Standard output and standard
// error are both `output`. All other descriptors are closed, no signal is blocked, and SIGPIPE and
// SIGXFSZ have their default actions. Returns 0, or an error number.
int segget_spawn_session(const char *path, char *const arguments[], char *const environment[],
                         int input, int output, pid_t *pid);

// Starts the program at `path`, not searched for in PATH, with `output` as standard output and
// standard error. The program is killed when the calling thread ends (prctl(2), PR_SET_PDEATHSIG),
// and dumps no core. Descriptors and signals are as with segget_spawn. Returns 0, or an error
// number.
int segget_spawn_bound(const char *path, char *const arguments[], char *const environment[],
                       int input, int output, pid_t *pid);

// Opens a child process for poll(2), which reports when the process has ended (pidfd_open(2)).
// Returns a close-on-exec descriptor, or -1 with errno.
int segget_open_process(pid_t pid);

// Creates a file that exists in memory only (memfd_create(2)). Returns a close-on-exec descriptor,
// or -1 with errno.
int segget_memory_file(const char *name);

// The kernel's statistics of a connection (TCP_INFO, tcp(7)) that matter to a receiver.
struct segget_tcp_state {
    uint32_t segments;    // received segments with data (tcpi_data_segs_in)
    uint32_t disordered;  // segments out of order, after a lost one (tcpi_rcv_ooopack)
    uint32_t round_trip;  // receiver's estimate (tcpi_rcv_rtt), in microseconds; 0 if unknown
    uint32_t sent_round_trip;  // smoothed round trip of sent data (tcpi_rtt), likewise
};

// Reads the state of a TCP connection. Returns 0, or -1 with errno: ENOTSOCK or EOPNOTSUPP, for
// example, if `fd` is not a TCP socket.
int segget_read_tcp_state(int fd, struct segget_tcp_state *state);

// Reads the local port and the remote address of an IPv4 or IPv6 connection (getsockname(2),
// getpeername(2)). `address` must have space for 46 bytes. Returns 0, or -1 with errno.
int segget_read_ends(int fd, uint16_t *port, char *address);

// Creates a file without a name in an open folder (openat(2), O_TMPFILE). Returns a close-on-exec
// descriptor, or -1 with errno.
int segget_nameless_file(int folder, mode_t mode);

// Opens a file or folder below `folder`, by a relative path that may not contain symbolic links,
// with the flags of open(2) and close-on-exec (openat2(2)). Returns -1 with errno; ENOSYS before
// Linux 5.6.
int segget_open_beneath(int folder, const char *path, int flags);

// Gives a file without a name the name `name` in `folder`; fails with EEXIST if that exists
// (linkat(2), with AT_EMPTY_PATH or /proc/self/fd). Returns 0, or -1 with errno.
int segget_name_file(int fd, int folder, const char *name);

// Asks the kernel to start writing the dirty pages of a file, without waiting (sync_file_range(2)).
// Errors are ignored.
void segget_start_writing(int fd);

// Opens a socket that becomes readable when a link, an address or a route changes in the caller's
// network namespace (rtnetlink(7)). Returns a non-blocking, close-on-exec descriptor, or -1 with
// errno.
int segget_open_route_changes(void);

// Discards the pending messages of such a socket, without waiting.
void segget_forget_route_changes(int fd);

// Whether the kernel has a route to an IPv4 or IPv6 address (connect(2) of a UDP socket); sends
// nothing. Returns 1 or 0, or -1 if the text is not an address.
int segget_has_route(const char *address);

// Opens a timer on CLOCK_BOOTTIME, which continues while the machine is suspended
// (timerfd_create(2)). Returns a non-blocking, close-on-exec descriptor, or -1 with errno.
int segget_open_boot_timer(void);

// Sets the time of its clock, in seconds, at which such a timer becomes readable; 0 disarms it.
// Returns 0, or -1 with errno.
int segget_set_boot_timer(int fd, double seconds);

// Opens a timer that becomes readable when the time of day is set, as after a suspend
// (timerfd_create(2); timerfd_settime(2), TFD_TIMER_CANCEL_ON_SET). Returns a non-blocking,
// close-on-exec descriptor, or -1 with errno.
int segget_open_clock_changes(void);

// Arms such a timer again for the next change of the time of day. Returns 0, or -1 with errno.
int segget_forget_clock_changes(int fd);

// Opens an event with which one thread wakes another (eventfd(2)). Returns a non-blocking,
// close-on-exec descriptor, or -1 with errno.
int segget_open_event(void);

// Makes such an event readable; it stays readable, because nothing reads it. Returns 0, or -1 with
// errno.
int segget_raise_event(int fd);

// Returns the user who opened a Unix socket connection, as the kernel recorded at that time
// (SO_PEERCRED, unix(7)). Returns 0, or -1 with errno.
int segget_peer_user(int fd, uid_t *user);

// An option on a command line.
struct segget_found_option {
    int option;         // index in the lists of names
    const char *value;  // its argument, or NULL
};

// The result of parsing a command line.
struct segget_command_line {
    int count;    // the number of options found
    int rest;     // index of the first non-option argument, after reordering
    int problem;  // 0, ':' if an option lacks its argument, or '?' for other errors
    int option;   // of an error: index of the option; -1 if unknown
    int letter;   // of an error: the short option, or 0
    int place;    // of an error: index of the argument that contains it
};

// Parses a command line like getopt_long(3), including abbreviations, reordering and `--`, and
// prints nothing. `arguments` begins with the program's name and is reordered. Each option has a
// name, a letter or 0, and a kind: 0 for no argument, 1 for a required one, 2 for an optional one.
// `found` needs space for as many options as the arguments have bytes. Any thread may call this.
struct segget_command_line segget_read_command_line(
    int count, char *arguments[], int options, const char *const names[], const int letters[],
    const int kinds[], struct segget_found_option found[]);

#endif

import ArgumentParser
import CLinux
import Glibc
import SeggetReports

/// Functions for the standard streams, which may be closed, full or broken at any time.
package enum StandardStreams {
    /// Prepares the process so that no write ends it or reaches a wrong file.
    ///
    /// A write to a closed pipe or beyond the file size limit must fail, not kill the process. A
    /// closed standard descriptor must be opened: otherwise the next opened file would get its
    /// number, and output would end up in the download.
    ///
    /// Ends the process if it cannot create the threads that it needs; nothing has been changed
    /// then.
    package static func prepare() {
        checkThreads()
        raiseFileLimit()
        signal(SIGPIPE, SIG_IGN)
        signal(SIGXFSZ, SIG_IGN)
        for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) == -1 {
            // open(2) uses the lowest free number, which is this descriptor.
            _ = open("/dev/null", O_RDWR)
        }
    }

    /// The threads of segget and libdispatch that one download needs, besides one per processor.
    private static let threads = 8

    /// Checks that enough threads can be created; libdispatch would wait indefinitely for more.
    private static func checkThreads() {
        let isTight = segget_has_tight_limits() != 0
        let needed = isTight ? threads + min(64, max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))) : 1
        guard segget_possible_threads(Int32(needed)) < needed else { return }
        let diagnostic = Diagnostic(threadsNeeded: needed)
        for message in [Message(.error, diagnostic.message), Message(.hint, diagnostic.hint)] {
            write(message.line(colour: Terminal.standardError.colour) + "\n", to: STDERR_FILENO)
        }
        exit(diagnostic.status.rawValue)
    }

    /// Raises the soft limit of open files, because 64 files with 16 connections exceed 1024.
    private static func raiseFileLimit() {
        var limit = rlimit()
        guard getrlimit(Int32(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        // The limit is capped, because libcurl and the commands of hooks may scan all descriptors.
        limit.rlim_cur = max(limit.rlim_cur, min(limit.rlim_max, 16384))
        setrlimit(Int32(RLIMIT_NOFILE.rawValue), &limit)
    }

    /// Checks that standard output can receive a file; call it before ``prepare()`` occupies it.
    static func checkOutput() throws(ValidationError) {
        guard fcntl(STDOUT_FILENO, F_GETFD) != -1 else {
            throw ValidationError("`--output -` needs standard output, which is closed")
        }
        guard isatty(STDOUT_FILENO) == 0 else {
            throw ValidationError(
                "`--output -` writes no file to a terminal: redirect standard output, or pipe it "
                    + "(`| cat` shows it anyway)")
        }
    }

    /// Writes the whole text, and blocks until it is written.
    ///
    /// - Returns: `false` if the descriptor accepts no more data.
    @discardableResult
    package static func write(_ text: String, to descriptor: Int32) -> Bool {
        var text = text
        return text.withUTF8 { bytes in
            var rest = UnsafeRawBufferPointer(bytes)
            while !rest.isEmpty {
                let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
                if count > 0 {
                    rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
                } else if count < 0, errno == EAGAIN {
                    var wanted = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                    _ = poll(&wanted, 1, -1)
                } else if count == 0 || errno != EINTR {
                    return false
                }
            }
            return true
        }
    }
}

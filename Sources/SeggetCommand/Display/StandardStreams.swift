import ArgumentParser
import CLinux
import Glibc
import SeggetReports

/// Standard output and error, which may be closed, full or gone at any time.
package enum StandardStreams {
    /// Prepares the process so that no write can end it or go astray.
    ///
    /// A write to a closed pipe or beyond the file size limit must fail, not kill. And a standard
    /// descriptor that is closed must be occupied: the next file opened would get its number, and
    /// what is printed would end up in the download.
    ///
    /// Ends the process where it cannot have the threads that it needs: nothing is touched by then.
    package static func prepare() {
        checkThreads()
        raiseFileLimit()
        signal(SIGPIPE, SIG_IGN)
        signal(SIGXFSZ, SIG_IGN)
        for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) == -1 {
            // The lowest free number is taken: this one.
            _ = open("/dev/null", O_RDWR)
        }
    }

    /// Threads of our own and of libdispatch, beside one for each processor: what one download needs.
    private static let threads = 8

    /// Checks that there can be threads: libdispatch waits without end for one that it cannot have.
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

    /// Allows as many open files as the process may have: 64 files with 16 connections each are more
    /// than the usual 1024.
    private static func raiseFileLimit() {
        var limit = rlimit()
        guard getrlimit(Int32(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        // libcurl and what hooks start may look at each of them: not millions.
        limit.rlim_cur = max(limit.rlim_cur, min(limit.rlim_max, 16384))
        setrlimit(Int32(RLIMIT_NOFILE.rawValue), &limit)
    }

    /// Checks that a file can go to standard output, before ``prepare()`` would occupy it.
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

    /// Writes the whole text, waiting where it must.
    ///
    /// - Returns: `false` when the descriptor takes no more.
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

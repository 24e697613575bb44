import Glibc

/// A pipe, socket or file of somebody else's that is written to in order, and that is never waited
/// for longer than one says.
///
/// Used on the output's thread only.
final class StreamDescriptor: Sendable {
    private enum Kind {
        /// Writing takes its time, but never waits for a reader.
        case file
        /// A pipe whose open file is our own, and so can be non-blocking.
        case ownPipe
        /// Something shared that may block: only what fits for sure is written.
        case shared
        case socket
    }

    private let descriptor: Int32
    private let kind: Kind

    /// Takes a duplicate of `original`, so that the caller may close its own; `nil` with `errno`
    /// set.
    ///
    /// - Parameters:
    ///   - original: An open descriptor.
    ///   - opensOwn: Whether a pipe is opened anew where that is possible.
    init?(duplicating original: Int32, opensOwn: Bool = true) {
        var status = stat()
        guard fstat(original, &status) == 0 else { return nil }
        let type = status.st_mode & S_IFMT
        if type == S_IFIFO, opensOwn {
            // Whether an open file blocks is for all who share it: another one must be opened. That
            // fails when there is no reader any more, and where /proc is not there.
            let own = open("/proc/self/fd/\(original)", O_WRONLY | O_NONBLOCK | O_CLOEXEC)
            if own >= 0 {
                descriptor = own
                kind = .ownPipe
                return
            }
        }
        descriptor = fcntl(original, F_DUPFD_CLOEXEC, 3)
        guard descriptor >= 0 else { return nil }
        switch type {
        case S_IFSOCK: kind = .socket
        case S_IFIFO: kind = .shared
        case S_IFCHR where isatty(original) == 1: kind = .shared
        default: kind = .file
        }
    }

    deinit { close(descriptor) }

    /// Writes what is taken at once, as write(2) of a non-blocking descriptor does.
    ///
    /// - Returns: How many bytes were written, or −1 with `errno` set.
    func write(_ bytes: UnsafeRawPointer, _ count: Int) -> Int {
        switch kind {
        case .file, .ownPipe:
            return Glibc.write(descriptor, bytes, count)
        case .socket:
            return send(descriptor, bytes, count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL))
        case .shared:
            guard isWritable(within: 0) else {
                errno = EAGAIN
                return -1
            }
            // pipe(7): a pipe that is writable takes so many bytes without blocking.
            return Glibc.write(descriptor, bytes, min(count, Int(PIPE_BUF)))
        }
    }

    /// Waits until something can be written, at most so many milliseconds.
    @discardableResult
    func isWritable(within milliseconds: Int32) -> Bool {
        var wanted = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        return poll(&wanted, 1, milliseconds) > 0
    }
}

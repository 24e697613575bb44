import Glibc

/// A pipe, socket or file of the caller, written in order and with bounded blocking.
///
/// Used on the output's thread only.
final class StreamDescriptor: Sendable {
    private enum Kind {
        /// A file: writing takes time but never waits for a reader.
        case file
        /// A pipe with a separate open file description, which is therefore set to non-blocking.
        case ownPipe
        /// A shared open file description that may block; writes are limited to the size that fits.
        case shared
        case socket
    }

    private let descriptor: Int32
    private let kind: Kind

    /// Duplicates `original`, so that the caller may close it; fails with `errno` set.
    ///
    /// - Parameters:
    ///   - original: An open descriptor.
    ///   - opensOwn: Whether to open a pipe again if possible.
    init?(duplicating original: Int32, opensOwn: Bool = true) {
        var status = stat()
        guard fstat(original, &status) == 0 else { return nil }
        let type = status.st_mode & S_IFMT
        if type == S_IFIFO, opensOwn {
            // O_NONBLOCK applies to all processes that share the open file description, so open
            // another one. This open(2) fails if the pipe has no reader, or /proc is not mounted.
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

    /// Writes as many bytes as possible without blocking, like write(2) on a non-blocking
    /// descriptor.
    ///
    /// - Returns: The number of bytes written, or −1 with `errno` set.
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
            // pipe(7): a writable pipe accepts PIPE_BUF bytes without blocking.
            return Glibc.write(descriptor, bytes, min(count, Int(PIPE_BUF)))
        }
    }

    /// Waits until the descriptor is writable, at most `milliseconds`; returns whether it is.
    @discardableResult
    func isWritable(within milliseconds: Int32) -> Bool {
        var wanted = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        return poll(&wanted, 1, milliseconds) > 0
    }
}

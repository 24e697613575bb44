import CLinux
import Glibc
import SeggetReports

/// The file of `--save-session`, which may be the input file itself: there is always a whole one.
package struct Aria2SessionFile {
    /// Its path.
    package let path: String

    /// Names the file.
    package init(path: String) { self.path = path }

    /// Puts a text in its place, durable.
    ///
    /// It holds URLs and headers, so that nobody else may read a new one; one that is there keeps its mode.
    ///
    /// - Returns: `nil`, or the `errno` of what failed: what was there stays then.
    package func write(_ text: String) -> Int32? {
        var status = stat()
        let isThere = stat(path, &status) == 0
        // What is no file of its own, as `/dev/null`, is written to.
        guard !isThere || status.st_mode & S_IFMT == S_IFREG else {
            return Self.write(text, open(path, O_WRONLY | O_CLOEXEC), mode: nil)
        }
        let target = realpath(path, nil)
        defer { free(target) }
        let real = target.map { String(cString: $0) } ?? path
        // A name that nobody else has: in a folder of several users it might be prepared.
        let next = "\(real).\(String(UInt64.random(in: .min ... .max), radix: 16))"
        let descriptor = open(next, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { return errno }
        let problem = Self.write(
            text, descriptor, mode: isThere ? status.st_mode & 0o7777 : 0o600)
        guard problem == nil, rename(next, real) == 0 else {
            let code = problem ?? errno
            unlink(next)
            return code
        }
        return nil
    }

    private static func write(_ text: String, _ descriptor: Int32, mode: mode_t?) -> Int32? {
        guard descriptor >= 0 else { return errno }
        defer { close(descriptor) }
        if let mode, fchmod(descriptor, mode) != 0 { return errno }
        guard StandardStreams.write(text, to: descriptor) else { return errno }
        // A pipe or a device has nothing to be made durable.
        guard fsync(descriptor) == 0 || errno == EINVAL else { return errno }
        return nil
    }
}

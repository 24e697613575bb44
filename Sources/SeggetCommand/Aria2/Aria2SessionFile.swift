import CLinux
import Glibc
import SeggetReports

/// The file of `--save-session`, which is replaced atomically, as it may be the input file.
package struct Aria2SessionFile {
    /// The path of the file.
    package let path: String

    /// Creates the file's description.
    package init(path: String) { self.path = path }

    /// Replaces the content of the file durably.
    ///
    /// The content includes URLs and headers, so a new file has mode 0600. An existing file keeps
    /// its mode.
    ///
    /// - Returns: `nil`, or the `errno` of a failure, after which the old content remains.
    package func write(_ text: String) -> Int32? {
        var status = stat()
        let isThere = stat(path, &status) == 0
        // A path such as `/dev/null` is not a regular file, and is written to directly.
        guard !isThere || status.st_mode & S_IFMT == S_IFREG else {
            return Self.write(text, open(path, O_WRONLY | O_CLOEXEC), mode: nil)
        }
        let target = realpath(path, nil)
        defer { free(target) }
        let real = target.map { String(cString: $0) } ?? path
        // The name is random: in a folder of several users, another user could create a known name.
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
        // fsync(2) fails with EINVAL for a pipe or a device.
        guard fsync(descriptor) == 0 || errno == EINVAL else { return errno }
        return nil
    }
}

import Glibc
import SeggetCommand
import SeggetQueue
import SeggetReports
import SeggetService

/// The file with the secret for clients over TCP, beside the queue; only its owner can read it.
struct SecretFile {
    let path: String

    /// Creates the description of a queue's file.
    ///
    /// - Parameter queue: The path of the queue's file.
    init(of queue: String) {
        path = queue + ".rpc-secret"
    }

    /// Returns the secret; creates one if the file does not exist.
    ///
    /// - Throws: `QueueError`, if the file cannot be read, or other users can read it.
    func read() throws(QueueError) -> String {
        for _ in 0..<2 {
            let file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
            if file >= 0 {
                defer { close(file) }
                return try read(file)
            }
            guard errno == ENOENT else { throw problem("cannot be read", errno) }
            try make()
        }
        throw problem("cannot be created", ENOENT)
    }

    private func read(_ file: Int32) throws(QueueError) -> String {
        var status = stat()
        guard fstat(file, &status) == 0 else { throw problem("cannot be read", errno) }
        guard status.st_uid == geteuid(), status.st_mode & 0o077 == 0 else {
            throw QueueError(
                .unavailable,
                "other users can read \(Diagnostic.quote(path)), which contains the secret",
                hint: "remove the file: the next start creates a new one")
        }
        var bytes = [UInt8](repeating: 0, count: 1024)
        let count = Glibc.read(file, &bytes, bytes.count)
        let text = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
        let secret = text.prefix { !$0.isNewline }
        guard count > 0, secret.utf8.count >= 8 else {
            throw QueueError(
                .unavailable,
                "\(Diagnostic.quote(path)) does not contain a secret of at least 8 characters",
                hint: "remove the file: the next start creates a new one")
        }
        return String(secret)
    }

    /// Creates a file with a random secret; does not replace one that another process has created.
    private func make() throws(QueueError) {
        var random = SystemRandomNumberGenerator()
        let digits = Array("0123456789abcdefghijklmnopqrstuvwxyz")
        let secret = String((0..<40).map { _ in digits.randomElement(using: &random) ?? "0" })
        let draft = "\(path).\(getpid())"
        unlink(draft)
        let file = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw problem("cannot be created", errno) }
        defer {
            close(file)
            unlink(draft)
        }
        guard fchmod(file, 0o600) == 0, StandardStreams.write(secret + "\n", to: file),
            fsync(file) == 0, link(draft, path) == 0 || errno == EEXIST
        else { throw problem("cannot be created", errno) }
    }

    private func problem(_ what: String, _ code: Int32) -> QueueError {
        QueueError(
            .unavailable,
            "the secret in \(Diagnostic.quote(path)) \(what): \(Diagnostic.describe(errno: code))",
            hint: "clients over TCP need the secret; make sure that the folder is writable")
    }
}

import Glibc
import SeggetReports
import Segmenter
import SegmenterTransport

/// The file of `--cookie-jar`, which receives the cookies of a run at its end.
///
/// Only the owner can read the file. It is replaced atomically.
struct CookieJarFile: Sendable {
    /// The reason why the file cannot be written.
    struct WriteError: Error {
        var errno: Int32
    }

    /// The path of the file to replace, with symbolic links resolved.
    private let path: String
    /// The path as the user typed it.
    private let shown: String
    private let options: DownloadOptions
    /// The URL if the run downloads a single file; it may contain a user name.
    private let url: String?
    /// The cookies of the run.
    let jars = CookieJars()

    /// Checks that the file can be written; otherwise prints the reason and ends the process.
    ///
    /// - Parameters:
    ///   - given: The path as the user typed it.
    ///   - options: The download options of the command line.
    ///   - url: The URL if the run downloads a single file.
    init(_ given: String, _ options: DownloadOptions, url: String?) {
        shown = given
        self.options = options
        self.url = url
        var status = stat()
        let isThere = stat(given, &status) == 0
        let real = isThere ? realpath(given, nil) : nil
        path = real.map { String(cString: $0) } ?? given
        free(real)
        do throws(WriteError) {
            guard !isThere || status.st_mode & S_IFMT == S_IFREG else {
                throw WriteError(errno: EINVAL)
            }
            // An error is reported now instead of after the download.
            let file = try Self.open(beside: path)
            close(file.descriptor)
            unlink(file.path)
        } catch {
            let reason = Self.text(error)
            Self.say(.error, "cookies cannot be saved in \(Diagnostic.quote(given)): \(reason)")
            Self.say(.hint, "give `--cookie-jar` a file in a writable folder")
            Glibc.exit(ExitStatus.cannotCreate.rawValue)
        }
    }

    /// Saves the cookies.
    ///
    /// - Returns: `status`, or `.disk` if the run succeeded but the cookies cannot be saved.
    func save(_ status: ExitStatus) -> ExitStatus {
        do throws(WriteError) {
            let file = try Self.open(beside: path)
            defer { close(file.descriptor) }
            let text = jars.netscapeFile(options, url: url)
            guard StandardStreams.write(text, to: file.descriptor), rename(file.path, path) == 0
            else {
                let problem = WriteError(errno: errno)
                unlink(file.path)
                throw problem
            }
            return status
        } catch {
            let reason = Self.text(error)
            Self.say(.error, "the cookies were not saved in \(Diagnostic.quote(shown)): \(reason)")
            return status == .done ? .disk : status
        }
    }

    /// Creates an empty file with mode 0600 and a unique name in the same folder.
    private static func open(
        beside path: String
    ) throws(WriteError) -> (path: String, descriptor: Int32) {
        var template = Array((path + ".XXXXXX").utf8CString)
        let descriptor = mkstemp(&template)
        guard descriptor >= 0 else { throw WriteError(errno: errno) }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        let bytes = template.dropLast().map { UInt8(bitPattern: $0) }
        return (String(decoding: bytes, as: UTF8.self), descriptor)
    }

    private static func text(_ problem: WriteError) -> String {
        problem.errno == EINVAL
            ? "it is not a regular file" : Diagnostic.describe(errno: problem.errno)
    }

    private static func say(_ label: Message.Label, _ text: String) {
        let line = Message(label, text).line(colour: Terminal.standardError.colour)
        StandardStreams.write(line + "\n", to: STDERR_FILENO)
    }
}

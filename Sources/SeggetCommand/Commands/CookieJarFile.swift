import Glibc
import SeggetReports
import Segmenter

/// The file of `--cookie-jar`: in it the cookies of a run are saved when that ends.
///
/// Readable by its owner only, and replaced as a whole.
struct CookieJarFile: Sendable {
    /// Why a file cannot be written.
    struct Problem: Error {
        var errno: Int32
    }

    /// Path of the file that is replaced: where a link leads.
    private let path: String
    /// The path as it was given.
    private let shown: String
    private let options: DownloadOptions
    /// The URL of a single file, for the user in it.
    private let url: String?
    /// The cookies of the run.
    let jars = CookieJars()

    /// Takes the path, when a file can be written there; says why and ends the process when none can.
    ///
    /// - Parameters:
    ///   - given: The path, as it was given.
    ///   - options: What the command line says of its downloads.
    ///   - url: The URL of a single file.
    init(_ given: String, _ options: DownloadOptions, url: String?) {
        shown = given
        self.options = options
        self.url = url
        var status = stat()
        let isThere = stat(given, &status) == 0
        let real = isThere ? realpath(given, nil) : nil
        path = real.map { String(cString: $0) } ?? given
        free(real)
        do throws(Problem) {
            guard !isThere || status.st_mode & S_IFMT == S_IFREG else {
                throw Problem(errno: EINVAL)
            }
            // Better now than after the download.
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
    /// - Returns: What segget ends with: `status`, unless they cannot be saved and all else is well.
    func save(_ status: ExitStatus) -> ExitStatus {
        do throws(Problem) {
            let file = try Self.open(beside: path)
            defer { close(file.descriptor) }
            let text = jars.netscapeFile(options, url: url)
            guard StandardStreams.write(text, to: file.descriptor), rename(file.path, path) == 0
            else {
                let problem = Problem(errno: errno)
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

    /// Makes an empty file beside another one, which others cannot read.
    private static func open(
        beside path: String
    ) throws(Problem) -> (path: String, descriptor: Int32) {
        var template = Array((path + ".XXXXXX").utf8CString)
        let descriptor = mkstemp(&template)
        guard descriptor >= 0 else { throw Problem(errno: errno) }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        let bytes = template.dropLast().map { UInt8(bitPattern: $0) }
        return (String(decoding: bytes, as: UTF8.self), descriptor)
    }

    private static func text(_ problem: Problem) -> String {
        problem.errno == EINVAL
            ? "it is not a regular file" : Diagnostic.describe(errno: problem.errno)
    }

    private static func say(_ label: Message.Label, _ text: String) {
        let line = Message(label, text).line(colour: Terminal.standardError.colour)
        StandardStreams.write(line + "\n", to: STDERR_FILENO)
    }
}

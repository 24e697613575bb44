import Glibc

/// The arguments and the input with which another program downloads a file.
///
/// The URL may contain secrets. It is passed on standard input, as a list or a configuration, and
/// not on the command line, which every user of the machine can read.
struct BenchPeer {
    /// The URL as typed, and the network options that other programs have too.
    struct Request: Sendable {
        var url: String
        var caCertificate: String?
        var isInsecure: Bool
    }

    /// The arguments after the program's name.
    var arguments: [String]
    /// The text for standard input.
    var input: String

    /// Whether a program writes the data to `/dev/null`, so that `/proc/PID/io` counts it.
    ///
    /// Other programs seek in the file or rename it. wget2 recognises `/dev/null`, and writes
    /// nothing.
    static func takesNull(_ client: BenchClient) -> Bool { client == .curl }

    /// Creates the arguments and input for `subject`.
    ///
    /// `folder` is the folder of the file; `nil` is `/dev/null`.
    init(_ subject: BenchSubject, _ request: Request, folder: String?) {
        let count = subject.connections.number ?? 8
        let output = folder.map { "\($0)/file" } ?? "/dev/null"
        let trust = request.caCertificate
        switch subject.client {
        case .segget:
            preconditionFailure("segget is no other program")
        case .curl:
            arguments =
                ["-q", "-s", "-f", "-L", "-g", "-o", output]
                + (trust.map { ["--cacert", $0] } ?? [])
                + (request.isInsecure ? ["--insecure"] : []) + ["-K", "-"]
            let quoted = request.url.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
            input = "url = \"\(quoted)\"\n"
        case .aria2c:
            // `prealloc`, the default, would write the file twice.
            arguments =
                [
                    "--no-conf", "-q", "-x", "\(count)", "-s", "\(count)", "-k", "1M",
                    "--file-allocation=none", "--allow-overwrite=true",
                ] + (trust.map { ["--ca-certificate=\($0)"] } ?? [])
                + (request.isInsecure ? ["--check-certificate=false"] : []) + ["-i", "-"]
            input = "\(request.url)\n  dir=\(folder ?? "/")\n  out=file\n"
        case .axel:
            arguments =
                ["-q", "-n", "\(count)", "-o", output] + (request.isInsecure ? ["-k"] : [])
                + [request.url]
            input = ""
        case .wget2:
            // wget2 waits for more input from `-`, but not from a file.
            arguments =
                ["--no-config", "-q", "-O", output]
                + (trust.map { ["--ca-certificate=\($0)"] } ?? [])
                + (request.isInsecure ? ["--no-check-certificate"] : []) + ["-i", "/dev/stdin"]
            input = "\(request.url)\n"
        }
    }

    /// Returns the reason why a program cannot get the URL safely, or `nil`.
    static func obstacle(_ client: BenchClient, _ request: Request) -> String? {
        guard client == .axel else { return nil }
        if holdsSecrets(request.url) {
            return "axel takes URLs on its command line only, where other users could read the "
                + "secrets in this one"
        }
        let hasTrust = request.caCertificate != nil
        return hasTrust ? "axel has no option for trusted certificates" : nil
    }

    /// Whether the URL may contain a secret: credentials, a query or a fragment.
    private static func holdsSecrets(_ url: String) -> Bool {
        url.contains { "?#@".contains($0) }
    }

    /// Whether the URL is valid in the lists and configurations of all programs.
    static func isPlain(_ url: String) -> Bool {
        !url.hasPrefix("-")
            && url.unicodeScalars.allSatisfy { $0.isASCII && $0.value > 0x20 && $0.value < 0x7f }
    }

    /// Returns the path of a program: the first match in `path`, a list of folders as in `PATH`.
    static func find(_ client: BenchClient, in path: String) -> String? {
        path.split(separator: ":").lazy.map { "\($0)/\(client.rawValue)" }.first { candidate in
            var status = stat()
            return candidate.hasPrefix("/") && stat(candidate, &status) == 0
                && status.st_mode & S_IFMT == S_IFREG && access(candidate, X_OK) == 0
        }
    }
}

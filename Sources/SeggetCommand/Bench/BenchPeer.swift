import Glibc

/// How another program is made to fetch a file; a value.
///
/// The URL may hold secrets, so it goes to the program's standard input, as a list or a
/// configuration, and not onto its command line, which every user of the machine can read.
struct BenchPeer {
    /// The URL as given, and what of the network's options other programs know too.
    struct Request: Sendable {
        var url: String
        var caCertificate: String?
        var isInsecure: Bool
    }

    /// What follows the program's name.
    var arguments: [String]
    /// What it gets as standard input.
    var input: String

    /// Whether a program writes to `/dev/null` what it fetches, so that it can be counted.
    ///
    /// Others jump about in the file, or rename it; wget2 knows `/dev/null`, and writes nothing at all.
    static func takesNull(_ client: BenchClient) -> Bool { client == .curl }

    /// How `subject` is made to fetch; `folder` is where files go, `nil` for `/dev/null`.
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
            // `prealloc`, its default, would write the file twice.
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
            // It waits for more of `-`, but not of a file.
            arguments =
                ["--no-config", "-q", "-O", output]
                + (trust.map { ["--ca-certificate=\($0)"] } ?? [])
                + (request.isInsecure ? ["--no-check-certificate"] : []) + ["-i", "/dev/stdin"]
            input = "\(request.url)\n"
        }
    }

    /// Why a program cannot be given the URL safely, `nil` where it can.
    static func obstacle(_ client: BenchClient, _ request: Request) -> String? {
        guard client == .axel else { return nil }
        if holdsSecrets(request.url) {
            return "axel takes URLs on its command line only, where other users could read the "
                + "secrets in this one"
        }
        let hasTrust = request.caCertificate != nil
        return hasTrust ? "axel has no option for trusted certificates" : nil
    }

    /// Whether a part of the URL may be a secret: credentials, a query, a fragment.
    static func holdsSecrets(_ url: String) -> Bool {
        url.contains { "?#@".contains($0) }
    }

    /// Whether the URL can stand in the lists and configurations of all programs.
    static func isPlain(_ url: String) -> Bool {
        !url.hasPrefix("-")
            && url.unicodeScalars.allSatisfy { $0.isASCII && $0.value > 0x20 && $0.value < 0x7f }
    }

    /// Where a program is installed: the first in `path`, a list of folders as in `PATH`.
    static func find(_ client: BenchClient, in path: String) -> String? {
        path.split(separator: ":").lazy.map { "\($0)/\(client.rawValue)" }.first { candidate in
            var status = stat()
            return candidate.hasPrefix("/") && stat(candidate, &status) == 0
                && status.st_mode & S_IFMT == S_IFREG && access(candidate, X_OK) == 0
        }
    }
}

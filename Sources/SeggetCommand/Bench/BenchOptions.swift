import ArgumentParser
import Glibc
import SeggetFormats
import SeggetReports

/// The options that determine the measurements and their limits.
struct BenchMeasuringOptions: ParsableArguments {
    @Option(
        name: [.customShort("x", allowingJoined: true), .long],
        help: ArgumentHelp(
            "Numbers of connections to compare, 1 to 64; `auto` is segget's own choice.",
            valueName: "n,n,auto"))
    var connections = BenchSubject.Connections.defaultList

    @Option(help: ArgumentHelp("Number of measurements of each, 1 to 100.", valueName: "n"))
    var rounds = 3

    @Option(
        help: ArgumentHelp("Maximum time of all measurements together, in seconds.", valueName: "s")
    )
    var maxTime = 120.0

    @Option(
        help: ArgumentHelp(
            "Maximum bytes of all measurements together, such as `500M` or `4G`.", valueName: "size"
        ))
    var maxBytes = "4G"

    @Option(
        help: ArgumentHelp(
            "Ignore this many seconds after the first byte, at most a third of a measurement.",
            valueName: "s"))
    var warmUp = 1.0

    @Option(
        help: ArgumentHelp(
            "Write to temporary files in this folder instead of /dev/null.",
            valueName: "dir"),
        completion: .directory, transform: PathArgument.folder)
    var disk: String?

    @Option(
        help: ArgumentHelp(
            "Also measure these programs if installed: aria2c, axel, curl, wget2.",
            discussion: """
                aria2c and axel use the highest number of connections in the list, up to 16; the \
                others use one. Programs that cannot write to /dev/null write to a temporary folder \
                in `TMPDIR` or /var/tmp.
                """,
            valueName: "a,b"))
    var against: String?

    func validate() throws {
        guard BenchSubject.Connections.list(connections) != nil else {
            throw ValidationError(
                "`--connections` takes numbers from 1 to 64 and `auto`, separated by commas")
        }
        guard (1...100).contains(rounds) else {
            throw ValidationError("`--rounds` takes 1 to 100, not \(rounds)")
        }
        guard (1...86_400).contains(maxTime) else {
            throw ValidationError("`--max-time` takes 1 to 86400 seconds, not \(maxTime)")
        }
        guard let bytes = Quantity(maxBytes)?.bytes, bytes >= 1 else {
            throw ValidationError("`--max-bytes` takes a size, such as `500M`, `1.5GiB` or `4GB`")
        }
        guard (0...3600).contains(warmUp) else {
            throw ValidationError("`--warm-up` takes 0 to 3600 seconds, not \(warmUp)")
        }
        guard disk != "" else { throw ValidationError("`--disk` needs the name of a folder") }
        if let unknown = peerNames.first(where: { Self.peer($0) == nil }) {
            let names = BenchClient.allCases.filter { $0 != .segget }.map(\.rawValue)
            let near = CommandTree.nearest(to: unknown, among: names)
            throw ValidationError(
                "`--against` knows \(names.joined(separator: ", ")), not `\(unknown)`"
                    + (near.map { "; did you mean `\($0)`?" } ?? ""))
        }
        let plan = plan(with: peers)
        guard plan.isFeasible else {
            throw ValidationError(
                "\(plan.count) measurements within these limits would get "
                    + "\(Units.fixed(plan.secondsEach, decimals: 2)) s and "
                    + "\(Units.size(plan.bytesEach)) each; the minimum is \(BenchPlan.leastSeconds) s "
                    + "and \(Units.size(BenchPlan.leastBytes)): raise `--max-time` or "
                    + "`--max-bytes`, or lower `--rounds`")
        }
    }

    private var peerNames: [String] {
        (against?.split(separator: ",", omittingEmptySubsequences: false) ?? []).map(String.init)
    }

    private static func peer(_ name: String) -> BenchClient? {
        BenchClient(rawValue: name).flatMap { $0 == .segget ? nil : $0 }
    }

    /// The other programs, without duplicates.
    var peers: [BenchClient] {
        peerNames.compactMap(Self.peer).reduce(into: []) { peers, peer in
            if !peers.contains(peer) { peers.append(peer) }
        }
    }

    /// Returns the plan of the measurements, including the other programs `clients`.
    func plan(with clients: [BenchClient]) -> BenchPlan {
        let list = BenchSubject.Connections.list(connections) ?? []
        let own = list.map { BenchSubject(client: .segget, connections: $0) }
        return BenchPlan(
            subjects: own + clients.map { BenchPlan.peer($0, beside: list) }, rounds: rounds,
            maxTime: maxTime, maxBytes: Units.whole(Quantity(maxBytes)?.bytes ?? 0),
            warmUp: warmUp)
    }
}

/// The options for the output of the result.
struct BenchOutputOptions: ParsableArguments {
    @Flag(help: "Write one JSON object per event to standard output (see docs/json.md).")
    var json: JSONFormat?

    @Flag(help: "Write the measurements to standard output as comma-separated values.")
    var csv = false

    @Option(
        help: ArgumentHelp(
            "Also write a report with plots: one self-contained HTML file.",
            valueName: "file"),
        completion: .file(), transform: PathArgument.file)
    var report: String?

    @Flag(help: "Replace an existing report.")
    var overwrite = false

    @Flag(name: .shortAndLong, help: "Print errors and the result only.")
    var quiet = false

    func validate() throws {
        guard json == nil || !csv else {
            throw ValidationError(
                "`--json` and `--csv` both write to standard output; give one of them")
        }
        guard report != "" else { throw ValidationError("`--report` needs the name of a file") }
    }

    /// Checks that the report can be written, before any measurement; otherwise ends the process.
    func checkReport() {
        guard let report else { return }
        var status = stat()
        let folder = report.lastIndex(of: "/").map { String(report[...$0]) } ?? "."
        if lstat(report, &status) == 0, !overwrite || status.st_mode & S_IFMT != S_IFREG {
            BenchVoice(self).fail(
                .cannotCreate, "destination_exists",
                "the report \(Diagnostic.quote(report)) exists already",
                hint: "choose another name, or give `--overwrite` to replace a regular file")
        }
        if access(folder, W_OK | X_OK) != 0 {
            BenchVoice(self).fail(
                .cannotCreate, "cannot_create",
                "the report \(Diagnostic.quote(report)) cannot be written: "
                    + Diagnostic.describe(errno: errno),
                hint: "choose a file in a writable folder")
        }
    }
}

package import ArgumentParser
import Glibc
import SeggetFormats
import SeggetReports
package import Segmenter

/// The command `segget fleet`, which downloads one plan on many machines.
package struct FleetCommand: ParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "fleet",
        abstract: "Download one plan on many machines.",
        usage: """
            segget fleet create <plan> <fleet> --shards <n>
            segget fleet work <fleet> [--index <k> --of <n>]
            segget fleet finish <fleet> -d <dir>
            segget fleet status <fleet> [--watch] [--json]
            segget fleet submit <fleet> -d <dir> --slurm [-- <sbatch options>]
            """,
        discussion: """
            A fleet is a folder on a file system that all machines share. `create` divides a plan \
            into shards, `work` downloads shards until none is left, `finish` joins and verifies \
            the files, and `submit` starts all of that on Slurm, Kubernetes or GNU parallel. See \
            docs/guide/fleet.md.
            """)

    /// The action of the command.
    package enum Action: String, CaseIterable, ExpressibleByArgument, Sendable {
        case create
        case work
        case finish
        case status
        case submit
    }

    @Argument(help: "What to do: create, work, finish, status or submit.")
    var action: Action

    @Argument(
        help: ArgumentHelp("The folder of the fleet; for `create`, the plan.", valueName: "fleet"),
        transform: PathArgument.file)
    var first: String

    @Argument(
        help: ArgumentHelp("For `create`: the folder of the new fleet.", valueName: "new fleet"),
        transform: PathArgument.file)
    var second: String?

    @Argument(
        parsing: .postTerminator,
        help: ArgumentHelp("For `submit`: options for sbatch(1).", valueName: "sbatch options"))
    var sbatch: [String] = []

    @Flag(help: "Accept a fleet of another user, whom you trust.")
    var shared = false

    @OptionGroup(title: "Create") var creating: FleetCreateOptions
    @OptionGroup(title: "Work") var working: FleetWorkOptions
    @OptionGroup(title: "Finish and status") var finishing: FleetFinishOptions
    @OptionGroup(title: "Submit") var submitting: FleetSubmitOptions
    @OptionGroup(title: "Hugging Face Hub") var hub: HubOptions
    @OptionGroup(title: "Network") var request: RequestOptions
    @OptionGroup var access: AccessArguments
    @OptionGroup(title: "Configuration") var configuration: ConfigurationOptions
    @OptionGroup(title: "Display") var display: DisplayOptions

    @Flag(
        help: "For `work`, `finish` and `status`: write JSON to standard output (see docs/json.md)."
    )
    var json: JSONFormat?

    package init() {}

    package func validate() throws {
        guard (second != nil) == (action == .create), first != "", second != "" else {
            throw ValidationError(
                action == .create
                    ? "`fleet create` takes a plan and the path of a new folder"
                    : "`fleet \(action)` takes the folder of a fleet")
        }
        for (isGiven, name, actions) in [
            (creating.shards != nil, "--shards", [Action.create]),
            (creating.allowUnpinned, "--allow-unpinned", [.create]),
            (creating.hostConnections != nil, "--host-connections", [.create]),
            (creating.hostRequests != nil, "--host-requests", [.create]),
            (working.index != nil, "--index", [.work]), (working.of != nil, "--of", [.work]),
            (working.requeue, "--requeue", [.work]),
            (finishing.directory != nil, "--directory", [.finish, .submit]),
            (finishing.watch, "--watch", [.status]),
            (submitting.slurm, "--slurm", [.submit]),
            (submitting.kubernetes, "--kubernetes", [.submit]),
            (submitting.parallel, "--parallel", [.submit]),
            (submitting.atOnce != nil, "--at-once", [.submit]),
            (submitting.slurmLicenses != nil, "--slurm-licenses", [.submit]),
            (!sbatch.isEmpty, "--", [.submit]),
            (json != nil, "--json", [.work, .finish, .status]),
        ] where isGiven && !actions.contains(action) {
            let names = actions.map { "`fleet \($0)`" }.joined(separator: " and ")
            throw ValidationError("`\(name)` is for \(names)")
        }
        switch action {
        case .create: try creating.check()
        case .work: try working.check()
        case .finish, .status: break
        case .submit: try submitting.check(sbatch: sbatch)
        }
    }

    package func run() throws {
        access.hideSecrets(headers: request.header, urls: [])
        StandardStreams.prepare()
        switch action {
        case .create: try create()
        case .work: try work()
        case .finish: try finish()
        case .status: try status()
        case .submit: try submit()
        }
    }

    /// The path of the fleet, as typed.
    var path: String { second ?? first }

    /// Opens the fleet; ends the process if it cannot be used.
    func open() -> Fleet {
        do throws(FleetError) {
            return try Fleet(path, isShared: shared)
        } catch {
            Self.end(error)
        }
    }

    /// The Hub's server and token, for a plan of this source; `nil` for any other.
    func hubAccess(for fleet: Fleet) throws -> HubAccess? {
        fleet.plan.source.kind == .hub ? try hub.access() : nil
    }

    private func create() throws {
        let plan = GetCommand.plan(at: first)
        var options = Fleet.Options(shards: creating.shards ?? 1)
        options.allowsUnpinned = creating.allowUnpinned
        options.connections = creating.hostConnections
        options.requests = creating.hostRequests
        do throws(FleetError) {
            let fleet = try Fleet.create(plan, at: path, options)
            GetCommand.say(FleetWords.created(fleet, wanted: options.shards))
        } catch {
            Self.end(error)
        }
    }

    private func status() throws {
        let fleet = open()
        var last: [String] = []
        while true {
            do throws(FleetError) {
                let status = try FleetStatus(fleet)
                let report = FleetReport(status)
                let lines = json.map { [JSONText.line(report, $0) ?? ""] } ?? report.lines
                if lines != last {
                    let isRedrawn = finishing.watch && json == nil && isatty(STDOUT_FILENO) == 1
                    let clear = isRedrawn && !last.isEmpty ? "\u{1b}[\(last.count)A\u{1b}[J" : ""
                    let text = clear + lines.map { $0 + "\n" }.joined()
                    guard StandardStreams.write(text, to: STDOUT_FILENO) else {
                        Glibc.exit(ExitStatus.disk.rawValue)
                    }
                    last = lines
                }
                guard finishing.watch, !status.isOver else { return }
            } catch {
                Self.end(error)
            }
            sleep(2)
        }
    }

    /// Ends the process because of a fleet.
    static func end(_ error: FleetError) -> Never {
        GetCommand.say(Diagnostic.messages(error))
        Glibc.exit(Diagnostic.status(error).rawValue)
    }
}

/// The options for `segget fleet create`.
package struct FleetCreateOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The number of shards, 1 to 10000.", valueName: "n"))
    package var shards: Int?

    @Flag(help: "Accept files that no digest and no strong ETag pins to one version.")
    package var allowUnpinned = false

    @Option(
        help: ArgumentHelp(
            "Most connections to each host, over all machines (default: 64).", valueName: "n"))
    package var hostConnections: Int?

    @Option(
        help: ArgumentHelp(
            "Most requests to each host, over all machines, such as `10/s` or `600/m`.",
            valueName: "rate"),
        transform: Self.rate)
    package var hostRequests: RequestRate?

    package init() {}

    private static func rate(_ text: String) throws -> RequestRate {
        guard let rate = RequestRate(text) else {
            throw ValidationError("it takes \(RequestRate.expected)")
        }
        return rate
    }

    func check() throws {
        guard let shards else { throw ValidationError("`fleet create` needs `--shards`") }
        guard (1...Fleet.mostShards).contains(shards) else {
            throw ValidationError("`--shards` takes 1 to \(Fleet.mostShards), not \(shards)")
        }
        guard (1...10_000).contains(hostConnections ?? 1) else {
            throw ValidationError("`--host-connections` takes 1 to 10000")
        }
    }
}

/// The options for `segget fleet work`.
package struct FleetWorkOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Work on shards K, K+N, …, also in place of another process.",
            discussion: """
                Without it, K is taken from SLURM_ARRAY_TASK_ID, JOB_COMPLETION_INDEX or \
                PMI_RANK. Without these, the worker takes the shards that are free.
                """,
            valueName: "k"))
    package var index: Int?

    @Option(
        help: ArgumentHelp(
            "The number of workers, N (default: that of the Slurm array, or the shards).",
            valueName: "n"))
    package var of: Int?

    @Flag(help: "Requeue the element of the Slurm array instead of ending with 75.")
    package var requeue = false

    @Option(
        help: ArgumentHelp(
            "Limit the rate of this worker, such as 500K or 8Mbit.", valueName: "rate"),
        transform: LimitCommandOptions.rate)
    package var limitRate: Double?

    package init() {}

    func check() throws {
        guard of ?? 1 >= 1, of ?? 1 <= 1_000 else {
            throw ValidationError("`--of` takes 1 to 1000")
        }
        guard index ?? 0 >= 0 else { throw ValidationError("`--index` takes 0 or more") }
    }
}

/// The options for `segget fleet finish` and `segget fleet status`.
package struct FleetFinishOptions: ParsableArguments {
    @Option(
        name: [.customShort("d", allowingJoined: true), .long],
        help: ArgumentHelp(
            "Put the files in this folder (default for `hf://` plans: the Hub's cache).",
            valueName: "dir"),
        completion: .directory, transform: PathArgument.folder)
    package var directory: String?

    @Flag(help: "Show the status again whenever it changes.")
    package var watch = false

    package init() {}
}

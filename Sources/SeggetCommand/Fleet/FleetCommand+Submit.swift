package import ArgumentParser
import Assembler
import CLinux
import Glibc
import SeggetReports
import Segmenter

/// The options for `segget fleet submit`.
package struct FleetSubmitOptions: ParsableArguments {
    @Flag(help: "Write batch scripts, and submit them with sbatch(1).")
    package var slurm = false

    @Flag(help: "Print a manifest for kubectl(1).")
    package var kubernetes = false

    @Flag(help: "Print a command line for GNU parallel.")
    package var parallel = false

    @Option(help: ArgumentHelp("Run at most M workers at the same time.", valueName: "m"))
    package var atOnce: Int?

    @Option(
        help: ArgumentHelp(
            "Licenses that each worker takes, if the site has some for a host, such as `hub:1`.",
            valueName: "licenses"))
    package var slurmLicenses: String?

    package init() {}

    func check(sbatch: [String]) throws {
        guard [slurm, kubernetes, parallel].count(where: { $0 }) == 1 else {
            throw ValidationError(
                "`fleet submit` needs one of `--slurm`, `--kubernetes` and `--parallel`")
        }
        guard slurm || slurmLicenses == nil && sbatch.isEmpty else {
            throw ValidationError("options for sbatch go with `--slurm`")
        }
        guard atOnce ?? 1 >= 1 else { throw ValidationError("`--at-once` takes 1 or more") }
        guard !sbatch.contains(where: { $0.hasPrefix("--export=") && $0 != "--export=ALL" }) else {
            throw ValidationError(
                "`--export` with values would show them to every user of the cluster; set the "
                    + "variables in your environment, or keep secrets in files")
        }
    }
}

extension FleetCommand {
    /// Writes what starts the workers and the finishing.
    func submit() throws {
        let fleet = open()
        guard finishing.directory != nil || fleet.plan.source.kind == .hub else {
            Invocation.refuse(
                "`fleet submit` needs `--directory`",
                hint: "give the folder for the finished files: `-d DIR`")
        }
        var job = FleetJob(
            program: Self.program, fleet: Paths.absolute(path),
            directory: finishing.directory.map(Paths.absolute), workers: min(fleet.shards, 1_000),
            atOnce: submitting.atOnce)
        job.isShared = shared
        job.tokenFile = hub.hfTokenFile.map(Paths.absolute)
        if submitting.kubernetes {
            checkVolume(of: job)
            StandardStreams.write(job.kubernetes, to: STDOUT_FILENO)
        } else if submitting.parallel {
            StandardStreams.write(job.parallel, to: STDOUT_FILENO)
        } else {
            try submit(job)
        }
    }

    /// Ends the process if the volume of the fleet would not have the finished files.
    private func checkVolume(of job: FleetJob) {
        let volume = FileTarget(path: job.fleet).folder
        guard let directory = job.directory, directory.hasPrefix(volume + "/") else {
            Invocation.refuse(
                "`--kubernetes` needs `--directory`, with a folder on the volume of the fleet",
                hint: "give a folder below \(volume)")
        }
        guard job.tokenFile == nil else {
            Invocation.refuse(
                "`--hf-token-file` names a file of this machine, which the pods do not have",
                hint: "set HF_TOKEN in the manifest from a Secret")
        }
    }

    /// The path of this program.
    private static var program: String {
        var path = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
        let count = readlink("/proc/self/exe", &path, path.count - 1)
        return count > 0
            ? String(decoding: path[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
            : "segget"
    }

    private func submit(_ job: FleetJob) throws {
        var job = job
        let site: SlurmSite
        switch Command.output(of: ["scontrol", "show", "config"]) {
        case .success(let text): site = SlurmSite(text)
        case .failure(let problem):
            Invocation.refuse(
                "`scontrol show config` \(problem.text)",
                hint: "run `fleet submit --slurm` where Slurm's commands work")
        }
        job.workers = min(job.workers, max(1, site.mostElements))
        job.requeues = !site.requeues
        job.licenses = submitting.slurmLicenses
        let scripts = [
            ("slurm-work.sh", job.slurmWork), ("slurm-finish.sh", job.slurmFinish),
        ]
        do throws(AssemblyError) {
            let folder = try Folder(job.fleet)
            if folder.isFree("log") { _ = folder.makeFolder("log") }
            for (name, text) in scripts {
                try folder.write(name, mode: 0o777 & ~processUmask()) {
                    writeFully($0, Array(text.utf8))
                }
            }
        } catch {
            Self.end(.assembly(error))
        }
        let array = submit("\(job.fleet)/slurm-work.sh", [])
        let finish = submit("\(job.fleet)/slurm-finish.sh", ["--dependency=afterany:\(array)"])
        let text = """
            array \(array): \(job.workers) workers, elements \(array)_0 to \
            \(array)_\(job.workers - 1); finish: \(finish)

            """
        StandardStreams.write(text, to: STDOUT_FILENO)
    }

    /// Submits a script; ends the process if that fails.
    private func submit(_ script: String, _ options: [String]) -> String {
        switch Command.output(of: ["sbatch", "--parsable"] + sbatch + options + [script]) {
        case .success(let text):
            return String(text.prefix { $0.isNumber })
        case .failure(let problem):
            GetCommand.say([
                Message(.error, "sbatch \(problem.text)"),
                Message(.hint, "the scripts are kept: \(script)"),
            ])
            Glibc.exit(ExitStatus.unavailable.rawValue)
        }
    }
}

/// The settings in `scontrol show config` that matter for an array.
///
/// Pure.
struct SlurmSite: Equatable {
    /// The most elements of an array.
    var mostElements = 1_000
    /// Whether Slurm starts an element again that ends with 75.
    var requeues = false

    init(_ text: String) {
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: "=", maxSplits: 1).map {
                $0.filter { !$0.isWhitespace }
            }
            guard parts.count == 2 else { continue }
            switch parts[0] {
            case "MaxArraySize":
                // The largest index is one less, and the first one is 0.
                if let size = Int(parts[1]) { mostElements = min(1_000, size - 1) }
            case "RequeueExit": requeues = parts[1].split(separator: ",").contains("75")
            default: break
            }
        }
    }
}

/// The element of the Slurm array that runs this process.
enum SlurmElement {
    /// Has Slurm start the element again; if that works, the process is killed at once.
    static func requeue() {
        guard let job = EnvironmentText.value("SLURM_ARRAY_JOB_ID"),
            let index = EnvironmentText.value("SLURM_ARRAY_TASK_ID")
        else { return }
        // The last element of an array has the number of the whole array as its own.
        switch Command.output(of: ["scontrol", "requeue", "\(job)_\(index)"]) {
        case .success: sleep(30)
        case .failure(let problem):
            GetCommand.say([Message(.error, "`scontrol requeue` \(problem.text)")])
        }
    }
}

/// Commands of other programs.
enum Command {
    struct Failure: Error { var text: String }

    /// The most bytes of output that are read.
    private static let longest = 1 << 20

    /// Runs a command that is found by PATH; blocks.
    ///
    /// - Parameter words: The command and its arguments.
    /// - Returns: What it has written to standard output, or why it failed.
    static func output(of words: [String]) -> Result<String, Failure> {
        let (input, output) = (
            open("/dev/null", O_RDONLY | O_CLOEXEC), segget_memory_file("segget-output")
        )
        defer {
            close(input)
            close(output)
        }
        guard input >= 0, output >= 0 else {
            return .failure(Failure(text: "cannot be run: \(Diagnostic.describe(errno: errno))"))
        }
        var pid: pid_t = 0
        let code = Hooks.withCStrings(words) { arguments in
            Hooks.withCStrings(Hooks.environment(with: [:])) {
                segget_spawn(arguments, $0, input, output, STDERR_FILENO, 0, &pid)
            }
        }
        guard code == 0 else {
            return .failure(Failure(text: "cannot be run: \(Diagnostic.describe(errno: code))"))
        }
        var end: Int32 = 0
        while waitpid(pid, &end, 0) < 0, errno == EINTR {}
        if let problem = Hooks.problem(end) { return .failure(Failure(text: problem)) }
        var bytes = [UInt8](repeating: 0, count: longest)
        let count = pread(output, &bytes, bytes.count, 0)
        return .success(String(decoding: bytes.prefix(max(0, count)), as: UTF8.self))
    }
}

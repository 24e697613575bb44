package import ArgumentParser
import Assembler
import Glibc
import SeggetReports
import Segmenter
import Synchronization

/// The command `segget bench`, which measures rates with several numbers of connections.
package struct BenchCommand: ParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "bench",
        abstract: "Measure the rate with different numbers of connections.",
        discussion: """
            Each round measures every number of connections, so that changes of the network affect \
            all of them. Downloaded data is verified as usual, and discarded. The limits of time and \
            bytes apply to all measurements together, and each measurement gets an equal share; \
            segget prints these shares first. The result is a table and two plots, JSON, or CSV, on \
            standard output. A measurement that reaches its share succeeds. The command fails only \
            if all measurements of segget fail. `connections`, `max-time` and `overwrite` in the \
            configuration file and the environment are for downloads, and are ignored.
            """)

    @Argument(help: "The http or https URL to measure with.")
    var url: String

    @OptionGroup(title: "Measuring") var measuring: BenchMeasuringOptions
    @OptionGroup(title: "Result") var output: BenchOutputOptions
    @OptionGroup(title: "Network") var request: RequestOptions
    @OptionGroup var access: AccessArguments
    @OptionGroup(title: "Configuration") var configuration: ConfigurationOptions

    /// Further URLs, which are accepted only to be refused.
    ///
    /// The parser's own message would print a URL with its credentials.
    @Argument(help: .hidden)
    var excess: [String] = []

    package init() {}

    package func validate() throws {
        guard excess.isEmpty else {
            throw ValidationError("one URL at a time; \(excess.count + 1) were given")
        }
        guard !url.isEmpty else { throw ValidationError("an empty URL cannot be used") }
        guard measuring.against == nil || (request.header.isEmpty && access.isPlain) else {
            throw ValidationError(
                "`--against` needs options that every program supports: of the network options, "
                    + "only `--ca-certificate`, `--insecure`, timeouts and retries")
        }
        guard measuring.against == nil || BenchPeer.isPlain(url) else {
            throw ValidationError(
                "`--against` needs a URL without spaces, control characters and non-ASCII "
                    + "characters: encode them as %XX")
        }
    }

    package func run() throws { try run(arguments: Array(CommandLine.arguments.dropFirst())) }

    /// Measures on other threads while the main thread waits for signals.
    ///
    /// - Parameter arguments: The arguments of this command, which are passed to the worker
    ///   processes.
    /// - Throws: `ValidationError`, if a secret cannot be read.
    func run(arguments: [String]) throws {
        access.hideSecrets(headers: request.header, urls: [url])
        StandardStreams.prepare()
        output.checkReport()
        var options = request.downloadOptions
        options.access = try access.read()
        let secrets = AccessArguments.Secrets(options.access)
        let peerRequest = BenchPeer.Request(
            url: url, caCertificate: request.caCertificate, isInsecure: access.tls.insecure)
        let interrupts = Interrupts()
        let session = DownloadSession()
        let stop = BenchRun.Stop()
        let (command, settings) = (self, options)
        Task {
            do throws(DownloadError) {
                let file = try await session.probe(command.url, options: settings)
                await session.shutdown()
                let job = BenchWorker.Job(arguments: arguments, secrets: secrets)
                let run = command.makeRun(file, peerRequest, job, stop)
                OwnedThread(name: "bench") { run() }.detach()
            } catch {
                let status = BenchVoice(command.output).report(error)
                await session.shutdown()
                Glibc.exit(status.rawValue)
            }
        }
        interrupts.wait {
            stop.signal.store(interrupts.received ?? SIGTERM, ordering: .releasing)
            return stop.hasBegun.load(ordering: .acquiring)
        }
    }

    private func makeRun(
        _ file: RemoteFile, _ request: BenchPeer.Request, _ job: BenchWorker.Job,
        _ stop: BenchRun.Stop
    ) -> BenchRun {
        let path = getenv("PATH").map { String(cString: $0) } ?? "/usr/local/bin:/usr/bin:/bin"
        var programs: [BenchClient: String] = [:]
        var notes: [String] = []
        for client in measuring.peers {
            if let obstacle = BenchPeer.obstacle(client, request) {
                notes.append("\(client.rawValue) is left out: \(obstacle)")
            } else if let program = BenchPeer.find(client, in: path) {
                programs[client] = program
            } else {
                notes.append("\(client.rawValue) is left out: it is not installed")
            }
        }
        var plan = measuring.plan(with: measuring.peers.filter { programs[$0] != nil })
        if file.transfer != .segments {
            let why =
                file.size == nil
                ? "the server does not state the size" : "the server does not support byte ranges"
            notes.append(
                "\(why): segget downloads in one stream, so only one connection is measured")
            plan.subjects = BenchPlan.oneStream(plan.subjects)
        }
        if request.isInsecure { notes.append(DownloadNotice.certificatesUnchecked.text) }
        return BenchRun(
            plan: plan, programs: programs, request: request, job: job, disk: measuring.disk,
            file: file, output: output, notes: notes, stop: stop)
    }
}

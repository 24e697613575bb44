package import ArgumentParser
import Assembler
import Glibc
import SeggetReports
import Segmenter
import Synchronization

/// `segget bench`: measures how fast a file comes over several numbers of connections.
package struct BenchCommand: ParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "bench",
        abstract: "Measure the rate over several numbers of connections.",
        discussion: """
            Every number of connections takes its turn in each round, so that what else happens to \
            the network meets all of them. What is fetched is checked as ever, and thrown away. The \
            bounds are those of all measurements together, and each gets an equal share; what they \
            come to is said first. The result is a table and two plots, or JSON, or CSV, on standard \
            output. A measurement that ends at its share of time or bytes is none the worse; only \
            where all of segget's fail is it a failure. `connections`, `max-time` and `overwrite` of \
            the configuration file and the environment are meant for downloads, and do not count here.
            """)

    @Argument(help: "What to measure with: an http or https URL.")
    var url: String

    @OptionGroup(title: "Measuring") var measuring: BenchMeasuringOptions
    @OptionGroup(title: "Result") var output: BenchOutputOptions
    @OptionGroup(title: "Network") var request: RequestOptions
    @OptionGroup var access: AccessArguments
    @OptionGroup(title: "Configuration") var configuration: ConfigurationOptions

    /// Taken only to be refused: the parser's own message would show a URL with its credentials.
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
                "`--against` compares what every program can be given: of the options of the "
                    + "network `--ca-certificate`, `--insecure`, timeouts and retries only")
        }
        guard measuring.against == nil || BenchPeer.isPlain(url) else {
            throw ValidationError(
                "`--against` needs a URL without spaces, control characters and letters beyond "
                    + "ASCII: give them as %XX")
        }
    }

    package func run() throws { try run(arguments: Array(CommandLine.arguments.dropFirst())) }

    /// Measures on other threads while this one, the main thread, waits for signals.
    ///
    /// - Parameter arguments: All that this command was made from, for the processes that it starts.
    /// - Throws: `ValidationError`, when a secret cannot be read.
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
                ? "the server does not state the size" : "the server serves no byte ranges"
            notes.append("\(why): segget fetches in one stream, so only that is measured")
            plan.subjects = BenchPlan.oneStream(plan.subjects)
        }
        if request.isInsecure { notes.append(DownloadNotice.certificatesUnchecked.text) }
        return BenchRun(
            plan: plan, programs: programs, request: request, job: job, disk: measuring.disk,
            file: file, output: output, notes: notes, stop: stop)
    }
}

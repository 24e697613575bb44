import ArgumentParser
import FoundationEssentials
import Glibc
import SeggetReports
import Segmenter

/// The process that runs segget itself for one measurement: this program, started again.
///
/// The job is passed on standard input, so that no secret is on a command line.
enum BenchWorker {
    /// The only argument of the process, which is not a command for users.
    static let name = "bench-worker"

    /// The job of the process.
    struct Job: Codable {
        /// The arguments of `segget bench`, which contain the URL and the network options.
        var arguments: [String]
        /// The secrets from descriptors and the terminal.
        var secrets: AccessArguments.Secrets
        /// The number of connections; `nil` lets segget choose.
        var connections: Int?
        /// The path of the file; `nil` discards the data.
        var path: String?
    }

    /// The report that the process writes to standard output at its end.
    struct Report: Codable {
        var isOneStream = false
        var code: Int32
        var kind: String
        var message: String
    }

    private static let longestJob = 4 << 20

    /// Runs the job, and ends the process.
    static func run() -> Never {
        StandardStreams.prepare()
        guard let bytes = BenchProcess.readAll(STDIN_FILENO, atMost: longestJob),
            let job = try? JSONDecoder().decode(Job.self, from: Data(bytes)),
            let command = try? Segget.parseAsRoot(job.arguments) as? BenchCommand
        else {
            Invocation.refuse(
                "`\(name)` is not a command", hint: "use `segget bench URL`")
        }
        var options = command.request.downloadOptions
        options.access = command.access.options(with: job.secrets)
        options.connections = job.connections.map(ConnectionCount.fixed) ?? .automatic
        options.resume = false
        let interrupts = Interrupts()
        let session = DownloadSession()
        let destination = job.path.map { Destination.file($0) } ?? .null
        let download = session.start(command.url, to: destination, options: options)
        Task {
            var isOneStream = false
            for await event in download.events {
                if case .started(let start) = event { isOneStream = start.transfer != .segments }
            }
            var report: Report
            switch await download.result {
            case .success: report = Report(code: ExitStatus.done.rawValue, kind: "", message: "")
            case .failure(let error):
                let diagnostic = Diagnostic(error, signal: interrupts.received)
                report = Report(
                    code: diagnostic.status.rawValue, kind: diagnostic.kind,
                    message: diagnostic.message)
            }
            report.isOneStream = isOneStream
            if let data = try? JSONEncoder().encode(report) {
                StandardStreams.write(String(decoding: data, as: UTF8.self), to: STDOUT_FILENO)
            }
            await session.shutdown()
            Glibc.exit(report.code)
        }
        interrupts.wait {
            download.cancel()
            return true
        }
    }
}

import ArgumentParser
import FoundationEssentials
import Glibc
import SeggetReports
import Segmenter

/// The process in which segget itself is measured: this program, started anew for each measurement.
///
/// Its job comes on standard input, so that no secret stands on a command line.
enum BenchWorker {
    /// What its command line consists of; no command of a user's.
    static let name = "bench-worker"

    /// What it is to do.
    struct Job: Codable {
        /// The arguments of `segget bench`, which hold the URL and the network's options.
        var arguments: [String]
        /// What was read from descriptors and the terminal.
        var secrets: AccessArguments.Secrets
        /// `nil` for as many as it finds to be best.
        var connections: Int?
        /// Where the file goes; `nil` for nowhere.
        var path: String?
    }

    /// What it reports on standard output at its end.
    struct Report: Codable {
        var isOneStream = false
        var code: Int32
        var kind: String
        var message: String
    }

    private static let longestJob = 4 << 20

    /// Does the job, and ends the process.
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

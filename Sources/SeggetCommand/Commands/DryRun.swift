import Assembler
import Glibc
import SeggetReports
import Segmenter

/// Shows what downloads would do (`--dry-run`).
struct DryRun: Sendable {
    let files: FileList
    let json: JSONFormat?
    /// The URLs of the command line as typed; they belong to the first files.
    let typed: [String]

    /// Runs the previews on other threads while the main thread waits for signals.
    func run(_ session: DownloadSession, _ interrupts: Interrupts) -> Never {
        Task {
            var worst = ExitStatus.done
            for await (index, result) in session.preview(count: files.count, item: files.item) {
                let status: ExitStatus
                switch result {
                case .success(let preview):
                    if index > 0, json == nil { StandardStreams.write("\n", to: STDOUT_FILENO) }
                    status = show(preview, files.item(index).options)
                case .failure(let error):
                    status = ProbeCommand.show(
                        error, json: json, typed: typed.dropFirst(index).first)
                }
                worst = worst.worse(status)
            }
            await session.shutdown()
            Glibc.exit(worst.rawValue)
        }
        // A signal may end the process immediately: there is nothing to clean up.
        interrupts.wait { false }
    }

    private func show(_ preview: DownloadPreview, _ options: DownloadOptions) -> ExitStatus {
        let report = PreviewReport(preview)
        let lines =
            json.map { [JSONText.line(report, $0) ?? ""] }
            ?? report.lines(connections: options.connections.most)
        let text = lines.joined(separator: "\n") + "\n"
        return StandardStreams.write(text, to: STDOUT_FILENO) ? .done : .disk
    }
}

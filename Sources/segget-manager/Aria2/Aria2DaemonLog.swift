import Assembler
import Glibc
import SeggetCommand
import SeggetFormats
import SeggetQueue
import SeggetReports
import SeggetService
import Segmenter
import SeggetAria2

/// The log of the replacement for aria2's daemon, and its commands for events of tasks.
final class Aria2DaemonLog: Sendable {
    private let console: Aria2Console
    private let screen: Monitor<Aria2Screen>
    private let codes = Monitor<[QueueTask.ID: Aria2ErrorCode]>([:])

    /// Opens the log.
    ///
    /// - Throws: `Aria2Refusal`.
    init(_ settings: Aria2Settings) throws(Aria2Refusal) {
        console = settings.console
        do throws(Aria2LogError) {
            screen = Monitor(try Aria2Screen(settings.console))
        } catch {
            throw Aria2Refusal(error.lines)
        }
    }

    /// Writes a line.
    func say(_ level: Aria2Console.Level, _ text: String) {
        let time = Aria2Time(secondsSince1970())
        let line = Aria2LogLine(level, text)
        screen.withLock { screen in
            if !console.isQuiet, level.reaches(console.level) {
                screen.write(line.console(at: time, isColoured: screen.isColoured))
            }
            if level.reaches(console.logLevel) { screen.writeLog?(line.file(at: time)) }
        }
    }

    /// Logs the events of tasks, and runs commands for them, until the queue is shut down.
    func follow(_ queue: DownloadQueue, _ commands: [Aria2Settings.Hook: String]) async {
        var hooks = Aria2Hooks(commands)
        var words: [QueueTask.ID: RPCStatus.Word] = [:]
        for await event in await queue.events() {
            guard case .changed(let task) = event else { continue }
            let word = RPCStatus.Word(task)
            guard words.updateValue(word, forKey: task.id) != word else { continue }
            let path = task.path ?? ""
            var problem: String?
            switch word {
            case .active: problem = hooks.started(task.id, path: path)
            case .complete:
                say(.notice, "Download complete: \(path)")
                problem = end(task.id, .finished, path, &hooks)
            case .error:
                let code = task.error.map { Aria2ErrorCode($0, url: task.url) } ?? .unknown
                say(.error, "\(task.error?.message ?? "") (errorCode=\(code.rawValue))")
                problem = end(task.id, code, path, &hooks)
            case .paused: problem = hooks.paused(task.id, path: path)
            case .removed: problem = end(task.id, .removed, path, &hooks)
            case .waiting: break
            }
            if let problem { say(.error, problem) }
        }
    }

    private func end(
        _ id: QueueTask.ID, _ code: Aria2ErrorCode, _ path: String, _ hooks: inout Aria2Hooks
    ) -> String? {
        codes.withLock { $0[id] = code }
        return hooks.ended(id, code, path: path)
    }

    /// Returns aria2c's exit code: 7 if a task is unfinished, otherwise that of a failed task, or
    /// 0.
    func code(of queue: DownloadQueue) async -> Int32 {
        let counts = (try? await queue.snapshot().counts) ?? [:]
        let open = counts.filter { !$0.key.isEnded }.values
        if open.contains(where: { $0 > 0 }) { return Aria2ErrorCode.inProgress.rawValue }
        let failed = codes.withLock { codes in
            codes.values.first { $0 != .finished && $0 != .removed }
        }
        return (failed ?? .finished).rawValue
    }
}

/// The file of `--save-session` of a daemon.
struct Aria2DaemonSession: Sendable {
    private let settings: Aria2Settings
    private let queue: DownloadQueue

    init(_ settings: Aria2Settings, _ queue: DownloadQueue) {
        (self.settings, self.queue) = (settings, queue)
    }

    /// Writes the unfinished tasks, failed ones first, like aria2.
    ///
    /// - Parameter path: The file; `nil` for the one of the settings, if there is one.
    /// - Returns: A description of the failure, or `nil`.
    func save(to path: String? = nil) async -> String? {
        guard let path = path ?? settings.saveSession else { return nil }
        do throws(QueueError) {
            let reports = try await queue.report(TaskFilter()).tasks
            let failed = reports.filter { $0.state == .failed && isSaved($0) }
            let open = reports.filter { !$0.state.isEnded }
            let usual = Aria2Task(urls: ["http://localhost/"], options: Aria2Options())
                .batchItem(home: "", exists: { _ in false }).options
            var tasks: [Aria2Task] = []
            for report in failed + open {
                guard let task = try await queue.whole(report.id) else { continue }
                tasks.append(Aria2Task(task, unlike: usual))
            }
            let code = Aria2SessionFile(path: path).write(Aria2Session.text(of: tasks))
            return code.map {
                "Failed to serialize session to '\(path)': \(Diagnostic.describe(errno: $0))"
            }
        } catch {
            return "Failed to serialize session to '\(path)': \(error.message)"
        }
    }

    private func isSaved(_ report: TaskReport) -> Bool {
        let code = report.error.map { Aria2ErrorCode($0, url: report.url) }
        return ![.resourceNotFound, .maxFileNotFound].contains(code)
            || settings.options.saveNotFound
    }
}

extension Aria2Task {
    /// Creates aria2's description of a task.
    ///
    /// - Parameters:
    ///   - task: The task.
    ///   - usual: The default options, which the result omits.
    fileprivate init(_ task: QueueTask, unlike usual: DownloadOptions) {
        let own = Aria2Options(
            of: task.options, folder: task.place.folderPath,
            name: task.place.isNameGiven ? task.place.name : nil)
        let others = Aria2Options(of: usual, folder: "", name: nil)
        self.init(gid: task.id, urls: task.everyURL, options: own.differences(from: others))
        isPaused = task.status.wanted == .paused
    }
}

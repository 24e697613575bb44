import ArgumentParser
import Glibc
import SeggetCommand
import SeggetQueue
import SeggetReports
import SeggetService
import Segmenter

/// `segget add --recover`: adds tasks for parts that no task has.
struct PartRecovery {
    /// The options of the tasks; its root is the folder of the parts, or the queue's file.
    private let model: NewTask
    private var path: String { model.place.root }

    /// Creates a recovery; `model` has the options of all tasks.
    init(like model: NewTask) { self.model = model }

    /// Adds the tasks, paused, and ends the process.
    func run(_ queue: QueueOptions) throws -> Never {
        let files = QueueFiles(try queue.path)
        if [files.database, files.secrets].map(Paths.absolute).contains(path) {
            try queue.recover()
        }
        var status = stat()
        if stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFDIR {
            throw ValidationError(
                "\(Diagnostic.quote(path)) is neither a folder nor the queue's file "
                    + "\(Diagnostic.quote(files.database)); use `--queue` to name another queue")
        }
        try queue.run { access in
            let parts = try RecoveredPart.find(in: path)
            let tasks = parts.enumerated().map { index, part in task(part, index) }
            let results = try await access.door.perform(tasks.map(QueueCommand.add))
            var (status, count) = (ExitStatus.done, 0)
            for (part, result) in zip(parts, results.joined()) {
                guard let id = result.id else {
                    // A part that belongs to another task is not reported.
                    guard result.code != ExitStatus.cannotCreate.rawValue else { continue }
                    Voice.say(.error, result.message ?? "a part was refused")
                    status = .usage
                    continue
                }
                count += 1
                StandardStreams.write("\(id)\n", to: STDOUT_FILENO)
                guard !part.isURLComplete else { continue }
                Voice.say(
                    .note,
                    "task \(id), \(Diagnostic.quote(part.task.place.path ?? "")): the query or password of "
                        + "its URL is not recorded; set the full URL with `segget set \(id) --url URL`"
                )
            }
            let what = Units.count(Int64(count), "task")
            Voice.say(
                .note,
                count == 0
                    ? "there is no part in \(Diagnostic.quote(path)) that no task has"
                    : "\(what) added, paused: `segget resume --all` starts them")
            return status
        }
    }

    /// Returns the task of a part, with the options of the model.
    private func task(_ part: RecoveredPart, _ index: Int) -> NewTask {
        var task = model
        (task.url, task.place) = (part.task.url, part.task.place)
        (task.isPaused, task.isAgain) = (part.task.isPaused, part.task.isAgain)
        task.options.continuesOtherURL = part.task.options.continuesOtherURL
        task.position = task.position.moved(by: index)
        return task
    }
}

extension QueuePosition {
    /// Returns the position `count` places later, if it is a number.
    func moved(by count: Int) -> QueuePosition {
        if case .at(let place) = self { .at(place + count) } else { self }
    }
}

extension QueueOptions {
    /// Creates a new queue from the readable records of a damaged one, and ends the process.
    func recover() throws -> Never {
        let path = try path
        StandardStreams.prepare()
        do throws(QueueError) {
            let recovery = try DirectDoor(path).recover()
            guard !recovery.kept.isEmpty else {
                Voice.say(
                    .note, "the queue \(Diagnostic.quote(path)) is not damaged: nothing was changed"
                )
                Glibc.exit(ExitStatus.done.rawValue)
            }
            let lost =
                recovery.lost.map { $0 > 0 ? ", \(Units.count(Int64($0), "task")) lost" : "" } ?? ""
            if let tasks = recovery.tasks {
                Voice.say(.note, "\(Units.count(Int64(tasks), "task")) recovered\(lost)")
            }
            for kept in recovery.kept {
                Voice.say(.kept, "the damaged file as \(Diagnostic.quote(kept))")
            }
            Glibc.exit(ExitStatus.done.rawValue)
        } catch {
            Voice.refuse(error)
        }
    }
}

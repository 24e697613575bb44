import Glibc
import SeggetCommand
import SeggetQueue
import SeggetReports
import SeggetService
import Segmenter

/// `segget add --recover`: makes tasks of parts that no task has.
struct PartRecovery {
    /// Where the parts are.
    var folder: String
    /// Tags for the tasks.
    var tags: [String]

    /// Adds the tasks, held, and ends the process.
    func run(_ queue: QueueOptions) throws -> Never {
        let path = try queue.path
        if folder == Paths.absolute(path) { try queue.recover() }
        try queue.run { access in
            var parts = try RecoveredPart.find(in: folder)
            for index in parts.indices { parts[index].task.tags = tags }
            let results = try await access.door.perform(parts.map { .add($0.task) })
            var count = 0
            for (part, result) in zip(parts, results.joined()) {
                // One that is refused, or known, is another task's.
                guard let id = result.id, result.outcome == .done else { continue }
                count += 1
                StandardStreams.write("\(id)\n", to: STDOUT_FILENO)
                guard !part.isURLComplete else { continue }
                Voice.say(
                    .note,
                    "task \(id), \(Diagnostic.quote(part.task.place.path ?? "")): its URL had a query or a "
                        + "password, which is not recorded; give it with `segget set \(id) --url URL`"
                )
            }
            let what = Units.count(Int64(count), "task")
            Voice.say(
                .note,
                count == 0
                    ? "there is no part in \(Diagnostic.quote(folder)) that no task has"
                    : "\(what) made, held: `segget resume --all` lets them go on")
            return .done
        }
    }
}

extension QueueAccess {
    /// What is said where nobody works the queue.
    static let notWorked = "nothing works the queue: `segget run` does"

    /// Says so, where nobody works the queue.
    func sayWhetherWorked() {
        if worker == nil { Voice.say(.note, Self.notWorked) }
    }
}

extension QueueOptions {
    /// Makes a new queue of what can be read of a damaged one, and ends the process.
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

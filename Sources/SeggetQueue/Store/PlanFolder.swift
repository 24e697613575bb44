import Assembler
import Foundation
import Glibc
import SeggetReports
import Segmenter

/// The plans of a queue's tasks: copies beside the database, so that the users' files may change.
///
/// A plan is first copied under a temporary name, and gets the name of its task in the transaction
/// that adds the task. All calls block on the disk, and need the queue's lock.
struct PlanFolder: Sendable {
    /// A plan that was copied and checked, and belongs to no task yet.
    struct Draft: Sendable, Hashable {
        /// The path of the copy.
        var path: String
        /// The set.
        var set: FileSet
        /// The address of the source or, without one, that of the first file; without query.
        var url: String
        /// The sum of all sizes in bytes; `nil` if one is unknown.
        var size: Int64?
    }

    /// The path of the folder.
    let path: String

    private static let suffix = ".plan"

    init(_ files: QueueFiles) { path = files.plans }

    /// Returns the path of a task's plan.
    func path(of id: QueueTask.ID) -> String { "\(path)/\(id)\(Self.suffix)" }

    /// Copies the plan at a path, and checks all lines of the copy.
    func draft(_ source: String) -> Result<Draft, CommandRefusal> {
        do throws(PlanError) {
            let copy = try copy(source)
            do throws(PlanError) {
                let plan = try PlanFile(copy)
                guard plan.count > 0 else {
                    unlink(copy)
                    return .failure(.emptyPlan(source))
                }
                let first = try plan.file(at: 0).address
                let url = plan.source.address ?? first
                return .success(
                    Draft(
                        path: copy, set: FileSet(name: plan.set, files: plan.count),
                        url: WebAddress.withoutSecrets(url, keepsQuery: false), size: plan.size))
            } catch {
                unlink(copy)
                throw error
            }
        } catch {
            return .failure(.plan(error, path: source))
        }
    }

    /// Returns the path of a synchronized copy of a regular file.
    private func copy(_ source: String) throws(PlanError) -> String {
        // A pipe would block until another program writes to it.
        let reading = open(source, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard reading >= 0 else { throw PlanError(.unreadable(errno: errno)) }
        defer { close(reading) }
        var status = stat()
        guard fstat(reading, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw PlanError(.notAPlan)
        }
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
            throw PlanError(.unwritable(errno: errno))
        }
        var template = Array("\(path)/draft-XXXXXX".utf8CString)
        let writing = mkstemp(&template)
        guard writing >= 0 else { throw PlanError(.unwritable(errno: errno)) }
        defer { close(writing) }
        let copy = String(
            decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        do throws(PlanError) {
            var buffer = [UInt8](repeating: 0, count: 256 << 10)
            while true {
                let count = read(reading, &buffer, buffer.count)
                if count < 0, errno == EINTR { continue }
                guard count >= 0 else { throw PlanError(.unreadable(errno: errno)) }
                guard count > 0 else { break }
                let code = writeFully(writing, Array(buffer[..<count]))
                guard code == 0 else { throw PlanError(.unwritable(errno: code)) }
            }
            guard fsync(writing) == 0 || isUnsupported(errno: errno) else {
                throw PlanError(.unwritable(errno: errno))
            }
        } catch {
            unlink(copy)
            throw error
        }
        return copy
    }

    /// Gives a draft the name of its task; an earlier plan of the task is replaced.
    func keep(_ draft: Draft, of id: QueueTask.ID) throws(QueueError) {
        guard rename(draft.path, path(of: id)) == 0 else {
            throw .system(.create, path(of: id), errno)
        }
        try QueueFiles.synchronize(path)
    }

    /// Returns whether a draft has the same bytes as the plan of a task.
    func isSame(_ draft: Draft, as id: QueueTask.ID) -> Bool {
        FileManager.default.contentsEqual(atPath: draft.path, andPath: path(of: id))
    }

    /// Removes a draft, unless it was kept.
    func discard(_ draft: Draft) { unlink(draft.path) }

    /// Removes the plans of tasks, if there are any.
    func remove(_ ids: [QueueTask.ID]) {
        guard !ids.isEmpty, access(path, F_OK) == 0 else { return }
        for id in ids { unlink(path(of: id)) }
    }

    /// Removes all plans but those of some tasks; others remain if a process was killed.
    func removeOthers(than ids: Set<QueueTask.ID>) {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: path) else { return }
        let kept = Set(ids.map { "\($0)\(Self.suffix)" })
        for name in names where !kept.contains(name) { unlink("\(path)/\(name)") }
    }
}

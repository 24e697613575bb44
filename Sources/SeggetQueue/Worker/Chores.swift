import Assembler
import Foundation
import SeggetReports
import Segmenter

/// What is done on the disk about a task that nobody fetches; blocks.
enum Chores {
    /// How a chore ended.
    enum Outcome: Sendable {
        /// It is done.
        case done
        /// The file was moved, and is another one now.
        case moved(QueueTask.FileMark)
        /// It cannot be done, for this reason; what there is stays where it is.
        case failed(TaskProblem)
    }

    /// Does what a task's chore says; doing it twice does no harm.
    ///
    /// - Parameter task: The task, with its secrets.
    /// - Returns: How it ended.
    static func run(_ task: QueueTask) -> Outcome {
        do throws(AssemblyError) {
            switch task.chore {
            case .discard: try discard(task)
            case .remove(let files):
                guard files else { break }
                try discard(task)
                if let target = target(task.place), let version = task.file?.version {
                    _ = try Assembly.removeFinished(at: target, version, urls: urls(task))
                }
            case .move(let old):
                guard let from = target(old), let to = target(task.place) else { break }
                let folders = NewFolders(to.folder, umask: task.umask)
                makeFolder(to.folder)
                folders.apply()
                let isFinished = task.status.state == .completed
                let moved = try Assembly.move(
                    from: from, to: to, urls: urls(task),
                    finished: isFinished ? task.file?.version : nil)
                switch moved {
                case .part(let identity):
                    return .moved(.init(device: identity.device, inode: identity.inode))
                case .finished(let status): return .moved(.init(status))
                case .nothing, .cancelled: break
                }
            case nil: break
            }
            return .done
        } catch {
            return .failed(
                TaskProblem(
                    DownloadError(
                        reason: .assembly(error), url: DownloadSession.redacted(task.url),
                        path: task.place.path, bytesKept: task.bytesDone)))
        }
    }

    private static func discard(_ task: QueueTask) throws(AssemblyError) {
        guard let target = target(task.place) else { return }
        let known = task.file.map { FileIdentity(device: $0.device, inode: $0.inode) }
        _ = try Assembly.discard(at: target, urls: urls(task), known: known)
    }

    /// Makes a folder that the user named; where that fails, whoever enters it says why.
    private static func makeFolder(_ path: String) {
        try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    /// All URLs that a task's part may have been begun for.
    static func urls(_ task: QueueTask) -> [String] {
        [task.url] + task.urls + task.options.mirrors
    }

    /// Where a task's file goes, as far as it has a name.
    static func target(_ place: QueueTask.Place) -> FileTarget? {
        place.name.map { FileTarget(folder: place.folderPath, name: $0) }
    }
}

extension QueueTask.FileMark {
    /// A finished file, as it stands there.
    init(_ status: FileStatus) {
        self.init(
            device: status.identity.device, inode: status.identity.inode, size: status.size,
            modified: status.modified)
    }

    /// Which finished file it is; `nil` for a part.
    var version: FileVersion? {
        guard let size, let modified else { return nil }
        return FileVersion(
            identity: FileIdentity(device: device, inode: inode), size: size, modified: modified)
    }
}

extension TaskProblem {
    /// Why a download failed.
    init(_ error: DownloadError) {
        let diagnostic = Diagnostic(error)
        self.init(
            kind: diagnostic.kind, message: diagnostic.message, hint: diagnostic.hint,
            code: diagnostic.status.rawValue)
    }
}

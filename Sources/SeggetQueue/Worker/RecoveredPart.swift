import SeggetReports
import Assembler
import Foundation
import Segmenter

/// A part with its manifest that an earlier download has left on the disk.
public struct RecoveredPart: Sendable, Hashable {
    /// A task that continues it: paused, with the URL of the manifest.
    ///
    /// Adding it is refused if a task already has the part.
    public var task: NewTask
    /// Whether the manifest has the whole URL; it leaves out queries and passwords.
    public var isURLComplete: Bool

    /// Finds the parts in a folder, in the order of their names; blocks.
    ///
    /// - Parameter folder: An absolute path.
    /// - Returns: The parts, including those that tasks already have.
    /// - Throws: `unavailable`.
    public static func find(in folder: String) throws(QueueError) -> [RecoveredPart] {
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: folder)
        } catch {
            throw QueueError(.unreadableFolder(folder))
        }
        return names.sorted().compactMap { name -> RecoveredPart? in
            guard name.hasSuffix(PartNames.manifestSuffix) else { return nil }
            let name = String(name.dropLast(PartNames.manifestSuffix.count))
            guard !name.isEmpty,
                FinishedFile.anythingStands(at: "\(folder)/\(PartNames(name).part)"),
                let header = Assembly.headerRecorded(folder: folder, name: name)
            else { return nil }
            var task = NewTask(header.url, to: QueueTask.Place(root: folder, name: name))
            task.isPaused = true
            task.isAgain = true
            task.options.continuesOtherURL = true
            return RecoveredPart(task: task, isURLComplete: header.belongs(to: header.url))
        }
    }
}

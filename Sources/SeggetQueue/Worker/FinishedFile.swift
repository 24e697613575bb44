import Assembler
import Glibc
import Segmenter

/// Facts about the file of a completed task.
enum FinishedFile {
    /// Returns the condition of a completed task's file, by size, inode and the time of its last
    /// change.
    static func look(at task: QueueTask) -> FinishedStanding {
        if let set = task.fileSet { return look(at: set, in: task.place.folderPath) }
        guard let path = task.place.path, let mark = mark(of: path) else { return .missing }
        guard let now = mark.version, let then = task.file?.version, now.isSame(as: then) else {
            return .changed
        }
        return .there
    }

    /// Returns the condition of the files of a completed set, by its records in the folder: nothing
    /// looks at each file.
    private static func look(at set: FileSet, in folder: String) -> FinishedStanding {
        anythingStands(at: "\(folder)/.segget") ? .there : .missing
    }

    /// Returns the mark of the file at a path; `nil` if there is no regular file.
    static func mark(of path: String) -> QueueTask.FileMark? {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return QueueTask.FileMark(
            device: UInt64(status.st_dev), inode: UInt64(status.st_ino),
            size: Int64(status.st_size), modified: Int64(status.st_mtim.tv_sec))
    }

    /// Returns the mark of the part of a file, with the id in its manifest; `nil` if there is no
    /// part.
    static func partMark(at path: String) -> QueueTask.FileMark? {
        let target = FileTarget(path: path)
        guard let part = mark(of: PartNames(path).part) else { return nil }
        return QueueTask.FileMark(
            device: part.device, inode: part.inode, generation: Assembly.generation(at: target))
    }

    /// Returns the number of bytes that a file occupies on the disk; `nil` if it does not exist.
    static func occupiedBytes(at path: String) -> Int64? {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        // st_blocks counts 512 bytes, whatever the block size is (stat(2)).
        return Int64(status.st_blocks) * 512
    }

    /// Returns whether anything exists at a path.
    static func anythingStands(at path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0
    }
}

extension QueueTask {
    /// Notes that the file is complete.
    mutating func finish(_ file: DownloadedFile) {
        size = file.size
        bytesDone = file.size
        verified = file.verified
        self.file = FinishedFile.mark(of: file.path)
        if file.unchanged == .skipped { self.file?.isSkipped = true }
        if file.isPage { self.file?.isPage = true }
    }
}

import Assembler
import Segmenter

extension TaskReport {
    /// Creates the report of a task.
    ///
    /// - Parameters:
    ///   - task: Its record.
    ///   - position: Its place in the order, counted from 1.
    ///   - run: How far its download is, while it has one.
    ///   - file: The condition of the finished file.
    ///   - pause: The reason why the queue is paused.
    init(
        _ task: QueueTask, position: Int?, run: RunFigures? = nil,
        file: FinishedStanding? = nil, pause: String? = nil
    ) {
        let status = task.status
        id = task.id
        state = status.word
        wanted = status.wanted
        url = Self.shown(task.url)
        queryTag = Self.queryTag(task.url)
        if let first = task.urls.first, first != task.url {
            let current = Self.shown(first)
            currentURL = current == url ? nil : current
        }
        path = task.place.path
        folder = task.place.folderPath
        self.position = status.isEnded ? nil : position
        rank = status.position
        bytesDone = task.bytesDone
        size = task.size
        error = status.problem?.forClients
        attempts = status.attempts
        if case .retrying(let time) = status.state { retryAt = time }
        if case .waitingForNetwork(let time) = status.state { waitingSince = time }
        added = task.added
        started = task.started
        finished = task.finished
        lastByte = task.lastByte
        contentType = task.contentType
        digests = task.verified.map(\.description)
        tags = task.tags
        seen = status.isEnded ? task.isSeen : nil
        self.file = file?.rawValue
        if case .completed = status.state {
            (skipped, html) = (task.file?.isSkipped, task.file?.isPage)
        }
        self.pause(pause)
        if let set = run?.set ?? task.fileSet { take(set) }
        if let progress = run?.progress, progress.phase != .ended { take(progress) }
    }

    /// Adds the reason why the queue is paused, if the task waits for a slot.
    package mutating func pause(_ reason: String?) {
        if state == .waiting { pauseReason = reason }
    }

    /// Returns a URL without credentials and query.
    private static func shown(_ url: String) -> String {
        // Most URLs have neither, and parsing thousands of them would take longest.
        let isPlain =
            (url.hasPrefix("https://") || url.hasPrefix("http://"))
            && url.utf8.allSatisfy { byte in
                byte > 0x20 && byte < 0x7f && byte != UInt8(ascii: "@") && byte != UInt8(ascii: "?")
                    && byte != UInt8(ascii: "#") && byte != UInt8(ascii: "\\")
            }
        return isPlain ? url : DownloadSession.redacted(url)
    }

    /// Corrects the report of a task that has a slot, but no worker.
    ///
    /// - Parameter task: Its record, as the last worker left it.
    mutating func stop(_ task: QueueTask) {
        state = .waiting
        guard let target = Chores.target(task.place) else { return }
        bytesDone = Assembly.bytesRecorded(folder: target.folder, name: target.name)
    }

    /// Adds the numbers of a set's files.
    private mutating func take(_ set: FileSet) {
        (files, filesDone, filesFailed) = (set.files, set.filesDone, set.filesFailed)
    }

    /// Adds the progress of the task.
    mutating func take(_ progress: DownloadProgress) {
        // Bytes that are not checked yet count as present.
        bytesDone = max(progress.bytesDone + progress.bytesVerifying, 0)
        size = progress.size ?? size
        bytesPerSecond = progress.bytesPerSecond
        secondsLeft = progress.timeLeft.map { $0 / .seconds(1) }
        connections = progress.connections
    }
}

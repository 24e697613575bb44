public import SeggetQueue

/// The code of the articles about the queue.
public enum QueueExamples {
    // MARK: Run a queue

    /// Downloads one file.
    public static func fetch(_ url: String, into folder: String, _ file: String) async throws
        -> String?
    {
        try await withDownloadQueue(at: file) { queue in
            let id = try await queue.add(NewTask(url, to: .init(root: folder)))
            let task = try await queue.ended(id)
            return task.state == "completed" ? task.path : nil
        }
    }

    /// Pauses and moves tasks of a queue.
    public static func tell(_ queue: DownloadQueue, _ id: QueueTask.ID) async throws {
        let results = try await queue.perform([
            .pause(TaskSelection(tags: ["big"])),
            .move(TaskSelection(id), to: .first),
        ])
        for result in results.joined() where result.outcome == .refused {
            print(result.message ?? "refused")
        }
    }

    /// Changes the settings of a queue.
    public static func set(_ queue: DownloadQueue) async throws {
        var settings = try await queue.settings()
        settings.maxRunning = 5
        settings.rateLimit = 2_000_000
        try await queue.change(settings)
    }

    /// Downloads a group of files.
    public static func group(
        _ urls: [String], into folder: String, _ queue: DownloadQueue
    ) async throws -> Int {
        try await queue.withGroup(atEnd: .cancels) { group in
            for url in urls { try await group.add(NewTask(url, to: .init(root: folder))) }
            return try await group.ended().count { $0.state == "completed" }
        }
    }

    // MARK: Observe it

    /// Prints the progress of the queue.
    public static func watch(_ queue: DownloadQueue) async {
        for await now in await queue.snapshots() {
            print(now.running.count, "running,", Int(now.bytesPerSecond), "bytes per second")
            if now.bytesDone == now.size, now.running.isEmpty { break }
        }
    }

    /// Waits for the first completed file, and returns its path.
    public static func first(_ queue: DownloadQueue) async -> String? {
        for await event in await queue.events() {
            if case .changed(let task) = event, task.state == "completed" { return task.path }
        }
        return nil
    }

    /// Prints the failed tasks.
    public static func failures(_ queue: DownloadQueue) async throws {
        let failed = TaskFilter(selection: TaskSelection(states: ["failed"]))
        for task in try await queue.report(failed).tasks {
            print(task.url, task.error?.message ?? "")
        }
    }

    // MARK: Survive a restart

    /// Resumes the queue, and returns the number of completed tasks.
    public static func goOn(_ file: String) async throws -> Int {
        try await withDownloadQueue(at: file) { queue in
            try await queue.idle()
            return try await queue.report(TaskFilter()).counts["completed"] ?? 0
        }
    }

    /// Reads the unseen results, and marks them as seen.
    public static func news(_ queue: DownloadQueue) async throws -> Int {
        var news = TaskFilter()
        news.isUnseen = true
        let report = try await queue.report(news)
        let ids = report.tasks.map(\.id.description)
        _ = try await queue.perform([.markSeen(TaskSelection(ids: ids))])
        return ids.count
    }

    /// Adds a task while the queue has no worker.
    public static func add(_ url: String, into folder: String, _ file: String) async throws -> Int {
        let door = DirectDoor(file)
        _ = try await door.perform([.add(NewTask(url, to: .init(root: folder)))])
        return try await door.report(TaskFilter()).tasks.count
    }
}

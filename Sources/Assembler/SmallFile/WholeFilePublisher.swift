import Glibc

/// Publishes small files in groups on a separate thread.
///
/// The files that arrive while one group is being published form the next group. For each group,
/// the thread writes all files, makes them durable, names them, and makes the folders durable. Any
/// thread may use it.
package final class WholeFilePublisher: Sendable {
    /// The result of publishing a file.
    package enum Outcome: Sendable {
        /// The file has its name, durably.
        case published(PublishedFile)
        /// The file was not published, and nothing has changed.
        ///
        /// Either there is an obstacle, or the file system does not support this. The caller must
        /// use a part and a manifest.
        case declined
        /// The file has its name, but its folder could not be made durable.
        case named(AssemblyError)
    }

    /// A file to publish.
    package struct Job: Sendable {
        /// The content of the file.
        var bytes: [UInt8]
        /// Chooses the name and returns the parameters; `nil` if the file is no longer needed.
        ///
        /// Called on the publisher's thread, in the order of submission, with a function that
        /// returns whether a folder is open, because another file of the group is in it.
        var request: @Sendable ((String) -> Bool) -> Assembly.Request?
        /// Called once on the publisher's thread with the result and the chosen name.
        ///
        /// Not called if `request` returned `nil`.
        var report: @Sendable (Outcome, String) -> Void

        package init(
            bytes: [UInt8],
            request: @escaping @Sendable ((String) -> Bool) -> Assembly.Request?,
            report: @escaping @Sendable (Outcome, String) -> Void
        ) {
            self.bytes = bytes
            self.request = request
            self.report = report
        }
    }

    /// A file that is written but not yet durable.
    private struct Entry {
        let file: WholeFile
        let report: @Sendable (Outcome, String) -> Void
    }

    private struct State {
        var jobs: [Job] = []
        var thread: OwnedThread?
        var isOver = false
    }

    /// The maximum number of files in a group, which are open at the same time.
    private static let largestGroup = 64

    private let state = Monitor(State())

    package init() {}

    /// Adds a file to the queue; never blocks.
    ///
    /// The `request` closure of another job may call this.
    package func submit(_ job: Job) {
        state.withLock { state in
            state.jobs.append(job)
            guard state.thread == nil else { return }
            state.thread = OwnedThread(name: "publish") { [self] in run() }
        }
    }

    /// Publishes the submitted files and ends the thread.
    ///
    /// May block.
    package func finish() {
        let thread = state.withLock { state in
            state.isOver = true
            defer { state.thread = nil }
            return state.thread
        }
        thread?.join()
    }

    private func run() {
        let umask = processUmask()
        while true {
            let isOver = state.wait { state -> Bool? in
                state.jobs.isEmpty ? (state.isOver ? true : nil) : false
            }
            if isOver != false { return }
            publishGroup(umask: umask)
        }
    }

    /// Removes up to `count` jobs from the queue and returns them.
    private func take(_ count: Int) -> [Job] {
        state.withLock { state in
            // An empty copy would share the storage to which other threads append next.
            guard !state.jobs.isEmpty else { return [] }
            let jobs = Array(state.jobs.prefix(count))
            state.jobs.removeFirst(jobs.count)
            return jobs
        }
    }

    /// Publishes the queued files as one group.
    private func publishGroup(umask: mode_t) {
        var folders: [String: (folder: Folder, permissions: FilePermissions)] = [:]
        var files: [Entry] = []
        let generation = UInt64.random(in: 0...UInt64.max)
        while files.count < Self.largestGroup {
            // `request` may submit the next file of the list, so take jobs until there are no more.
            let jobs = take(Self.largestGroup - files.count)
            if jobs.isEmpty { break }
            for job in jobs {
                guard let request = job.request({ folders[$0] != nil }) else { continue }
                if folders[request.folder] == nil {
                    folders[request.folder] = (try? Folder(request.folder)).map {
                        ($0, $0.permissions(umask: umask))
                    }
                }
                guard let (folder, permissions) = folders[request.folder],
                    let file = WholeFile(
                        job.bytes, request, in: folder,
                        generation: generation &+ UInt64(files.count), permissions: permissions)
                else {
                    job.report(.declined, request.name)
                    continue
                }
                files.append(Entry(file: file, report: job.report))
            }
        }
        if files.count > 1 { for entry in files { entry.file.startWriting() } }
        var named: [Entry] = []
        // Make all files durable before any of them gets a name.
        let durable = files.map { $0.file.sync() }
        for (index, entry) in files.enumerated() {
            if durable[index], entry.file.nameIt() {
                named.append(entry)
            } else {
                entry.file.close()
                entry.report(.declined, entry.file.name)
            }
        }
        var failures: [ObjectIdentifier: AssemblyError] = [:]
        for folder in Set(named.map { ObjectIdentifier($0.file.folder) }) {
            guard let one = named.first(where: { ObjectIdentifier($0.file.folder) == folder })
            else { continue }
            do throws(AssemblyError) { try one.file.folder.sync() } catch {
                failures[folder] = error
            }
        }
        for entry in named {
            let file = entry.file
            file.close()
            let failure = failures[ObjectIdentifier(file.folder)]
            entry.report(failure.map { .named($0) } ?? .published(file.published), file.name)
        }
    }
}

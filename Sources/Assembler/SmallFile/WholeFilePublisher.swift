import Glibc

/// Publishes small files in groups, on a thread of its own: all that have come while the last group
/// was made durable are the next one.
///
/// Of each group all files are written, then made durable, then named, then the folders are made
/// durable. May be used from any thread.
package final class WholeFilePublisher: Sendable {
    /// What became of a file.
    package enum Outcome: Sendable {
        /// It has its name.
        case published(PublishedFile)
        /// It is to be put together with a part and a manifest: something is in the way, or the file
        /// system cannot do it otherwise. Nothing has changed.
        case declined
        /// It has its name, but that is not durable.
        case named(AssemblyError)
    }

    /// One file.
    package struct Job: Sendable {
        /// The whole file.
        var bytes: [UInt8]
        /// Chooses the name, and says what is wanted; `nil` when there is nothing to be done any more.
        ///
        /// Called on the publisher's thread, in the order of submitting.
        var request: @Sendable () -> Assembly.Request?
        /// Called once with what became of it and the name that was chosen, on the publisher's thread,
        /// unless `request` gave nothing.
        var report: @Sendable (Outcome, String) -> Void

        package init(
            bytes: [UInt8], request: @escaping @Sendable () -> Assembly.Request?,
            report: @escaping @Sendable (Outcome, String) -> Void
        ) {
            self.bytes = bytes
            self.request = request
            self.report = report
        }
    }

    /// A file that is written, and not yet durable.
    private struct Entry {
        let file: WholeFile
        let report: @Sendable (Outcome, String) -> Void
    }

    private struct State {
        var jobs: [Job] = []
        var thread: OwnedThread?
        var isOver = false
    }

    /// Files of a group: descriptors that are open at a time.
    private static let largestGroup = 64

    private let state = Monitor(State())

    package init() {}

    /// Hands over a file; never waits.
    ///
    /// `request` of an earlier one may do this too.
    package func submit(_ job: Job) {
        state.withLock { state in
            state.jobs.append(job)
            guard state.thread == nil else { return }
            state.thread = OwnedThread(name: "publish") { [self] in run() }
        }
    }

    /// Ends the thread, after what was submitted.
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

    /// Takes what waits, up to `count`.
    private func take(_ count: Int) -> [Job] {
        state.withLock { state in
            // An empty array would be the one that others append to next.
            guard !state.jobs.isEmpty else { return [] }
            let jobs = Array(state.jobs.prefix(count))
            state.jobs.removeFirst(jobs.count)
            return jobs
        }
    }

    /// Publishes what waits, with the permissions that `umask` leaves.
    private func publishGroup(umask: mode_t) {
        var folders: [String: (folder: Folder, permissions: FilePermissions)] = [:]
        var files: [Entry] = []
        while files.count < Self.largestGroup {
            // Choosing a name lets the next file of the list choose its own.
            let jobs = take(Self.largestGroup - files.count)
            if jobs.isEmpty { break }
            for job in jobs {
                guard let request = job.request() else { continue }
                if folders[request.folder] == nil {
                    folders[request.folder] = (try? Folder(request.folder)).map {
                        ($0, $0.permissions(umask: umask))
                    }
                }
                guard let (folder, permissions) = folders[request.folder],
                    let file = WholeFile(
                        job.bytes, request, in: folder, permissions: permissions)
                else {
                    job.report(.declined, request.name)
                    continue
                }
                files.append(Entry(file: file, report: job.report))
            }
        }
        if files.count > 1 { for entry in files { entry.file.startWriting() } }
        var named: [Entry] = []
        // Each is durable before any has a name.
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

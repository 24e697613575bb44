// Batch: the files of a list, their order, names and slots, and the small files among them. This
// folder knows how many downloads run and which names they have, not how a file is downloaded.

import Assembler
import SegmenterRules
import SegmenterTransport

/// Runs the files of one batch.
final class BatchRun: Sendable {
    /// Records the result of a file, by its index in the list; must not block.
    typealias Record = @Sendable (Int, Result<DownloadedFile, DownloadError>) -> Void

    let loop: TransferLoop
    let list: BatchList
    let failFast: Bool
    let names: BatchNames
    let events: BatchEvents
    private let refreshURL: RefreshURL?
    private let record: Record?
    /// The cookies of the batch.
    private let jars: CookieJars
    /// The attempts that a server may refuse before later files stop waiting for the file's name.
    private static let patience = 6
    /// Seconds for which later files wait for the name of a file that is set aside.
    private static let longestAside = 5.0
    private let turns = BatchTurns()
    private let gate: BatchGate
    private let publisher = WholeFilePublisher()
    private let slots: BatchSlots
    private let firstRequests: FirstRequests
    /// The indices of files whose paths are already taken, determined before the files start.
    private let refused = Monitor<Set<Int>>([])
    private let running = Monitor<Set<Int>>([])
    /// Whether a manifest belongs to a file of the list, by its generation.
    private let owners = Monitor<[String: Bool]>([:])
    /// Whether all files share the connections of each host, and a rate limit of their options;
    /// otherwise each has its own.
    private let sharesHosts: Bool
    /// Whether the list has only one file, which is downloaded like one without a list.
    private var isSingle: Bool { list.ends(after: 1) }
    /// The number of the rate limit that the files share.
    private let number = numbers.withLock { number in
        number -= 1
        return number
    }
    private static let numbers = Monitor(0)
    /// The files that are not queued yet.
    private let backlog = Monitor(HostGovernor.Backlog())
    /// The origins that use HTTP/1.1 over TLS.
    private let plainOrigins = Monitor<Set<String>>([])

    init(
        loop: TransferLoop, list: BatchList, jobs: Int?, failFast: Bool, names: BatchNames,
        events: BatchEvents, refreshURL: RefreshURL? = nil, jars: CookieJars? = nil,
        sharesHosts: Bool = true, record: Record? = nil
    ) {
        self.sharesHosts = sharesHosts
        self.loop = loop
        self.jars = jars ?? CookieJars()
        self.refreshURL = refreshURL
        self.record = record
        self.list = list
        let width = BatchWidth(
            jobs: DescriptorBudget.current.jobs(jobs),
            first: sharesHosts ? BatchWidth.first : BatchWidth.large)
        slots = BatchSlots(width)
        gate = BatchGate(width.largeLimit)
        firstRequests = FirstRequests(loop, slots)
        self.failFast = failFast
        self.names = names
        self.events = events
    }

    /// Adds files at the end of the list.
    ///
    /// - Returns: Their indices; `nil` when the list is closed.
    func add(_ items: [BatchItem]) -> Range<Int>? {
        let places = list.add(items)
        slots.look()
        return places
    }

    /// Closes the list.
    func close() {
        list.close()
        slots.look()
    }

    func callAsFunction() async {
        names.begin()
        await withTaskCancellationHandler {
            await runAll()
        } onCancel: {
            firstRequests.cancel()
            slots.look()
        }
        list.close()
        await offLoop("publish") { self.publisher.finish() }
        names.end()
        events.finish()
    }

    private func runAll() async {
        // The number of tasks is limited by the slots, not by the length of the list.
        await withDiscardingTaskGroup { group in
            var next = 0
            // The number of files whose given paths were checked.
            var count = 0
            var begun = Begun()
            // The next stretch is examined while the current one has files to start.
            var ahead: Task<Begun, Never>?
            while true {
                let isStopping = failFast && slots.hasFailure
                if isStopping {
                    group.cancelAll()
                    firstRequests.cancel()
                    list.close()
                } else if count < list.count {
                    if count == 0 {
                        // The number of connections of a file also limits that of small files.
                        if !sharesHosts { slots.limit(to: list[0].options.connections) }
                        gate.resize(to: places)
                    }
                    count = await takeNamedPaths(from: count)
                    noteBacklog(next..<count)
                    owners.withLock { $0 = $0.filter(\.value) }
                }
                var entries: [FirstRequests.Entry] = []
                while next < count, slots.hasRoom(for: list.size(next)), !gate.isBusy, !isStopping,
                    !Task.isCancelled
                {
                    if !begun.knows(next) {
                        if let ahead {
                            begun = await ahead.value
                        } else {
                            begun = await look(next..<count)
                        }
                        let rest = begun.range.upperBound..<count
                        ahead = rest.isEmpty ? nil : Task { await look(rest) }
                    }
                    let (index, isBegun, file) = (next, begun.contains(next), begun[next])
                    if !isBegun, let entry = firstRequest(index, file) {
                        slots.queue(size: entry.size)
                        entries.append(entry)
                    } else {
                        // Files start in the order of the list. A file with a slot may wait for the
                        // names of all earlier files, so none of these may be waiting for a slot.
                        guard slots.mayStart(at: file.url?.origin), !isBegun || gate.tryEnter()
                        else {
                            break
                        }
                        slots.begin(index, isLarge: isBegun, at: file.url?.origin)
                        group.addTask { await self.run(index, file, isBegun: isBegun) }
                    }
                    next += 1
                    backlog.withLock { backlog in
                        backlog.files = count - next
                        backlog.bytes = backlog.bytes.map { $0 - (list.size(index) ?? 0) }
                    }
                }
                if !entries.isEmpty || slots.isStuck { firstRequests.send(entries) }
                for file in slots.takeUnfinished() {
                    group.addTask {
                        self.end(file.index, await file.run.withinTime(file.answered))
                    }
                }
                // Empty slots alone do not end the batch: files of the list may still have to
                // start.
                if list.ends(after: next) || isStopping || Task.isCancelled, slots.isEmpty { break }
                await slots.change()
            }
            _ = await ahead?.value
        }
    }

    /// The number of places at the gate.
    ///
    /// More files than that may turn out to be large at about the same time.
    private var places: Int { sharesHosts ? 2 * slots.largeLimit : slots.largeLimit }

    /// Counts the files that are not queued yet, and their bytes.
    private func noteBacklog(_ files: Range<Int>) {
        var bytes: Int64? = 0
        for index in files {
            guard let sum = bytes, let size = list.size(index) else {
                bytes = nil
                break
            }
            bytes = sum + size
        }
        backlog.withLock { $0 = .init(files: files.count, bytes: bytes) }
    }

    /// The facts about the set that the files' fetches need; `nil` if each has connections of its own.
    private var set: Fetch.FileSet? {
        guard sharesHosts, !isSingle else { return nil }
        return Fetch.FileSet(
            number: number,
            backlog: { [backlog, slots] origin in
                var backlog = backlog.withLock { $0 }
                let queued = slots.queued
                backlog.files += queued.files
                backlog.bytes = backlog.bytes.map { $0 + queued.bytes }
                backlog.active = slots.active(of: origin)
                return backlog
            },
            found: { [self] origin, room in
                guard slots.take(room, of: origin) else { return }
                gate.resize(to: places)
                slots.look()
            })
    }

    /// The request that may deliver a whole file without a task; `nil` if the file needs a task.
    private func firstRequest(_ index: Int, _ file: Begun.File) -> FirstRequests.Entry? {
        guard case .success(let run) = download(file.item, index, file.url, isBegun: false),
            let url = file.url, let (probe, first) = run.firstRequest(range(for: url))
        else { return nil }
        var request = first
        let range = request.range ?? Probe.smallRange
        // No range of an empty file can be satisfied.
        if list.size(index) == 0 { request.range = nil }
        begin(index, url)
        let began = monotonicSeconds()
        let size = list.size(index)
        return FirstRequests.Entry(index: index, request: request, size: size, url: url) {
            [self] exchange in
            if url.isSecure, exchange.isKept, !exchange.isHTTP2 {
                plainOrigins.withLock { _ = $0.insert(url.origin) }
            }
            let answered = DownloadRun.Answered(exchange: exchange, began: began, range: range)
            guard exchange.isWhole else { return goOn(index, run, answered) }
            slots.park(index, bytes: exchange.body.count, isFollowed: true)
            run.publish(answered, probe) { [self] result, answered in
                if let result { end(index, result) } else { goOn(index, run, answered) }
            }
        }
    }

    /// Returns the bytes that the first request of a file asks for.
    ///
    /// A long response over a connection that is shared with other requests (HTTP/2) could not be
    /// continued.
    private func range(for url: WebURL) -> ByteRange {
        let isPlain =
            !url.isSecure || plainOrigins.withLock { $0.contains(url.origin) }
        return sharesHosts && !isSingle && isPlain ? Probe.setRange : Probe.smallRange
    }

    /// Starts a task for a file that its first request did not deliver completely.
    private func goOn(_ index: Int, _ run: DownloadRun, _ answered: DownloadRun.Answered) {
        slots.leave(.init(index: index, run: run, answered: answered))
    }

    private func begin(_ index: Int, _ url: WebURL?) {
        let url = url?.redacted ?? ""
        events.offer(BatchEvent(index: list.place(of: index), kind: .begun(url: url)))
        running.withLock { _ = $0.insert(index) }
    }

    private func end(_ index: Int, _ result: Result<DownloadedFile, DownloadError>) {
        running.withLock { _ = $0.remove(index) }
        turns.settle(index)
        let place = list.place(of: index)
        record?(place, result)
        events.offer(BatchEvent(index: place, kind: .ended(result)))
        slots.end(index, of: WebURL(list[index].url)?.origin, isDone: (try? result.get()) != nil)
    }

    /// Assigns the given paths of files from `start` on, before any of them gets a suggested name.
    ///
    /// - Returns: The number of files that are in the list by now.
    private func takeNamedPaths(from start: Int) async -> Int {
        await offLoop("names") { [self] in
            let count = list.count
            // Without suggested names, each path is taken when its file is looked at.
            guard !list.hasOwnPaths else { return count }
            for index in start..<count { takePath(of: list[index], index) }
            return count
        }
    }

    private func takePath(of item: BatchItem, _ index: Int) {
        guard case .file(let path) = item.destination, !item.options.naming.numbersTaken else {
            return
        }
        if !names.take(FileTarget(path: path)) { refused.withLock { _ = $0.insert(index) } }
    }

    /// Finds the files whose names or parts exist on disk, in the first stretch of a range.
    private func look(_ range: Range<Int>) async -> Begun {
        await offLoop("names") { [self] in
            var begunNames: [String: Set<String>] = [:]
            let length = range.lowerBound == 0 ? Begun.firstStretch : Begun.stretch
            var begun = Begun(range: range.prefix(length))
            for index in begun.range {
                let item = list[index]
                if sharesHosts { slots.bound(to: item.options.connections) }
                let url = WebURL(item.url)
                begun.files.append(.init(item: item, url: url))
                if list.hasOwnPaths { takePath(of: item, index) }
                // A file with a single request always gets a task.
                guard item.options.mirrors.isEmpty, !item.options.singleRequest else {
                    begun.found.insert(index)
                    continue
                }
                let target: FileTarget
                var isSuggested = false
                switch item.destination {
                case .file(let path): target = FileTarget(path: path)
                case .folder(let path):
                    guard let url else { continue }
                    isSuggested = true
                    target = .init(
                        folder: path, name: FileName.suggested(disposition: nil, url: url))
                case .descriptor, .null:
                    begun.found.insert(index)
                    continue
                }
                if begunNames[target.folder] == nil {
                    begunNames[target.folder] = names.begunNames(in: target.folder)
                }
                // A file that has appeared since then is found when this one is published.
                guard let here = begunNames[target.folder],
                    Assembly.mayBeTouched(target.name, among: here),
                    let folder = try? Folder(target.folder)
                else { continue }
                if !Assembly.isUntouched(target.name, in: folder),
                    // A file that this run has created only leads to a number for this one.
                    !isSuggested || !names.isNew(target)
                {
                    begun.found.insert(index)
                }
            }
            return begun
        }
    }

    /// Runs one file to its end.
    private func run(_ index: Int, _ file: Begun.File, isBegun: Bool) async {
        begin(index, file.url)
        switch download(file.item, index, file.url, isBegun: isBegun) {
        case .success(let run): end(index, await run.withinTime())
        case .failure(let error):
            // The download would have released the place at the gate.
            if isBegun { gate.leave() }
            end(index, .failure(error))
        }
    }

    /// Reports, in order, what would be done with each file.
    func preview(_ report: (Int, Result<DownloadPreview, DownloadError>) -> Void) async {
        names.begin()
        for index in 0..<(await takeNamedPaths(from: 0)) where !Task.isCancelled {
            let item = list[index]
            switch download(item, index, WebURL(item.url)) {
            case .success(let run): report(index, await run.preview())
            case .failure(let error): report(index, .failure(error))
            }
            turns.settle(index)
        }
        names.end()
    }

    /// Adds an event to those of the running file that is first in the list.
    func report(_ event: DownloadEvent) {
        guard let first = running.withLock({ $0.min() }) else { return }
        events.offer(BatchEvent(index: list.place(of: first), kind: .event(event)))
    }

    /// Creates the download of a file; fails if another file has the path that the item specifies.
    private func download(
        _ item: BatchItem, _ index: Int, _ url: WebURL?, isBegun: Bool = true
    ) -> Result<DownloadRun, DownloadError> {
        if refused.withLock({ $0.contains(index) }), case .file(let path) = item.destination {
            let path = FileTarget(path: path).path
            return .failure(
                DownloadError(
                    reason: .nameTaken(path: path), url: url?.redacted ?? "", path: path,
                    bytesKept: 0))
        }
        let mustBeFree = item.options.naming.numbersTaken
        if case .file = item.destination, !mustBeFree { turns.settle(index) }
        let batch = BatchContext(
            naming: { [self] target, urls, keeps throws(DownloadError.Reason) in
                try await name(target, urls, index, mustBeFree: mustBeFree, keeps: keeps)
            },
            existing: { [self] target throws(DownloadError.Reason) in
                try await existing(target, index)
            }, publisher: publisher, gate: gate, isBegun: isBegun,
            hasCome: { [slots] in slots.park(index, bytes: $0) },
            isComplete: { [slots] in slots.complete(index) },
            isDeclined: { [slots] in slots.unpark(index) },
            isDone: { [slots] in slots.adjust(wait: $0) },
            whenDue: { [turns] in turns.whenDue(index, $0) },
            stepAside: { [turns, slots] origin, delay, isDemanded in
                // Later files wait only for a limited time for the name of this one.
                let turn = Task {
                    try await Task.sleep(for: .seconds(Self.longestAside))
                    turns.settle(index)
                }
                await slots.stepAside(
                    index, of: origin, for: delay, isDemanded: isDemanded)
                turn.cancel()
            }, set: set, folders: names.made,
            claim: { [self] target, urls, keeps throws(AssemblyError) in
                defer { turns.settle(index) }
                return try names.claim(
                    target, urls: urls, mustBeFree: mustBeFree, keepsSuggested: keeps,
                    isAnothers: isOneOfOurs)
            })
        let run = DownloadRun(
            loop: loop, urlText: item.url, url: url, destination: item.destination,
            options: item.options, refreshURL: refreshURL, batch: batch, jars: jars,
            parts: names.parts
        ) { [turns, events, list] event in
            // Later files do not wait for the name of a file whose server does not respond, or
            // keeps reporting that it is overloaded.
            if case .notice(.retrying(_, let attempt, _, let cause)) = event,
                attempt > Self.patience || !cause.isTooMuch
            {
                turns.settle(index)
            }
            events.offer(BatchEvent(index: list.place(of: index), kind: .event(event)))
        }
        return .success(run)
    }

    /// Waits for the file's turn and returns its name.
    private func name(
        _ target: FileTarget, _ urls: [String], _ index: Int, mustBeFree: Bool, keeps: Bool
    ) async throws(DownloadError.Reason) -> String {
        await turns.wait(index)
        guard !Task.isCancelled else { throw .cancelled }
        do throws(AssemblyError) {
            let name = try await offLoop("names") { [self] () throws(AssemblyError) in
                try names.claim(
                    target, urls: urls, mustBeFree: mustBeFree, keepsSuggested: keeps,
                    isAnothers: isOneOfOurs)
            }
            turns.settle(index)
            return name
        } catch {
            throw .assembly(error)
        }
    }

    /// Waits for the file's turn and returns the name of an existing file to be skipped.
    private func existing(
        _ target: FileTarget, _ index: Int
    ) async throws(DownloadError.Reason) -> String? {
        await turns.wait(index)
        guard !Task.isCancelled else { throw .cancelled }
        let name = await offLoop("names") { [self] in names.takeExisting(target) }
        if name != nil { turns.settle(index) }
        return name
    }

    /// Returns whether a manifest belongs to a file of the list.
    private func isOneOfOurs(_ header: Manifest.Header) -> Bool {
        if let known = owners.withLock({ $0[header.generation] }) { return known }
        let found = (0..<list.count).contains { index in
            let item = list[index]
            return ([item.url] + item.options.mirrors).contains { url in
                WebURL(url).map { header.belongs(to: $0.text) } ?? false
            }
        }
        owners.withLock { $0[header.generation] = found }
        return found
    }
}

extension TransferFailure {
    /// Whether the server reports that it is overloaded.
    fileprivate var isTooMuch: Bool {
        if case .status(let status) = self { isOverload(status) } else { false }
    }
}

/// The files in a stretch of the list whose expected names, or parts of them, exist on disk.
private struct Begun: Sendable {
    /// A file of the list.
    struct File: Sendable {
        let item: BatchItem
        /// Its URL; `nil` if the text is not a URL.
        let url: WebURL?
    }

    /// The number of files in a stretch.
    fileprivate static let stretch = 128
    /// The number of files in the first stretch, for which the start of the batch waits.
    fileprivate static let firstStretch = 16

    var range = 0..<0
    var found: Set<Int> = []
    var files: [File] = []

    func knows(_ index: Int) -> Bool { range.contains(index) }
    func contains(_ index: Int) -> Bool { found.contains(index) }
    subscript(_ index: Int) -> File { files[index - range.lowerBound] }
}

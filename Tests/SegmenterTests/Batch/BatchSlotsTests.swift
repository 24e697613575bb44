import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

@Suite(.timeLimit(.minutes(5)))
struct BatchSlotsTests {
    @Test func parkedFilesFreeSlots() {
        let slots = BatchSlots(BatchWidth(jobs: nil))
        for _ in 0..<8 { slots.begin() }
        #expect(!slots.mayStart() && !slots.isEmpty)
        slots.park(0, bytes: 1_000)
        #expect(slots.mayStart())
        slots.begin()
        slots.unpark(0)
        #expect(!slots.mayStart())
        for index in 0..<8 { slots.end(index, isDone: true) }
        #expect(slots.mayStart() && !slots.isEmpty && !slots.hasFailure)
        slots.park(8, bytes: 1_000)
        slots.end(8, isDone: false)
        #expect(slots.isEmpty && slots.hasFailure)
    }

    @Test func parkedFilesCountWithGivenNumber() {
        let slots = BatchSlots(BatchWidth(jobs: 2))
        for _ in 0..<2 { slots.begin() }
        slots.park(0, bytes: 1_000)
        #expect(!slots.mayStart() && !slots.hasRoom(for: nil))
        slots.end(0, isDone: true)
        #expect(slots.mayStart() && slots.hasRoom(for: nil))
    }

    /// As many files as may be active can be queued.
    ///
    /// Their requests are sent when other files end.
    @Test func queuesFirstRequests() {
        let slots = BatchSlots(BatchWidth(jobs: nil))
        var count = 0
        while slots.hasRoom(for: nil), count < 100 {
            slots.queue()
            count += 1
        }
        #expect(count == 16)
        for index in 0..<16 { #expect(slots.start() == (index < 8)) }
        #expect(!slots.mayStart() && !slots.isStuck && !slots.hasRoom(for: nil))
        slots.park(0, bytes: 1_000, isFollowed: true)
        #expect(slots.isStuck && slots.start() && !slots.start())
        for _ in 0..<7 { #expect(slots.start(must: true)) }
        #expect(!slots.start(must: true) && !slots.isEmpty)
        for index in 0..<16 { slots.end(index, isDone: true) }
        #expect(slots.isEmpty)
    }

    @Test func queuesNothingWithGivenNumber() {
        let slots = BatchSlots(BatchWidth(jobs: 2))
        for _ in 0..<2 {
            #expect(slots.hasRoom(for: nil))
            slots.queue()
        }
        #expect(
            !slots.hasRoom(for: nil) && slots.start() && slots.start() && !slots.hasRoom(for: nil))
    }

    /// `change` returns if a queued request could start.
    @Test func reportsStuckRequests() async {
        let slots = BatchSlots(BatchWidth(jobs: nil))
        for _ in 0..<16 { slots.queue() }
        for _ in 0..<8 { #expect(slots.start()) }
        slots.end(0, isDone: true)
        await slots.change()
        #expect(slots.isStuck)
    }

    @Test(arguments: [
        (0, nil, BatchSlots.mostParked.files), (1 << 20, nil, 4), (1 << 20, 0.02, 4),
        (256 << 10, 0.001, 4),
    ])
    func parkedFilesAreBounded(bytes: Int, wait: Double?, most: Int) {
        let slots = BatchSlots(BatchWidth(jobs: nil))
        slots.adjust(wait: wait.map { .init(usual: $0, least: $0) })
        var count = 0
        while slots.mayStart(), count < 10_000 {
            slots.begin()
            slots.park(count, bytes: bytes)
            count += 1
        }
        #expect(count == most)
        slots.end(0, isDone: true)
        #expect(slots.mayStart())
    }

    @Test func changeIsNotMissed() async {
        let slots = BatchSlots(BatchWidth(jobs: nil))
        slots.begin()
        slots.begin()
        slots.end(0, isDone: true)
        await slots.change()
        let ending = Task { slots.end(1, isDone: true) }
        await slots.change()
        await ending.value
        #expect(slots.isEmpty)
    }

    /// `change` returns after files were added, even if none is active.
    @Test func addedFilesEndWaitForChange() async {
        let slots = BatchSlots(BatchWidth(jobs: 2))
        slots.look()
        await slots.change()
        async let news: Void = slots.change()
        slots.look()
        await news
        #expect(slots.isEmpty)
    }

    /// A list that was empty at first gets the number of connections with its first file.
    @Test(arguments: [(ConnectionCount.fixed(1), 4), (3, 12), (60, 48), (.automatic, 48)])
    func givenConnectionsLimitWidth(connections: ConnectionCount, most: Int) {
        var width = BatchWidth(jobs: nil)
        width.limit(to: connections)
        for _ in 0..<100 { width.adjust() }
        #expect(width.width == most)
        var asked = BatchWidth(jobs: 7)
        asked.limit(to: connections)
        asked.adjust()
        #expect(asked.width == 7)
    }

    /// Of each host, as many files may be active as it may have connections.
    @Test(arguments: [nil, 8])
    func boundCountsFilesOfHost(jobs: Int?) {
        let (origin, other) = (Self.origin, "http://b.test:80")
        let slots = BatchSlots(BatchWidth(jobs: jobs))
        slots.bound(to: 2)
        slots.begin(0, isLarge: true, at: origin)
        #expect(slots.mayStart(at: origin))
        slots.queue()
        #expect(slots.start(1, at: origin))
        #expect(!slots.mayStart(at: origin) && slots.mayStart(at: other))
        slots.queue()
        #expect(!slots.start(2, at: origin) && !slots.isStuck)
        slots.end(0, isDone: true)
        #expect(slots.isStuck && slots.start(2, at: origin) && !slots.mayStart(at: origin))
        slots.complete(1)
        #expect(slots.mayStart(at: origin))
        slots.unpark(1)
        #expect(!slots.mayStart(at: origin))
        for index in 1...2 { slots.end(index, isDone: true) }
        #expect(slots.mayStart(at: origin) && slots.isEmpty)
    }

    /// A file may have more connections than one; those count too.
    @Test func boundCountsConnectionsOfHost() {
        let (origin, other) = (Self.origin, "http://b.test:80")
        let slots = BatchSlots(BatchWidth(jobs: nil))
        slots.bound(to: 4)
        slots.begin(0, isLarge: true, at: origin)
        #expect(slots.take(.init(files: 4, extra: 3), of: origin))
        #expect(slots.active(of: origin) == 1)
        #expect(!slots.mayStart(at: origin) && slots.active(of: origin) == 2)
        #expect(slots.mayStart(at: other))
        // The link of a file leads to a host without a file of its own.
        slots.begin(1, isLarge: true, at: other)
        #expect(slots.take(.init(files: 4, extra: 3), of: "http://c.test:80"))
        #expect(!slots.mayStart(at: other))
        slots.end(1, isDone: true)
        #expect(slots.mayStart(at: other))
    }

    /// The largest number that a file of the list states is the bound.
    @Test func largestBoundCounts() {
        let slots = BatchSlots(BatchWidth(jobs: nil))
        for count in [1, 3, 2] { slots.bound(to: .fixed(count)) }
        for index in 0..<3 {
            #expect(slots.mayStart(at: Self.origin))
            slots.begin(index, at: Self.origin)
        }
        #expect(!slots.mayStart(at: Self.origin))
        slots.bound(to: .automatic)
        #expect(slots.mayStart(at: Self.origin))
    }

    /// Checks after the last byte delay no other file.
    @Test func completeFileFreesItsSlot() {
        let slots = BatchSlots(BatchWidth(jobs: nil))
        #expect(slots.take(.init(files: 4), of: Self.origin))
        for index in 0..<4 { slots.begin(index, isLarge: true) }
        #expect(!slots.mayStart())
        slots.complete(0)
        #expect(slots.mayStart() && !slots.isEmpty)
        for index in 0..<4 { slots.end(index, isDone: true) }
        #expect(slots.isEmpty)
    }

    // MARK: Files set aside, because their server refuses them

    private static let origin = "http://a.test:80"

    /// Sets a file aside, and waits until its slot is free.
    ///
    /// - Returns: The task, which ends when the file has a slot again.
    private func stepAside(_ index: Int, _ slots: BatchSlots) async -> Task<Void, Never> {
        let task = Task { await slots.stepAside(index, of: Self.origin, for: 0) }
        while !slots.mayStart() { await Task.yield() }
        return task
    }

    @Test func fileSetAsideContinuesAfterSameServersFile() async {
        let slots = BatchSlots(BatchWidth(jobs: 3))
        for _ in 0..<3 { slots.begin() }
        let task = await stepAside(0, slots)
        // Another file takes the slot. The end of another server's file changes nothing.
        slots.begin()
        #expect(!slots.mayStart())
        slots.end(1, of: "http://b.test:80", isDone: true)
        #expect(slots.mayStart() && !slots.isEmpty)
        slots.end(2, of: Self.origin, isDone: true)
        await task.value
        // The file and the one that has taken its slot are active.
        #expect(slots.mayStart())
        slots.begin()
        #expect(!slots.mayStart())
        for index in [0, 3] { slots.end(index, isDone: true) }
        #expect(!slots.isEmpty)
        slots.end(4, isDone: true)
        #expect(slots.isEmpty)
    }

    @Test func onlyFileSetAsideContinues() async {
        let slots = BatchSlots(BatchWidth(jobs: 2))
        slots.begin()
        await slots.stepAside(0, of: Self.origin, for: 0)
        #expect(!slots.isEmpty)
        slots.end(0, isDone: false)
        #expect(slots.isEmpty && slots.hasFailure)
    }

    @Test func cancelledFileSetAsideReturns() async {
        let slots = BatchSlots(BatchWidth(jobs: 2))
        for _ in 0..<2 { slots.begin() }
        let task = await stepAside(0, slots)
        task.cancel()
        await task.value
        #expect(!slots.mayStart())
    }

    /// After a demanded wait, a file continues beside files of other origins.
    @Test func fileContinuesAfterDemandedWait() async {
        let slots = BatchSlots(BatchWidth(jobs: 2))
        for _ in 0..<2 { slots.begin() }
        await slots.stepAside(0, of: Self.origin, for: 0, isDemanded: true)
        #expect(!slots.mayStart() && !slots.isEmpty)
        for index in 0..<2 { slots.end(index, isDone: true) }
        #expect(slots.isEmpty)
    }

    /// Files set aside have tasks, so their number is limited.
    @Test func noFileStartsBesideTooManySetAside() async {
        let slots = BatchSlots(BatchWidth(jobs: nil))
        slots.bound(to: 64)
        var tasks: [Task<Void, Never>] = []
        for index in 0..<BatchSlots.mostAside {
            #expect(slots.hasRoom(for: nil) && slots.mayStart())
            slots.begin(index, at: Self.origin)
            tasks.append(
                Task {
                    await slots.stepAside(index, of: Self.origin, for: 3600, isDemanded: true)
                })
            // One file set aside counts as waiting for the host.
            while slots.active(of: Self.origin) > 1 { await Task.yield() }
        }
        #expect(!slots.hasRoom(for: nil) && !slots.mayStart())
        slots.queue()
        #expect(!slots.start(1000) && !slots.isStuck)
        // A queued file keeps none from continuing if it cannot start itself.
        tasks[0].cancel()
        await tasks[0].value
        #expect(slots.start(1000))
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
    }

    /// A file that is known to be large waits where it costs nothing, and no small one behind it.
    @Test func largeFileIsQueuedOnlyIfItMayStart() {
        let slots = BatchSlots(BatchWidth(jobs: nil))
        _ = slots.take(.init(files: 4), of: "a")
        let large: Int64 = 1 << 30
        var count = 0
        while slots.hasRoom(for: large), count < 100 {
            slots.queue(size: large)
            count += 1
        }
        #expect(count == 4 && slots.hasRoom(for: 1000))
        for index in 0..<4 { #expect(slots.start(index, size: large)) }
        #expect(!slots.hasRoom(for: large) && slots.hasRoom(for: 1000))
        slots.end(0, isDone: true)
        #expect(slots.hasRoom(for: large))
    }
}

import Assembler
import SegmenterRules
import SegmenterTransport

/// Counts the files of a batch that are active, queued, parked or set aside.
///
/// - An *active* file holds a slot.
/// - A *queued* file waits to send its first request.
/// - A *parked* file was received with one response and waits for its name and its publication. It
///   holds no slot, so a slow response or disk delays the names of later files but not their
///   transfers. If the caller has set the number of files, parked files count as well.
/// - A file *set aside* has given up its slot because its server refuses it.
///
/// The class may be used from any thread.
final class BatchSlots: Sendable {
    /// A file that its first request did not deliver completely.
    struct Unfinished: Sendable {
        let index: Int
        let run: DownloadRun
        let answered: DownloadRun.Answered
    }

    /// The limits of parked files and of their bytes, beyond which no other file starts.
    ///
    /// The limit is lower for a nearby server, where files wait for the disk.
    static let mostParked = (files: 256, bytes: 4 << 20, bytesNearby: 1 << 20)
    /// The limit of files downloaded in segments that wait for their publication.
    ///
    /// Each has open files.
    static let mostComplete = 32
    /// The limit of files set aside, beyond which no other file starts.
    ///
    /// Each has a task.
    static let mostAside = 256

    /// A file without a slot, because its server refuses it.
    private struct Aside {
        let origin: String
        /// Whether it need not wait for another file of the same origin, or one has ended since.
        var mayGoOn: Bool
        /// The task that waits for a slot, once the delay is over.
        var waiting: Answer<Void>?
    }

    private struct State {
        var width: BatchWidth
        var underWay = 0
        /// The origins of active and parked files, if the connections of each host are bounded.
        var origins: [Int: String] = [:]
        /// The number of active files of each of these origins.
        var filesOf: [String: Int] = [:]
        /// The origin of the next file, if that file was not allowed to start.
        var next: String?
        /// The active files that are known to be large, and those that are known to be small.
        var large: Set<Int> = []
        var small: Set<Int> = []
        /// The files and connections that each host has room for, as last reported.
        var rooms: [String: HostGovernor.Room] = [:]
        /// The number of queued files, and the sum of their known sizes.
        var ahead = 0
        var aheadBytes: Int64 = 0
        /// The number of queued files that are known to be large.
        var aheadLarge = 0
        /// The number of bytes of each parked file, by its index in the list.
        var parked: [Int: Int] = [:]
        var parkedBytes = 0
        /// The parked files that were downloaded in segments.
        var complete: Set<Int> = []
        var hasFailure = false
        /// Files that need a task to continue.
        var unfinished: [Unfinished] = []
        /// Files without a slot, by their index in the list.
        var asides: [Int: Aside] = [:]
        /// Whether there was a change since the last return of `change`.
        var isNews = false
        var waiting: Answer<Void>?

        /// The number of files that count; parked ones count if the caller has set a number.
        var load: Int { underWay + (width.isAsked ? parked.count : 0) }

        /// The most queued files; none if the caller has set a number.
        var mostAhead: Int { width.isAsked ? 0 : width.width }

        /// The number of active files whose size is unknown.
        var unknown: Int { max(0, underWay - large.count - small.count) }

        /// The number of further files that may start or be queued.
        var room: Int {
            width.width + mostAhead - (width.isAsked ? load : unknown + small.count) - ahead
        }

        /// Whether the connections of each host are bounded.
        var isBounded: Bool { width.bound.map { $0 < .max } ?? false }

        /// - Parameters:
        ///   - size: The size of the file in bytes; `nil` if it is unknown.
        ///   - origin: The origin of its URL.
        ///   - queued: The number of queued files that count as active.
        ///   - countsExtra: Whether connections that files have beyond one each count.
        /// - Returns: Whether the file may start.
        func mayStart(
            size: Int64? = nil, at origin: String?, besideLarge queued: Int = 0,
            countsExtra: Bool = true
        ) -> Bool {
            var load = BatchWidth.Load(
                large: large.count + queued, small: small.count, unknown: unknown,
                parked: width.isAsked ? parked.count : 0)
            if let origin, isBounded {
                load.ofHost = ((filesOf[origin] ?? 0) + queued, countsExtra ? extra(at: origin) : 0)
            }
            return width.allows(size: size, beside: load)
                && parked.count < mostParked.files && complete.count < mostComplete
                && parkedBytes < (width.isNearby ? mostParked.bytesNearby : mostParked.bytes)
        }

        /// The number of connections that the files of a host have beyond one each.
        ///
        /// Those of a host to which links of the list lead count for each host of the list.
        private func extra(at origin: String) -> Int {
            rooms.filter { $0.key == origin || filesOf[$0.key] == nil }
                .reduce(0) { $0 + $1.value.extra }
        }

        /// Counts a file as active; its index is `nil` if it is not known.
        mutating func enter(_ index: Int?) {
            underWay += 1
            if let index, let origin = origins[index] { filesOf[origin, default: 0] += 1 }
        }

        /// Counts a file as not active any more.
        mutating func leave(_ index: Int) {
            underWay -= 1
            if let origin = origins[index] { filesOf[origin, default: 1] -= 1 }
            large.remove(index)
            small.remove(index)
        }

        var isEmpty: Bool { underWay + ahead + parked.count + asides.count == 0 }

        /// Whether a queued request could start.
        var isStuck: Bool { ahead > 0 && !isFullAside && mayStart(at: next) }

        /// Whether no other file may be set aside, and therefore none may start.
        var isFullAside: Bool { asides.count >= mostAside }

        /// Whether the task that starts files should check for work.
        ///
        /// Batches of free slots keep it from waking up for each file that ends.
        fileprivate var isWorthALook: Bool {
            isEmpty || !unfinished.isEmpty || room > 0 && 2 * room >= mostAhead
        }

        /// Gives a slot to the first file set aside that may be retried; returns its waiting task.
        ///
        /// A file may be retried if another file of its origin has ended, or if no other file is
        /// active.
        fileprivate mutating func takeAside() -> Answer<Void>? {
            let isAlone = underWay == 0 && (ahead == 0 || isFullAside)
            let ready = asides.filter {
                $1.waiting != nil && (isAlone || $1.mayGoOn && mayStart(at: origins[$0]))
            }
            guard let index = ready.keys.min() else { return nil }
            enter(index)
            return asides.removeValue(forKey: index)?.waiting
        }

        /// Gives a slot to a file set aside if it waits for one, without regard to other files.
        fileprivate mutating func leaveAside(_ index: Int) -> Answer<Void>? {
            guard let waiting = asides[index]?.waiting else { return nil }
            asides[index] = nil
            enter(index)
            return waiting
        }

        /// Removes a file from the parked files; returns whether it was parked.
        mutating func unpark(_ index: Int) -> Bool {
            guard let bytes = parked.removeValue(forKey: index) else { return false }
            parkedBytes -= bytes
            complete.remove(index)
            return true
        }
    }

    private let state: Monitor<State>

    init(_ width: BatchWidth) { state = Monitor(State(width: width)) }

    /// Returns whether another file, of this origin, may start with a task.
    ///
    /// No first request may be queued, because the new file may have to wait for the names of the
    /// queued ones.
    func mayStart(at origin: @autoclosure () -> String? = nil) -> Bool {
        state.withLock { state in
            let origin = state.isBounded ? origin() : nil
            guard state.ahead == 0, !state.isFullAside, state.mayStart(at: origin) else {
                if state.ahead == 0 { state.next = origin }
                return false
            }
            state.next = nil
            return true
        }
    }

    /// Whether another file of this size in bytes may start or be queued; `nil` if it is unknown.
    ///
    /// A file that is known to be large is queued only if it may start.
    func hasRoom(for size: Int64?) -> Bool {
        state.withLock { state in
            guard state.room > 0, !state.isFullAside else { return false }
            guard let size, BatchWidth.isLarge(size) else { return true }
            let origin = state.filesOf.count == 1 ? state.filesOf.keys.first : nil
            return state.mayStart(size: size, at: origin, besideLarge: state.aheadLarge)
        }
    }

    /// Whether no file is active, queued, parked or set aside.
    var isEmpty: Bool { state.withLock { $0.isEmpty } }

    /// Whether a queued request could start.
    var isStuck: Bool { state.withLock { $0.isStuck } }

    /// Whether a file has failed.
    var hasFailure: Bool { state.withLock { $0.hasFailure } }

    /// The number of queued files, and the sum of their known sizes.
    var queued: (files: Int, bytes: Int64) { state.withLock { ($0.ahead, $0.aheadBytes) } }

    /// Returns the number of active files of a host and one that waits; 0 if there is no bound.
    ///
    /// The waiting file is one that was set aside, or the next one if only the connections of other
    /// files keep it from starting.
    func active(of origin: String) -> Int {
        state.withLock { state in
            guard state.isBounded else { return 0 }
            let isAwaited =
                state.asides.values.contains { $0.origin == origin }
                || state.next == origin && state.mayStart(at: origin, countsExtra: false)
            return (state.filesOf[origin] ?? 0) + (isAwaited ? 1 : 0)
        }
    }

    /// The number of large files that may be in progress.
    var largeLimit: Int { state.withLock { $0.width.largeLimit } }

    /// Takes the number of files and connections that a host has room for.
    ///
    /// - Returns: Whether the number of files that may be in progress has changed.
    func take(_ room: HostGovernor.Room, of origin: String) -> Bool {
        state.withLock { state in
            guard state.rooms[origin] != room else { return false }
            state.rooms[origin] = room
            state.width.take(state.rooms.values)
            return true
        }
    }

    /// Counts a file that starts with a task.
    ///
    /// - Parameters:
    ///   - index: The file; `nil` if it is not known.
    ///   - isLarge: Whether it counts as a large file.
    ///   - origin: The origin of its URL.
    func begin(
        _ index: Int? = nil, isLarge: Bool = false, at origin: @autoclosure () -> String? = nil
    ) {
        state.withLock { state in
            if let index, state.isBounded { state.origins[index] = origin() }
            state.enter(index)
            if let index, isLarge { state.large.insert(index) }
        }
    }

    /// Counts a file whose first request is queued; `size` is its size in bytes, if known.
    func queue(size: Int64? = nil) {
        state.withLock { state in
            state.ahead += 1
            state.aheadBytes += size ?? 0
            if let size, BatchWidth.isLarge(size) { state.aheadLarge += 1 }
        }
    }

    /// Turns a queued file into an active one, if it may start or `must` is set.
    ///
    /// - Parameters:
    ///   - index: The file; `nil` if it is not known.
    ///   - size: The size of the file in bytes; `nil` if it is unknown.
    ///   - origin: The origin of its URL.
    ///   - must: Whether it starts in any case.
    /// - Returns: Whether the file is active now.
    func start(
        _ index: Int? = nil, size: Int64? = nil, at origin: @autoclosure () -> String? = nil,
        must: Bool = false
    ) -> Bool {
        change(isFollowed: true) { state in
            let origin = state.isBounded ? origin() : nil
            state.next = origin
            guard state.ahead > 0,
                must || !state.isFullAside && state.mayStart(size: size, at: origin)
            else { return false }
            state.next = nil
            state.ahead -= 1
            state.aheadBytes -= size ?? 0
            if let index { state.origins[index] = origin }
            state.enter(index)
            if let index, let size {
                if BatchWidth.isLarge(size) {
                    state.aheadLarge -= 1
                    state.large.insert(index)
                } else {
                    state.small.insert(index)
                }
            }
            return true
        }
    }

    /// Parks a file of which one response has delivered all `bytes`.
    ///
    /// `isFollowed` means that the caller itself starts queued requests afterwards.
    func park(_ index: Int, bytes: Int, isFollowed: Bool = false) {
        change(isFollowed: isFollowed) { state in
            state.width.saw(isLarge: false)
            state.leave(index)
            state.parked[index] = bytes
            state.parkedBytes += bytes
        }
    }

    /// Parks a file that was downloaded in segments, of which all bytes have arrived.
    func complete(_ index: Int) {
        change { state in
            state.leave(index)
            state.parked[index] = 0
            state.complete.insert(index)
        }
    }

    /// Makes a parked file active again, because it cannot be published from memory.
    func unpark(_ index: Int) {
        change { if $0.unpark(index) { $0.enter(index) } }
    }

    /// Adds a file, which may be parked, to those that need a task to continue.
    func leave(_ file: Unfinished) {
        change { state in
            let wasParked = state.unpark(file.index)
            if wasParked { state.enter(file.index) }
            // Its size is unknown if the request has failed.
            if !wasParked, file.answered.exchange.isKept {
                if !state.large.contains(file.index) { state.width.saw(isLarge: true) }
                state.large.insert(file.index)
            }
            state.unfinished.append(file)
        }
    }

    /// Returns and removes the files that need a task.
    func takeUnfinished() -> [Unfinished] {
        state.withLock { state in
            guard !state.unfinished.isEmpty else { return [] }
            defer { state.unfinished = [] }
            return state.unfinished
        }
    }

    /// Applies the number of connections that the caller has set for each file.
    func limit(to connections: ConnectionCount) {
        state.withLock { $0.width.limit(to: connections) }
    }

    /// Applies the number of connections that the caller has set for each host.
    func bound(to connections: ConnectionCount) {
        state.withLock { $0.width.bound(to: connections) }
    }

    /// Adjusts the number of slots after a small file; `wait` is the time to first byte.
    func adjust(wait: BatchWidth.Wait?) { state.withLock { $0.width.adjust(wait: wait) } }

    /// Counts a file that has ended.
    ///
    /// `origin` is evaluated only if a file is set aside.
    func end(_ index: Int, of origin: @autoclosure () -> String? = nil, isDone: Bool) {
        let aside = change { state in
            if !state.unpark(index) { state.leave(index) }
            state.origins[index] = nil
            if !isDone { state.hasFailure = true }
            guard !state.asides.isEmpty, let origin = origin() else { return state.takeAside() }
            let next = state.asides.filter { !$1.mayGoOn && $1.origin == origin }.keys.min()
            if let next { state.asides[next]?.mayGoOn = true }
            return state.takeAside()
        }
        aside?.resume(returning: ())
    }

    /// Sets aside a file that its server refuses, and returns when it has a slot again.
    ///
    /// The file waits at least `delay` seconds, and until another file of its origin has ended. If
    /// the server has demanded the delay, or no other file is active, it waits for the delay only.
    /// After cancelling, the method returns immediately.
    func stepAside(
        _ index: Int, of origin: String, for delay: Double, isDemanded: Bool = false
    ) async {
        let aside = change { state in
            state.leave(index)
            state.asides[index] = Aside(origin: origin, mayGoOn: isDemanded)
            return state.takeAside()
        }
        aside?.resume(returning: ())
        try? await Task.sleep(for: .seconds(delay))
        await withTaskCancellationHandler {
            await Answer<Void>.wait { answer in
                let due = change { state in
                    state.asides[index]?.waiting = answer
                    return Task.isCancelled ? state.leaveAside(index) : state.takeAside()
                }
                due?.resume(returning: ())
            }
        } onCancel: {
            let aside = state.withLock { $0.leaveAside(index) }
            aside?.resume(returning: ())
        }
    }

    /// Waits until there was a relevant change since the last return; for one caller.
    func change() async {
        await Answer<Void>.wait { answer in
            let isNews = state.withLock { state in
                guard !state.isNews else {
                    state.isNews = false
                    return true
                }
                state.waiting = answer
                return false
            }
            if isNews { answer.resume(returning: ()) }
        }
    }

    /// Wakes the caller of `change`, without regard to what has changed.
    func look() {
        let waiting = state.withLock { state -> Answer<Void>? in
            state.isNews = state.waiting == nil
            defer { state.waiting = nil }
            return state.waiting
        }
        waiting?.resume(returning: ())
    }

    @discardableResult
    private func change<Result: Sendable>(
        isFollowed: Bool = false, _ body: (inout State) -> Result
    ) -> Result {
        let (result, waiting) = state.withLock { state -> (Result, Answer<Void>?) in
            let hadFailed = state.hasFailure
            let result = body(&state)
            guard
                state.isWorthALook || state.hasFailure != hadFailed
                    || !isFollowed && state.isStuck
            else { return (result, nil) }
            state.isNews = state.waiting == nil
            defer { state.waiting = nil }
            return (result, state.waiting)
        }
        waiting?.resume(returning: ())
        return result
    }
}

/// Decides how many connections a host has for the files of sets, and which file each works for.
///
/// Pure: no I/O and no clock.
///
/// The number follows the goodput of all files together. While other files wait for the
/// connections, each file has one, so that a file costs few requests. When connections remain
/// without a file, they help the file that would end last. If the sizes of all files are known, a
/// file that would outlast the set is helped from its beginning.
package struct HostGovernor: Sendable {
    /// The state of one file, which it reports about every 100 ms.
    package struct Use: Sendable, Hashable {
        /// The number of bytes that were received over the network.
        package var received: Int64
        /// The number of missing bytes; `nil` when unknown.
        package var remaining: Int64?
        /// The number of connections with a request in flight.
        package var busy: Int
        /// Whether something on this side delays the connections.
        package var isHeldBack = false
        /// The most connections of the file, and those of the host for all of its files.
        package var most: Int
        /// Whether the user has fixed the number of connections.
        package var isFixed = false

        package init(
            received: Int64, remaining: Int64?, busy: Int, isHeldBack: Bool = false, most: Int,
            isFixed: Bool = false
        ) {
            self.received = received
            self.remaining = remaining
            self.busy = busy
            self.isHeldBack = isHeldBack
            self.most = most
            self.isFixed = isFixed
        }
    }

    /// The files that wait for a connection.
    package struct Backlog: Sendable, Hashable {
        package var files: Int
        /// The sum of their sizes; `nil` if one is unknown.
        package var bytes: Int64?
        /// The active files of the host and one that waits, if there is a bound; otherwise 0.
        ///
        /// Some of them take no part, for example because they wait for a further attempt. For each
        /// of these, a connection is kept.
        package var active = 0

        package init(files: Int = 0, bytes: Int64? = nil) {
            (self.files, self.bytes) = (files, bytes)
        }
    }

    /// The number of large files and of connections that the host has room for.
    package struct Room: Sendable, Hashable {
        /// The number of large files that may be in progress.
        package var files: Int
        /// The number of connections that files have beyond one each.
        package var extra: Int

        package init(files: Int, extra: Int = 0) { (self.files, self.extra) = (files, extra) }
    }

    /// The number of large files in progress, if there is no reason for more or fewer.
    package static let usualFiles = 4
    /// The seconds after which connections without a file no longer wait for one.
    package static let patience = 0.5
    /// The least seconds, and round trips, for which all connections have work before their goodput
    /// is measured.
    static let warming = (seconds: 0.4, trips: 6.0)
    /// The least time that taking work over must save in a set, in seconds.
    ///
    /// Other files use the connections meanwhile, and the bytes in flight are lost.
    static let leastSaving = 0.25
    /// The fewest bytes for which another connection is added to a file.
    static let leastPiece: Int64 = 32 << 10
    /// The factor by which another file must be later before a connection moves to it.
    static let change = 1.5

    private struct File {
        var use: Use
        var share = 1

        /// The connections that it uses, or may use at any time.
        ///
        /// The last report may be older than the last division.
        var taken: Int { max(share, use.busy) }
    }

    private var files: [Int: File] = [:]
    private var governor: ConnectionGovernor?
    private let roundTrip: Double?
    /// The bytes of files that have left, and of small files.
    private var received: Int64 = 0
    /// The time of the last step.
    private var lastStep = -Double.infinity
    /// The time since which connections have no file although files wait; `nil` if all have one.
    private var idleSince: Double?
    /// The time since which all connections have work, and none is surplus; `nil` if that is not so.
    private var fullSince: Double?
    /// The number of connections that the host should have.
    package private(set) var target = 1

    /// - Parameter roundTrip: The time to connect to the host in seconds; `nil` when unknown.
    package init(roundTrip: Double? = nil) { self.roundTrip = roundTrip }

    package var isEmpty: Bool { files.isEmpty }

    /// The most connections of the host: the largest number that one of its files may have.
    private var most: Int { max(1, files.values.map(\.use.most).max() ?? 1) }

    /// Whether the user has fixed the number for all files.
    private var isFixed: Bool { files.values.allSatisfy(\.use.isFixed) }

    /// The connections that files use, or may use at any time.
    private var taken: Int { files.values.reduce(0) { $0 + $1.taken } }

    // MARK: Events

    /// Records the state of a file; the first report lets it take part.
    package mutating func report(_ id: Int, _ use: Use) {
        files[id, default: File(use: use)].use = use
    }

    /// Removes a file that is complete or has failed.
    package mutating func leave(_ id: Int) {
        received += files.removeValue(forKey: id)?.use.received ?? 0
    }

    /// Records bytes that arrived without a report, such as those of a small file.
    package mutating func received(_ count: Int64) { received += count }

    /// Adapts the number of connections to the goodput, and divides them.
    ///
    /// - Parameters:
    ///   - network: Facts about the path to the host.
    ///   - limit: The known number of requests that the host serves at a time; `nil` if unknown.
    ///   - others: The requests for other files, whose sizes are unknown, that are in flight.
    ///   - backlog: The files that wait for a connection.
    ///   - now: The time.
    /// - Returns: The goodput that led to another number; `nil` if the number is the same.
    @discardableResult
    package mutating func step(
        _ network: FetchMachine.NetworkState, limit: Int? = nil, others: Int = 0,
        backlog: Backlog, now: Double
    ) -> Double? {
        guard now - lastStep >= 0.05, !files.isEmpty else { return nil }
        lastStep = now
        let before = target
        govern(network, limit, others, backlog, now)
        divide(others, backlog, now)
        return target == before ? nil : governor?.measured ?? 0
    }

    // MARK: Decisions

    /// Returns the number of connections of a file.
    package func share(of id: Int) -> Int { files[id]?.share ?? 1 }

    /// The number of large files that may be in progress.
    package var room: Room {
        let extra = taken - files.count
        return Room(files: max(1, max(Self.usualFiles, target) - extra), extra: extra)
    }

    private mutating func govern(
        _ network: FetchMachine.NetworkState, _ limit: Int?, _ others: Int, _ backlog: Backlog,
        _ now: Double
    ) {
        let most = most
        guard !isFixed else {
            (governor, target) = (nil, most)
            return
        }
        let busy = others + files.values.reduce(0) { $0 + $1.use.busy }
        if governor?.most != most {
            let isGiven = most < ConnectionCount.automatic.most
            governor = ConnectionGovernor(
                most: most, isGiven: isGiven, atLeast: busy,
                roundTrip: network.roundTrip ?? roundTrip)
        }
        // One connection above the limit tests whether the limit has risen.
        let cap = limit.map { min(most, $0 + 1) } ?? most
        // So many files are in progress in any case, each with a connection.
        governor?.raise(to: min(Self.usualFiles, files.count, cap))
        target = min(governor?.target ?? 1, cap)
        // While connections have no file, or while there are surplus ones, the goodput does not show
        // what this number yields. But each file has a connection in any case.
        let slack = target / 8
        guard (target - slack...max(target + max(1, slack), files.count)).contains(busy) else {
            fullSince = nil
            return
        }
        fullSince = fullSince ?? now
        let warm = max(Self.warming.seconds, Self.warming.trips * (network.roundTrip ?? 0))
        guard now - (fullSince ?? now) >= warm else { return }
        let remaining = files.values.reduce(backlog.files == 0 ? 0 : nil as Int64?) { sum, file in
            sum.flatMap { sum in file.use.remaining.map { sum + $0 } }
        }
        let sample = ConnectionGovernor.Sample(
            received: received + files.values.reduce(0) { $0 + $1.use.received },
            roundTrip: network.roundTrip, segments: network.segments,
            disordered: network.disordered, presentRoundTrip: network.presentRoundTrip,
            remaining: remaining,
            isHeldBack: files.values.allSatisfy(\.use.isHeldBack) || network.load >= Width.busy,
            cap: cap, used: min(busy, target))
        target = governor?.step(sample, now: now) ?? target
    }

    /// Divides the connections among the files.
    private mutating func divide(_ others: Int, _ backlog: Backlog, _ now: Double) {
        let most = target - max(others, backlog.active - files.count)
        let free = most - files.count
        // Connections without a file are kept for the files that wait, but not for long: these may
        // be those of other hosts.
        let isShort = backlog.files > 0 && free > 0
        idleSince = isShort ? idleSince ?? now : nil
        let isWaiting = backlog.files > 0 && now - (idleSince ?? now) < Self.patience
        let wanted = wanted(free, isWaiting, backlog)
        // A connection that has lost its file ends its request first, and counts until then.
        var room = most - taken
        for (id, wanted) in wanted.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) }) {
            let now = files[id]?.taken ?? 1
            files[id]?.use.busy = now
            let more = max(0, min(wanted - now, room))
            files[id]?.share = wanted > now ? now + more : wanted
            room -= more
        }
    }

    /// Returns the number of connections that each file should have.
    private func wanted(_ free: Int, _ isWaiting: Bool, _ backlog: Backlog) -> [Int: Int] {
        var wanted = files.mapValues { _ in 1 }
        guard free > 0 else { return wanted }
        let known = files.values.reduce(backlog.files == 0 ? 0 : backlog.bytes) { sum, file in
            sum.flatMap { sum in file.use.remaining.map { sum + $0 } }
        }
        // The bytes that a connection receives until the set ends.
        let portion = known.map { Double($0) / Double(max(1, target)) }
        for _ in 0..<free {
            var (latest, lateness) = (Int?.none, 0.0)
            for (id, file) in files.sorted(by: { $0.key < $1.key }) {
                guard let share = wanted[id], share < file.use.most,
                    let remaining = file.use.remaining,
                    remaining >= Int64(share + 1) * Self.leastPiece
                else { continue }
                let part = Double(remaining) / Double(share)
                guard !isWaiting || portion.map({ part >= 2 * $0 }) == true else { continue }
                let late = share < file.share ? Self.change * part : part
                if late > lateness { (latest, lateness) = (id, late) }
            }
            guard let latest else { break }
            wanted[latest, default: 1] += 1
        }
        // Another connection can hedge the last bytes of a file.
        var left = backlog.files == 0 ? free + files.count - wanted.values.reduce(0, +) : 0
        for (id, file) in files.sorted(by: { $0.key < $1.key }) where left > 0 {
            guard file.use.remaining ?? 0 > 0, wanted[id] == 1, file.use.most > 1 else { continue }
            wanted[id] = 2
            left -= 1
        }
        return wanted
    }
}

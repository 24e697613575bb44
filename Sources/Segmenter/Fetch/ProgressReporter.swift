import Assembler
import SegmenterRules
import SegmenterTransport

/// Converts the state of a fetch into progress events.
///
/// Lives on the same thread as the fetch.
final class ProgressReporter {
    /// The number of cells of the map.
    static let cells = 128

    private let started: Double
    private let earlier: Int64
    private let yield: @Sendable (DownloadProgress) -> Void
    private var meter = RateMeter()
    private(set) var last: DownloadProgress?

    /// Creates a reporter.
    ///
    /// - Parameters:
    ///   - started: The time at which the download started, on the monotonic clock.
    ///   - earlier: The number of bytes that earlier fetches of this download received.
    ///   - yield: Receives each event.
    init(
        started: Double, earlier: Int64, yield: @escaping @Sendable (DownloadProgress) -> Void
    ) {
        self.started = started
        self.earlier = earlier
        self.yield = yield
    }

    /// Reports the progress of a fetch.
    ///
    /// - Parameters:
    ///   - progress: The progress.
    ///   - size: The size of the file, in bytes; `nil` when unknown.
    ///   - limit: The session's rate limit, in bytes per second.
    ///   - now: The time.
    func report(
        _ progress: FetchMachine.Progress, size: Int64?, limit: Double?, now: Double
    ) {
        let received = earlier + progress.received
        let moment = DownloadProgress(
            phase: .downloading, bytesDone: progress.done.count, size: size,
            bytesVerifying: progress.verifying.count, bytesReceived: received,
            bytesPerSecond: meter.rate(bytes: received, now: now),
            connections: progress.connections,
            map: size.map { Self.map(of: progress.done, size: $0) } ?? [],
            done: progress.done.ranges, verifying: progress.verifying.ranges,
            elapsed: Duration(seconds: now - started), limit: limit)
        last = moment
        yield(moment)
    }

    /// Returns the file's map: equal cells, each with a value from 0 to 8.
    ///
    /// A cell is 8 only if all of its bytes are done.
    static func map(of done: RangeSet, size: Int64) -> [UInt8] {
        guard size > 0 else { return [] }
        let cells = Int64(min(Int64(Self.cells), size))
        return (0..<cells).map { cell in
            let range = ByteRange(bound(cell, cells, size), bound(cell + 1, cells, size))
            return UInt8(Double(done.overlap(with: range)) * 8 / Double(range.count))
        }
    }

    /// Returns the offset at which a cell begins, without overflow.
    private static func bound(_ cell: Int64, _ cells: Int64, _ size: Int64) -> Int64 {
        size / cells * cell + size % cells * cell / cells
    }
}

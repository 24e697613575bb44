import Assembler

/// The current progress of a download, computed from its events.
///
/// Pure.
struct ProgressSnapshot: Sendable {
    private let began: Double
    private var ended: Double?
    private var latest = DownloadProgress(
        phase: .starting, bytesDone: 0, size: nil, bytesVerifying: 0, bytesReceived: 0,
        bytesPerSecond: 0, connections: 0, map: [], elapsed: .zero, limit: nil)

    /// Creates a snapshot for a download that started at this time, on the monotonic clock.
    init(began: Double) { self.began = began }

    /// Updates the snapshot with an event.
    mutating func take(_ event: DownloadEvent) {
        switch event {
        case .probed(let file):
            // Between two attempts nothing is transferred.
            (latest.bytesPerSecond, latest.connections) = (0, 0)
            latest.size = file.size
        case .started(let start):
            latest.phase = .downloading
            latest.size = start.size
            latest.bytesVerifying = start.resumedBytes
            (latest.bytesDone, latest.map) = (0, [])
            (latest.done, latest.verifying) = ([], [])
            (latest.bytesPerSecond, latest.connections) = (0, 0)
        case .notice(.limitChanged(let limit)): latest.limit = limit
        case .notice: break
        case .progress(let progress): latest = progress
        case .finished(let file):
            latest.size = file.size
            latest.bytesDone = file.size
            latest.bytesVerifying = 0
            latest.bytesReceived = file.bytesReceived
            latest.map = latest.map.map { _ in 8 }
            latest.done = file.size > 0 ? [ByteRange(0, file.size)] : []
            latest.verifying = []
        }
    }

    /// Notes that the download has ended, with any result.
    mutating func end(now: Double) {
        ended = now
        latest.phase = .ended
        (latest.bytesPerSecond, latest.connections) = (0, 0)
    }

    /// Returns the progress at this time, on the monotonic clock.
    func progress(now: Double) -> DownloadProgress {
        var progress = latest
        progress.elapsed = Duration(seconds: (ended ?? now) - began)
        return progress
    }
}

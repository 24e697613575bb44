import Assembler

/// How far a download is, from what it has reported so far.
///
/// Pure.
struct ProgressSnapshot: Sendable {
    private let began: Double
    private var ended: Double?
    private var latest = DownloadProgress(
        phase: .starting, bytesDone: 0, size: nil, bytesVerifying: 0, bytesReceived: 0,
        bytesPerSecond: 0, connections: 0, map: [], elapsed: .zero, limit: nil)

    /// Takes the time at which the download began, on the monotonic clock.
    init(began: Double) { self.began = began }

    /// Takes what the download reports.
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

    /// The download has ended, well or not.
    mutating func end(now: Double) {
        ended = now
        latest.phase = .ended
        (latest.bytesPerSecond, latest.connections) = (0, 0)
    }

    /// How far it is at this time.
    func progress(now: Double) -> DownloadProgress {
        var progress = latest
        progress.elapsed = Duration(seconds: (ended ?? now) - began)
        return progress
    }
}

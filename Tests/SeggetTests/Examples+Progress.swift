import ReportExamples

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

extension Examples {
    /// Returns the progress of a download.
    static func progress(
        done: Int64 = 512 << 20, size: Int64? = 1 << 30, speed: Double = Double(128 << 20),
        phase: DownloadProgress.Phase = .downloading, connections: Int = 8,
        map: [UInt8] = [8, 8, 8, 4, 8, 0, 0, 0], elapsed: Double = 2
    ) -> DownloadProgress {
        DownloadProgress(
            phase: phase, bytesDone: done, size: size, bytesVerifying: 0,
            bytesReceived: 256 << 20, bytesPerSecond: speed, connections: connections, map: map,
            elapsed: .seconds(elapsed))
    }
}

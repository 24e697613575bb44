import Assembler
import SegmenterRules
import SegmenterTransport

/// Finds the active fetch of a download.
///
/// May be used from any thread.
final class PresentFetch: Sendable {
    private let place = Monitor<(loop: TransferLoop, number: Int)?>(nil)

    /// Records that a fetch has started.
    func began(_ number: Int, on loop: TransferLoop) { place.withLock { $0 = (loop, number) } }

    /// Records that the fetch has ended.
    func ended() { place.withLock { $0 = nil } }

    /// Returns the connections and servers of the fetch; empty if no fetch is active.
    func traffic() async -> DownloadTraffic {
        guard let (loop, number) = place.withLock({ $0 }) else { return DownloadTraffic() }
        return await loop.ask(otherwise: DownloadTraffic()) { worker in
            worker.fetch(number)?.traffic() ?? DownloadTraffic()
        }
    }
}

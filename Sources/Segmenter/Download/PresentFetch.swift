import Assembler

/// Where the fetch of a download is found while it is under way.
///
/// May be used from any thread.
final class PresentFetch: Sendable {
    private let place = Monitor<(loop: TransferLoop, number: Int)?>(nil)

    /// A fetch begins.
    func began(_ number: Int, on loop: TransferLoop) { place.withLock { $0 = (loop, number) } }

    /// It is over.
    func ended() { place.withLock { $0 = nil } }

    /// What it has under way; nothing when there is none.
    func traffic() async -> DownloadTraffic {
        guard let (loop, number) = place.withLock({ $0 }) else { return DownloadTraffic() }
        return await loop.ask(otherwise: DownloadTraffic()) { worker in
            worker.fetch(number)?.traffic() ?? DownloadTraffic()
        }
    }
}

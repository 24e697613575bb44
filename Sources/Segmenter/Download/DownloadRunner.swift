import SegmenterRules
import SegmenterTransport

/// Carries out what a ``DownloadMachine`` decides: a run does it, a preview says what would happen.
protocol DownloadRunner: Sendable {
    /// The result of the download.
    associatedtype End: Sendable

    var work: DownloadWork { get set }

    /// Carries out an effect that may change files, and reports the result to the machine.
    ///
    /// - Returns: The result of the download, if this was the last effect.
    mutating func act(
        _ act: DownloadMachine.Act
    ) async throws(DownloadError.Reason) -> End?
}

extension DownloadRunner {
    /// Carries out effect after effect until the download ends.
    ///
    /// - Throws: The reason why it fails.
    mutating func run() async throws(DownloadError.Reason) -> End {
        defer { work.mirrors?.book.cancel() }
        while true {
            for notice in work.machine.takeNotices() { work.report(.notice(notice)) }
            let effect = work.machine.next
            if case .fail(let reason) = effect { throw reason }
            do throws(DownloadError.Reason) {
                switch effect {
                case .look(let look): try await work.look(look)
                case .act(let act): if let end = try await self.act(act) { return end }
                case .fail: break
                }
            } catch {
                work.failed(error)
            }
        }
    }
}

import Assembler
import SegmenterRules
import SegmenterTransport

/// Asks the caller for a new link when a link is refused, with limits of frequency and time.
///
/// ``LinkRefresh`` has the limits. May be used from any task.
final class LinkRefresher: Sendable {
    private let ask: RefreshURL
    private let report: @Sendable (DownloadEvent) -> Void
    private let state = Monitor(LinkRefresh())

    init(_ ask: @escaping RefreshURL, report: @escaping @Sendable (DownloadEvent) -> Void) {
        self.ask = ask
        self.report = report
    }

    /// Returns a link that replaces a refused one, and reports the result.
    ///
    /// Waits if the caller was asked less than ``LinkRefresh/interval`` seconds ago.
    ///
    /// - Parameters:
    ///   - refused: The refused link.
    ///   - reason: Why it is refused.
    ///   - received: The number of bytes of the file received so far; `nil` if the calling code
    ///     itself gives up when none arrive.
    /// - Returns: The new link; `nil` if there is none.
    /// - Throws: `cancelled`.
    func link(
        insteadOf refused: WebURL, _ reason: DownloadError.Reason, received: Int64?
    ) async throws(DownloadError.Reason) -> WebURL? {
        let status = reason.linkStatus ?? 0
        do throws(LinkFault) {
            let step = state.withLock {
                $0.step(refused: refused.text, received: received, now: monotonicSeconds())
            }
            let url: WebURL
            switch step {
            case .giveUp(let fault?): throw fault
            case .giveUp(nil): return nil
            case .use(let text): url = try Self.read(text, refused)
            case .ask(let delay):
                guard await pause(delay) else { throw .none }
                state.withLock { $0.ask(now: monotonicSeconds(), counts: received != nil) }
                do throws(LinkFault) {
                    url = try Self.read(try await answer(refused.text, reason), refused)
                } catch {
                    if !Task.isCancelled { state.withLock { $0.fail() } }
                    throw error
                }
            }
            report(.notice(.linkRefreshed(url: url.redacted, status: status)))
            return url
        } catch {
            guard !Task.isCancelled else { throw .cancelled }
            report(.notice(.linkNotRefreshed(error, status: status)))
            return nil
        }
    }

    /// Waits `delay` seconds until the caller may be asked again.
    ///
    /// - Returns: Whether the caller may be asked; `false` after cancellation.
    private func pause(_ delay: Double) async -> Bool {
        guard delay > 0 else { return !Task.isCancelled }
        report(.notice(.linkRefreshDelayed(.init(seconds: delay))))
        do {
            try await Task.sleep(for: .seconds(delay))
            return true
        } catch {
            return false
        }
    }

    /// Keeps a link for the next time that a link is refused.
    func keep(_ link: WebURL) { state.withLock { $0.keep(link.text) } }

    /// Returns the caller's answer.
    ///
    /// - Throws: `late` after ``LinkRefresh/patience`` seconds; `none`.
    private func answer(
        _ refused: String, _ reason: DownloadError.Reason
    ) async throws(LinkFault) -> String {
        // A closure that ignores cancellation does not delay the download.
        let (answers, continuation) = AsyncStream.makeStream(of: Result<String, LinkFault>.self)
        let question = Task { [ask] in
            let text = await ask(refused, reason)
            continuation.yield(text.map { .success($0) } ?? .failure(.none))
        }
        let clock = Task {
            try await Task.sleep(for: .seconds(LinkRefresh.patience))
            continuation.yield(
                .failure(.late(after: .init(seconds: LinkRefresh.patience))))
        }
        defer {
            question.cancel()
            clock.cancel()
        }
        for await answer in answers { return try answer.get() }
        throw .none
    }

    /// Returns an answer as a URL.
    ///
    /// - Throws: `unusable`; `same` if the answer is the refused link; `none`.
    private static func read(_ text: String, _ refused: WebURL) throws(LinkFault) -> WebURL {
        let url: WebURL
        do throws(DownloadError.Reason) {
            url = try DownloadJob.usable(WebURL(text), text)
        } catch {
            switch error {
            case .invalidURL(let shown), .foreignURL(_, let shown): throw .unusable(shown)
            default: throw .none
            }
        }
        guard url.text != refused.text || url.credentials != refused.credentials else {
            throw .same
        }
        return url
    }
}

extension DownloadError.Reason {
    /// The status with which a link was refused, if a new link may help: 401, 403, 404 or 410.
    var linkStatus: Int? {
        switch self {
        case .refused(let status): status
        case .transfer(.status(let status), _) where isRefusal: status
        default: nil
        }
    }
}

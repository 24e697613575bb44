import Assembler
import SegmenterRules
import SegmenterTransport

extension DownloadSession {
    /// Limits the total rate of all downloads of the session, from now on.
    ///
    /// The rate is divided fairly among the downloads, and within a download among its connections.
    /// A share that one of them cannot use goes to the others. Over five seconds, the total stays
    /// within three percent of the limit. This method may be called from any thread.
    ///
    /// - Parameter bytesPerSecond: The limit in bytes per second. `nil`, 0 and negative values mean
    ///   no limit.
    public func limitRate(_ bytesPerSecond: Double?) {
        let limit = RateLimit(bytesPerSecond)
        loop.perform { $0.limitRate(limit) }
    }

    /// Limits the number of requests to each server, from now on.
    ///
    /// In no period of the rate are more requests sent to a server, by all downloads of the session
    /// together. A request that has to wait is neither a failure nor a stall. A server is a scheme,
    /// a host and a port. This method may be called from any thread.
    ///
    /// - Parameter rate: The most requests in a period; `nil` for no limit.
    public func limitRequests(_ rate: RequestRate?) {
        loop.perform { $0.servers.maxRequests = rate }
    }

    /// Limits the number of requests that each server serves at a time, from now on.
    package func boundConnections(_ most: Int) {
        loop.perform { $0.servers.mostActive = most }
    }

    /// Sends a server no requests for some seconds, because it has refused those of others.
    package func pause(_ origin: String, for seconds: Double) {
        loop.perform { worker in
            let now = monotonicSeconds()
            worker.servers.refused(by: origin, for: seconds, asked: now, served: 0, now: now)
        }
    }

    /// Returns the address from which a server has last answered; `nil` if it has not.
    package func lastAddress(of origin: String) async -> String? {
        await withCheckedContinuation { done in
            loop.perform { done.resume(returning: $0.servers.addresses.reached[origin]) }
        }
    }

    /// Halves the rate limit; without a limit, sets it to half of the current rate.
    ///
    /// Halving never sets a limit below 1 KiB/s. The download that started first reports the new
    /// limit (`DownloadNotice.limitChanged`). This method may be called from any thread.
    public func halveRateLimit() {
        changeRateLimit { limit, measured in limit.halve(measured: measured) }
    }

    /// Doubles the rate limit.
    ///
    /// If `halveRateLimit` created the limit, the limit is removed once it reaches the rate from
    /// which it was created. Without a limit, nothing changes. The download that started first
    /// reports the new limit (`DownloadNotice.limitChanged`). This method may be called from any
    /// thread.
    public func doubleRateLimit() {
        changeRateLimit { limit, _ in limit.double() }
    }

    private func changeRateLimit(
        _ change: @escaping @Sendable (_ limit: inout RateLimit, _ measured: Double) -> Void
    ) {
        loop.perform { [running] worker in
            var limit = worker.pacing.limit
            change(&limit, worker.pacing.measured)
            worker.limitRate(limit)
            let first = running.withLock { running in
                running.min { $0.key < $1.key }?.value
            }
            first?.report(.notice(.limitChanged(to: limit.bytesPerSecond)))
        }
    }
}

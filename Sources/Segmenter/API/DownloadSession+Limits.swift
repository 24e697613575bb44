import Assembler

extension DownloadSession {
    /// Limits the rate of all downloads of the session together, from now on.
    ///
    /// What there is is divided fairly: among the downloads, and what a download gets among its
    /// connections. Whoever cannot use a share leaves it to the others. Over five seconds the limit is kept to
    /// within three percent. Any thread may call this.
    ///
    /// - Parameter bytesPerSecond: The limit; `nil`, or what is not above 0, is none.
    public func limitRate(_ bytesPerSecond: Double?) {
        let limit = RateLimit(bytesPerSecond)
        loop.perform { $0.limitRate(limit) }
    }

    /// Halves the limit of rate; where there is none, half the present speed becomes the limit.
    ///
    /// It is never halved to less than 1 KiB/s. The download that began first reports the new limit
    /// (`DownloadNotice.limitChanged`). Any thread may call this.
    public func halveRateLimit() {
        changeRateLimit { limit, measured in limit.halve(measured: measured) }
    }

    /// Doubles the limit of rate.
    ///
    /// A limit that `halveRateLimit` has made out of none is gone when it is back at the speed that
    /// it was made from. Where there is no limit, nothing changes. The download that began first
    /// reports the new limit (`DownloadNotice.limitChanged`). Any thread may call this.
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

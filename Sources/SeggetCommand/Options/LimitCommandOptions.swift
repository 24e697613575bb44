package import ArgumentParser
import SeggetFormats
import SeggetReports
package import Segmenter

/// The option that limits the number of requests to a server.
package struct RequestLimitOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Most requests to each server, such as `10/s` or `600/m`; 0 removes the limit.",
            discussion: """
                All files of a run share the limit. A number alone is per second. Without this \
                option, segget slows down where a server states in `RateLimit` or \
                `X-RateLimit-Remaining` that few requests remain.
                """,
            valueName: "rate"),
        transform: Self.parse)
    package var maxRequests: RequestRate??

    package init() {}

    /// The limit; `nil` for none.
    package var rate: RequestRate? { maxRequests ?? nil }

    /// Parses a number of requests in a period; 0 is no limit.
    package static func parse(_ text: String) throws -> RequestRate? {
        if text == "0" { return nil }
        guard let rate = RequestRate(text) else {
            throw ValidationError(
                "`--max-requests` takes \(RequestRate.expected), or 0 for no limit")
        }
        return rate
    }
}

/// The options that limit the rate, size and time of a download.
package struct LimitCommandOptions: ParsableArguments {
    private static let units = """
        K, M and G are powers of 1024, as in curl and wget, and so are KiB, MiB and GiB; kB, MB \
        and GB are powers of 1000
        """

    @Option(
        help: .row(
            "limit-rate",
            discussion: """
                All files of a run share the limit. \(units); Kbit, Mbit and Gbit are bits, in powers \
                of 1000; 0 is no limit. While segget runs, SIGUSR1 halves the limit (without one, half \
                the current speed becomes the limit) and SIGUSR2 doubles it.
                """,
            valueName: "rate"),
        transform: Self.rate)
    package var limitRate: Double?

    @Option(
        help: .row(
            "max-size", discussion: "\(units).",
            valueName: "size"),
        transform: { try Self.size($0, of: "--max-size") })
    package var maxSize: Int64?

    @Option(
        help: .row("max-time", valueName: "s"))
    package var maxTime: Double?

    @Option(
        help: .row(
            "min-rate",
            discussion: """
                A download that is slower for `--min-rate-time` continues over new connections; \
                if it is still slower for that long, it fails. Time during which `--limit-rate` \
                slows it down does not count.
                """,
            valueName: "rate"),
        transform: Self.rate)
    package var minRate: Double?

    @Option(
        help: .row("min-rate-time", valueName: "s"))
    package var minRateTime = LimitOptions().minRatePeriod.inSeconds

    package init() {}

    package func validate() throws {
        try TransferOption.check("max-time", maxTime)
        try TransferOption.check("min-rate-time", minRateTime)
        if let minRate, let limitRate, limitRate > 0, minRate > limitRate {
            throw ValidationError("`--min-rate` cannot be above `--limit-rate`")
        }
    }

    /// The library's options.
    package var options: LimitOptions {
        var options = LimitOptions()
        options.maxSize = maxSize
        options.maxTime = maxTime.map { .seconds($0) }
        options.minRate = minRate.flatMap { $0 > 0 ? $0 : nil }
        options.minRatePeriod = .seconds(minRateTime)
        return options
    }

    /// Parses a rate, in bytes per second.
    package static func rate(_ text: String) throws -> Double {
        do throws(RateSyntaxError) {
            return try Rate(parsing: text).bytesPerSecond
        } catch {
            throw ValidationError(Diagnostic.describe(error))
        }
    }

    private static func size(_ text: String, of option: String) throws -> Int64 {
        guard let size = Quantity(text) else {
            throw ValidationError(
                Diagnostic.describe(option, takes: .bytes(0...OptionKind.mostBytes)))
        }
        return Units.whole(size.bytes)
    }
}

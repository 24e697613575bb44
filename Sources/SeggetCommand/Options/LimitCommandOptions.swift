package import ArgumentParser
import SeggetFormats
import SeggetReports
package import Segmenter

/// The options that limit a download: its rate, its size, its time.
package struct LimitCommandOptions: ParsableArguments {
    private static let units = """
        K, M and G are powers of 1024, as in curl and wget, and so are KiB, MiB and GiB; kB, MB \
        and GB are powers of 1000
        """

    @Option(
        help: ArgumentHelp(
            "Highest rate of everything together, in bytes per second.",
            discussion: """
                \(units); Kbit, Mbit and Gbit are bits, in powers of 1000; 0 is no limit. While \
                segget runs, SIGUSR1 halves the limit (without one, half the present speed \
                becomes the limit) and SIGUSR2 doubles it.
                """,
            valueName: "rate"),
        transform: Self.rate)
    package var limitRate: Double?

    @Option(
        help: ArgumentHelp(
            "Largest file to fetch; a larger one is refused.", discussion: "\(units).",
            valueName: "size"),
        transform: { try Self.size($0, of: "--max-size") })
    package var maxSize: Int64?

    @Option(
        help: ArgumentHelp(
            "Longest time for each file, from its start, in seconds; then it is stopped in order.",
            valueName: "s"))
    package var maxTime: Double?

    @Option(
        help: ArgumentHelp(
            "Least rate, in units as for `--limit-rate`.",
            discussion: """
                A download that is slower for `--min-rate-time` goes on over new connections; \
                when it is slower for as long again, it is given up. Time in which \
                `--limit-rate` holds it back does not count.
                """,
            valueName: "rate"),
        transform: Self.rate)
    package var minRate: Double?

    @Option(
        help: ArgumentHelp(
            "How long a download may be slower than `--min-rate`, in seconds.", valueName: "s"))
    package var minRateTime = LimitOptions().minRatePeriod.inSeconds

    package init() {}

    package func validate() throws {
        if let maxTime, !(0.1...1e8).contains(maxTime) {
            throw ValidationError("`--max-time` takes 0.1 to 100000000 seconds, not \(maxTime)")
        }
        guard (0.1...86_400).contains(minRateTime) else {
            throw ValidationError(
                "`--min-rate-time` takes 0.1 to 86400 seconds, not \(minRateTime)")
        }
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

    /// Reads a rate, in bytes per second.
    package static func rate(_ text: String) throws -> Double {
        do throws(RateSyntaxError) {
            return try Rate(parsing: text).bytesPerSecond
        } catch {
            throw ValidationError(Diagnostic.describe(error))
        }
    }

    private static func size(_ text: String, of option: String) throws -> Int64 {
        guard let size = Quantity(text) else {
            throw ValidationError("`\(option)` takes a size, such as `500M`, `1.5GiB` or `4GB`")
        }
        return Units.whole(size.bytes)
    }
}

import Glibc
import SeggetReports

/// A local time, in the formats of aria2c.
package struct Aria2Time {
    private let microseconds: Int64
    private var parts = tm()

    /// Creates a time from seconds since 1970.
    package init(_ seconds: Double) {
        let whole = Units.whole(seconds)
        microseconds = min(999_999, Units.whole((seconds - Double(whole)) * 1e6))
        var time = time_t(whole)
        localtime_r(&time, &parts)
    }

    /// The prefix of a console line: `11/26 00:41:06`.
    package var console: String { text("%m/%d %H:%M:%S") }

    /// The prefix of a log line: `2026-11-26 00:41:06.012345`.
    package var log: String {
        let digits = "\(microseconds)"
        return text("%Y-%m-%d %H:%M:%S.") + String(repeating: "0", count: 6 - digits.count) + digits
    }

    /// The heading of a summary: `Thu Nov 26 00:41:11 2026`.
    package var summary: String { text("%a %b %e %H:%M:%S %Y") }

    private func text(_ format: String) -> String {
        var parts = parts
        return String(unsafeUninitializedCapacity: 64) { buffer in
            buffer.withMemoryRebound(to: CChar.self) {
                strftime($0.baseAddress, $0.count, format, &parts)
            }
        }
    }
}

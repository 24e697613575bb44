// Text: formats sizes, rates and times, and makes external text safe to print. It never knows what
// a number measures.

import Glibc
import Segmenter

/// Formats numbers with units.
public enum Units {
    private static let names = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]

    /// Returns a number of bytes in binary units with three digits, such as `1.50 GiB`.
    ///
    /// Below 1024, the number is exact: `512 B`.
    public static func size(_ bytes: Int64) -> String {
        guard bytes >= 1024 else { return "\(max(0, bytes)) B" }
        var value = Double(bytes)
        var unit = 0
        // 1023.5 and more would round to 1024, so use the next unit.
        while value >= 1023.5, unit < names.count - 1 {
            value /= 1024
            unit += 1
        }
        let decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0
        return "\(fixed(value, decimals: decimals)) \(names[unit])"
    }

    /// Returns a rate, such as `12.3 MiB/s`.
    public static func speed(_ bytesPerSecond: Double) -> String {
        "\(size(whole(bytesPerSecond)))/s"
    }

    /// Returns a duration in whole seconds: `12 s`, `3m05s`, `1h02m`, `2d03h`; `nil` beyond 999
    /// days.
    public static func duration(_ time: Duration) -> String? { duration(time.inSeconds) }

    /// Returns a measured time: tenths of a second below ten seconds, otherwise as
    /// ``duration(_:)``.
    public static func elapsed(_ time: Duration) -> String { elapsed(time.inSeconds) }

    package static func duration(_ seconds: Double) -> String? {
        let total = whole(seconds.rounded())
        switch total {
        case ..<60: return "\(total) s"
        case ..<3600: return "\(total / 60)m\(twoDigits(total % 60))s"
        case ..<86_400: return "\(total / 3600)h\(twoDigits(total / 60 % 60))m"
        case ..<86_400_000: return "\(total / 86_400)d\(twoDigits(total / 3600 % 24))h"
        default: return nil
        }
    }

    package static func elapsed(_ seconds: Double) -> String {
        guard seconds >= 9.95 else { return "\(fixed(max(0, seconds), decimals: 1)) s" }
        return duration(seconds) ?? "more than 999 days"
    }

    /// Returns the local time of day, from seconds since 1970: `14:02:11`.
    package static func clock(_ seconds: Int64) -> String {
        var (time, parts) = (time_t(seconds), tm())
        localtime_r(&time, &parts)
        return [parts.tm_hour, parts.tm_min, parts.tm_sec].map { twoDigits(Int64($0)) }
            .joined(separator: ":")
    }

    /// Returns a number with its noun: `1 byte`, `2 bytes`.
    public static func count(_ number: Int64, _ noun: String) -> String {
        "\(number) \(noun)\(number == 1 ? "" : "s")"
    }

    /// Returns the progress in whole percent; `100` only when complete, `nil` if the size is
    /// unknown.
    public static func percent(_ done: Int64, of size: Int64?) -> Int? {
        guard let size else { return nil }
        guard done < size else { return 100 }
        return min(99, Int(max(0, Double(done)) / Double(size) * 100))
    }

    /// Returns the value rounded down, limited to 0 through 2^62; NaN becomes 0.
    public static func whole(_ value: Double) -> Int64 {
        guard value >= 1 else { return 0 }
        return value < 0x1p62 ? Int64(value) : 1 << 62
    }

    /// Returns a number without exponent, with `decimals` digits after the point.
    ///
    /// `value` must be below 2^62.
    public static func fixed(_ value: Double, decimals: Int) -> String {
        let scale = (0..<decimals).reduce(Int64(1)) { scale, _ in scale * 10 }
        let scaled = whole((value * Double(scale)).rounded())
        guard decimals > 0 else { return "\(scaled)" }
        let fraction = String(scaled % scale)
        let zeros = String(repeating: "0", count: decimals - fraction.count)
        return "\(scaled / scale).\(zeros)\(fraction)"
    }

    private static func twoDigits(_ number: Int64) -> String {
        number < 10 ? "0\(number)" : "\(number)"
    }
}

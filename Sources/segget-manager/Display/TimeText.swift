import Glibc

/// Formats times for people.
enum TimeText {
    /// Returns the local date and time: `2026-11-26 14:02:11`; `seconds` is since 1970.
    static func dayAndTime(_ seconds: Double) -> String {
        guard seconds.isFinite, abs(seconds) < 1e12 else { return "" }
        var (time, parts) = (time_t(seconds), tm())
        localtime_r(&time, &parts)
        var buffer = [CChar](repeating: 0, count: 32)
        let count = strftime(&buffer, buffer.count, "%Y-%m-%d %H:%M:%S", &parts)
        return String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

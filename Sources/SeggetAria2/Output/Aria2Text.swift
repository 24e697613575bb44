// Output: the output and exit codes of aria2c, in its exact format where programs parse it. Error
// messages have segget's text. This folder never prints anything itself.

package import Segmenter

/// Formats numbers and names as aria2c does.
package enum Aria2Text {
    private static let units = ["", "Ki", "Mi", "Gi"]

    /// Returns a number of bytes as `1.1MiB`, or exactly, as `1153434B`.
    ///
    /// A human-readable number below ten has one digit after the point; others have none.
    package static func size(_ bytes: Int64, isHumanReadable: Bool = true) -> String {
        "\(isHumanReadable ? abbreviated(max(0, bytes)) : "\(bytes)")B"
    }

    /// Returns a duration in whole seconds as `1h2m3s`, without the parts that are zero.
    package static func duration(_ seconds: Int64) -> String {
        let parts = [(seconds / 3600, "h"), (seconds % 3600 / 60, "m"), (seconds % 60, "s")]
        let text = parts.filter { $0.0 > 0 }.map { "\($0.0)\($0.1)" }.joined()
        return text.isEmpty ? "0s" : text
    }

    /// Returns the first six digits of a GID, as printed in lines.
    package static func short(_ gid: Download.ID) -> String { String(gid.description.prefix(6)) }

    /// Returns the progress in whole percent; `size` must be above 0.
    package static func percent(_ done: Int64, of size: Int64) -> Int64 {
        // Avoids an overflow, because a server can state any size.
        let done = max(0, done)
        return done <= .max / 100 ? 100 * done / size : done / max(1, size / 100)
    }

    /// Returns whether a name is `original` with a number, which avoids an existing file:
    /// `f.1.bin` for `f.bin`.
    package static func isNumbered(_ name: String, of original: String) -> Bool {
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        return parts.indices.dropFirst().contains { index in
            guard parts[index].utf8.allSatisfy({ (0x30...0x39).contains($0) }),
                !parts[index].isEmpty
            else { return false }
            var rest = parts
            rest.remove(at: index)
            return rest.joined(separator: ".") == original
        }
    }

    private static func abbreviated(_ bytes: Int64) -> String {
        var (whole, rest, unit) = (bytes, Int64(0), 0)
        while whole >= 1024, unit < units.count - 1 {
            (whole, rest, unit) = (whole / 1024, whole % 1024, unit + 1)
        }
        // From nine tenths of the next unit, the next unit is used.
        if whole >= 922, unit < units.count - 1 { (whole, rest, unit) = (0, whole, unit + 1) }
        let tenths = unit > 0 && whole < 10 ? ".\(rest * 10 / 1024)" : ""
        return grouped(whole) + tenths + units[unit]
    }

    /// Returns a number with thousands separators.
    private static func grouped(_ number: Int64) -> String {
        guard number >= 1000 else { return "\(number)" }
        let last = "\(number % 1000)"
        return grouped(number / 1000) + ","
            + String(repeating: "0", count: 3 - last.count) + last
    }
}

// Aria2: what aria2c prints, in its own forms where programs read them, and what it ends with. It
// takes segget's words for what went wrong; it never knows where anything is printed.

package import Segmenter

/// Numbers and names as aria2c prints them.
package enum Aria2Text {
    private static let units = ["", "Ki", "Mi", "Gi"]

    /// A number of bytes: `1.1MiB`, with one digit behind the point below ten of a unit, and none above;
    /// or, where it is not for people, all of them: `1153434B`.
    package static func size(_ bytes: Int64, isHumanReadable: Bool = true) -> String {
        "\(isHumanReadable ? abbreviated(max(0, bytes)) : "\(bytes)")B"
    }

    /// A duration in whole seconds: `1h2m3s`, without the parts that are zero.
    package static func duration(_ seconds: Int64) -> String {
        let parts = [(seconds / 3600, "h"), (seconds % 3600 / 60, "m"), (seconds % 60, "s")]
        let text = parts.filter { $0.0 > 0 }.map { "\($0.0)\($0.1)" }.joined()
        return text.isEmpty ? "0s" : text
    }

    /// The beginning of a GID, which lines show.
    package static func short(_ gid: Download.ID) -> String { String(gid.description.prefix(6)) }

    /// How much is done, in whole percent; `size` is above 0.
    package static func percent(_ done: Int64, of size: Int64) -> Int64 {
        // No product may overflow: servers state any size.
        let done = max(0, done)
        return done <= .max / 100 ? 100 * done / size : done / max(1, size / 100)
    }

    /// Whether a name is another one with a number in it, as names get one where a file stands there:
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
        // Nine tenths of the next unit are shown in that.
        if whole >= 922, unit < units.count - 1 { (whole, rest, unit) = (0, whole, unit + 1) }
        let tenths = unit > 0 && whole < 10 ? ".\(rest * 10 / 1024)" : ""
        return grouped(whole) + tenths + units[unit]
    }

    /// A number with a comma before each three digits.
    private static func grouped(_ number: Int64) -> String {
        guard number >= 1000 else { return "\(number)" }
        let last = "\(number % 1000)"
        return grouped(number / 1000) + ","
            + String(repeating: "0", count: 3 - last.count) + last
    }
}

import Foundation

/// The output of aria2c or its drop-in, without the parts that differ between runs.
///
/// Pure. Colours, times, rates, GIDs and the folder are removed.
struct Aria2Printout: Sendable {
    /// All lines, without colours.
    let lines: [String]
    /// The lines with results that programs search for, in order.
    let told: [String]

    /// Reads an output.
    ///
    /// - Parameters:
    ///   - output: The program's output.
    ///   - folder: The folder in which the program ran; `told` has `DIR` instead.
    ///   - base: The origin's URL; `told` has `URL/` instead.
    init(_ output: String, folder: String, base: String) {
        let plain = output.replacing(/\u{1b}\[[0-9;]*m/, with: "")
        lines = plain.split(whereSeparator: \.isNewline).map(String.init)
        told = lines.compactMap { line in
            Self.told(
                line.replacingOccurrences(of: folder, with: "DIR")
                    .replacingOccurrences(of: base, with: "URL/")
                    .replacingOccurrences(of: "DIR//", with: "DIR/"))
        }.sorted()
    }

    private static func told(_ line: String) -> String? {
        if let row = line.firstMatch(of: /^[0-9a-f]{6}\|(OK|ERR|INPR|RM) *\|[^|]*\|(.*)$/) {
            return "\(row.1): \(row.2)"
        }
        if let log = line.firstMatch(of: /^\d\d\/\d\d \d\d:\d\d:\d\d \[(NOTICE|ERROR)\] (.*)$/) {
            return entry(String(log.2)).map { "\(log.1): \($0)" }
        }
        return line.hasPrefix("(") && line.contains("):download") || line.hasPrefix("(ERR)")
            || line.hasPrefix("aria2 will resume") ? line : nil
    }

    /// Returns the message of a log line if callers search for it.
    private static func entry(_ text: String) -> String? {
        let text = text.replacing(/#[0-9a-f]{16}|CUID#\d+/, with: "#")
        let starts = [
            "Download complete: ", "File already exists. Renamed to ", "Downloading ",
            "Download GID", "GID# - Download has already completed", "# - Download aborted. URI=",
            "Checksum error detected", "Serialized session to ", "# - Redirecting to ",
        ]
        return starts.contains(where: text.hasPrefix) ? text : nil
    }

    /// The readout lines that match callers' regular expressions.
    var readouts: [Substring] {
        lines.flatMap { line in
            line.matches(
                of: /\[#\w+ (\S+)\/(\S+)\((\d+)%\) CN:(\d+) DL:(\S+?)(?: ETA:(\S+?))?\]/
            ).map(\.0)
        }
    }
}

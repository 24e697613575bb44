// Summaries: the results of a run, a batch, a probe, a preview or a verification, as text and
// JSON. It knows results only, never an active download.

import Assembler
package import Segmenter

/// The last line of a successful download: size, speed, and what was verified.
package struct Summary {
    package let text: String

    /// Creates the line.
    ///
    /// - Parameters:
    ///   - file: The result.
    ///   - endIsProven: Whether the server stated the size.
    ///   - range: The bytes of the remote file, if the result is a range of it.
    package init(_ file: DownloadedFile, endIsProven: Bool, range: ByteRange? = nil) {
        if let unchanged = file.unchanged {
            text = Self.text(unchanged, file)
            return
        }
        let seconds = file.duration.inSeconds
        let speed = seconds > 0 ? Double(file.bytesReceived) / seconds : 0
        var facts = [
            "\(Diagnostic.quote(file.path)): \(Units.size(file.size)) in "
                + "\(Units.elapsed(seconds)), \(Units.speed(speed))"
        ]
        if file.bytesResumed > 0 { facts.append("resumed \(Units.size(file.bytesResumed))") }
        facts.append(Self.proof(file, endIsProven: endIsProven, range))
        if !file.isSynchronized {
            facts.append(
                "not synchronized: the file system does not support fsync; a power cut may lose the file"
            )
        }
        if file.isPage { facts.append(Self.pageWarning) }
        text = facts.joined(separator: "; ")
    }

    /// The warning for an HTML page in a file whose name has another type.
    package static let pageWarning =
        "WARNING: the file is an HTML page, unlike its name, perhaps a login or error page"

    /// The text for a file that exists and was therefore not downloaded.
    package static let skipped = "skipped: the file exists; it was not checked"

    private static func text(_ unchanged: DownloadedFile.Unchanged, _ file: DownloadedFile)
        -> String
    {
        let what = "\(Diagnostic.quote(file.path)): \(Units.size(file.size))"
        switch unchanged {
        case .alreadyComplete:
            if file.isDated {
                return "\(what), already complete; its size, date and a sample match the server's"
            }
            let crc = file.crc32.map { Digest(crc32: $0).description }
            let checked = file.verified.map(\.description) + [crc].compactMap { $0 }
            return "\(what), already complete; checked \(checked.joined(separator: ", "))"
        case .notNewer:
            return "\(what), not downloaded: the remote file is not newer"
        case .skipped:
            return "\(what), \(skipped)"
        }
    }

    private static func proof(
        _ file: DownloadedFile, endIsProven: Bool, _ range: ByteRange?
    ) -> String {
        guard file.verified.isEmpty else {
            return "verified \(file.verified.map(\.description).joined(separator: ", "))"
        }
        let held = file.isSampled ? "resumed by a sample, not by a validator; " : ""
        let crc = "CRC-32 \(file.crc32.map { Digest(crc32: $0).hex } ?? "unknown")"
        // The digest of the whole file can be verified later.
        if let range { return "\(held)bytes \(range.start)-\(range.end - 1) of the file (\(crc))" }
        return endIsProven
            ? "\(held)only the size is verified: no digest was available (\(crc))"
            : "nothing is verified: neither size nor digest was known (\(crc))"
    }
}

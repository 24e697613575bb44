// Summaries: what a run, a batch, a probe, a preview or a check has found, in words and as JSON. It
// knows results only, and never a download that is under way.

import Assembler
package import Segmenter

/// The last line of a download that succeeded: what came, how fast, and what is proven.
package struct Summary {
    package let text: String

    /// Words it; `endIsProven` is false when no size says where the file ends.
    package init(_ file: DownloadedFile, endIsProven: Bool) {
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
        facts.append(Self.proof(file, endIsProven: endIsProven))
        if !file.isSynchronized {
            facts.append(
                "not synchronized: the file system cannot, so a power cut may take the file")
        }
        if file.isPage { facts.append(Self.pageWarning) }
        text = facts.joined(separator: "; ")
    }

    /// What is said of an HTML page that arrived where something else was promised.
    package static let pageWarning =
        "WARNING: it is an HTML page, not what its name promises, perhaps a login or an error page"

    private static func text(_ unchanged: DownloadedFile.Unchanged, _ file: DownloadedFile)
        -> String
    {
        let what = "\(Diagnostic.quote(file.path)): \(Units.size(file.size))"
        switch unchanged {
        case .alreadyComplete:
            if file.isDated {
                return "\(what), already complete; its size, its date and a sample are the server's"
            }
            let crc = file.crc32.map { Digest(crc32: $0).description }
            let checked = file.verified.map(\.description) + [crc].compactMap { $0 }
            return "\(what), already complete; checked \(checked.joined(separator: ", "))"
        case .notNewer:
            return "\(what), not fetched: the remote file is not newer"
        case .skipped:
            return "\(what), skipped: the file exists, and was not checked"
        }
    }

    private static func proof(_ file: DownloadedFile, endIsProven: Bool) -> String {
        guard file.verified.isEmpty else {
            return "verified \(file.verified.map(\.description).joined(separator: ", "))"
        }
        let held = file.isSampled ? "a sample, not the validator, held it together; " : ""
        let crc = "CRC-32 \(file.crc32.map { Digest(crc32: $0).hex } ?? "unknown")"
        return endIsProven
            ? "\(held)only the size is verified: there was no digest to compare with (\(crc))"
            : "nothing is verified: neither size nor digest was known (\(crc))"
    }
}

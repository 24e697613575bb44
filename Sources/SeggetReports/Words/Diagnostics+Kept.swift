import Assembler
import Segmenter

// Texts about the bytes that remain after a failure.
extension Diagnostic {
    /// Returns the data that remains on disk after a failure; `nil` if segget wrote nothing.
    static func kept(_ error: DownloadError) -> String? {
        if error.isPublished, let path = error.path { return "the whole file as \(quote(path))" }
        switch error.reason {
        case .assembly(.digestMismatch(_, _, let part)),
            .assembly(.notAdopted(_, .otherDigest(_, _, let part?))):
            return "the wrong data as \(quote(part)), for inspection; it is never resumed "
                + "unless `--checksum` matches it"
        case .assembly(.partChanged(let part)):
            return "\(quote(part)), to be rechecked by the next run"
        case .assembly(.notAdopted(_, .otherVersion(.rejected))): return nil
        case .assembly(.notAdopted(_, .otherVersion)): return bytesKept(error)
        case .assembly(.notAdopted): return nil
        // If bytes are kept, the conflict was found at publishing, and the part has the whole
        // file.
        case .assembly(.destinationExists) where error.bytesKept == 0: return nil
        case .htmlPage: return "nothing"
        case .invalidURL, .foreignURL, .invalidHeader, .certificateFile, .noCertificates, .access,
            .unrepairable,
            .nameTaken,
            .assembly(.notARegularFile), .assembly(.busy),
            .assembly(.folderUnavailable), .assembly(.cannotCreate), .assembly(.foreignPart),
            .assembly(.noPart), .assembly(.partGone):
            return nil
        default: return bytesKept(error)
        }
    }

    /// Returns the size and path of the part; `nil` if there is no part.
    private static func bytesKept(_ error: DownloadError) -> String? {
        guard error.bytesWritten == nil, let path = error.path else { return nil }
        if case .tooLarge = error.reason, error.bytesKept == 0 { return "nothing" }
        guard error.bytesKept > 0 else { return "nothing; no data had been recorded yet" }
        return "\(Units.size(error.bytesKept)) in \(quote(PartNames(path).part))"
    }

    /// Returns the hint that says how to continue the download.
    static func again(after error: DownloadError) -> String {
        let again = "run the same command again"
        guard error.bytesKept > 0 else { return again }
        return switch error.startsOver {
        case nil: "\(again) to resume"
        case .notWanted: "run the same command without `--no-resume` to resume"
        default: "\(again) to start over"
        }
    }

    /// Returns why the same command does not resume the part, and which option does.
    ///
    /// Returns `nil` if the same command resumes the part.
    static func outlook(_ error: DownloadError) -> String? {
        switch error.startsOver {
        case nil: nil
        case .notWanted: "with `--no-resume`, the same command starts over"
        case .noRanges:
            "the part cannot be continued, because the server sends this file only as a whole"
        case .noValidator:
            "`--checksum` or `--resume-unverified` continues the part; without them it cannot be "
                + "continued, because the server sends nothing that identifies the version"
        case let reason?: "the part cannot be continued: \(reason.text)"
        }
    }

    /// Returns the number of bytes that were written to a stream, as text; `nil` for a file.
    static func written(_ error: DownloadError) -> String? {
        guard let bytes = error.bytesWritten, let path = error.path else { return nil }
        guard bytes > 0 else { return "nothing to \(quote(path))" }
        return "the first \(exact(bytes)) to \(quote(path)); the rest is missing"
    }
}

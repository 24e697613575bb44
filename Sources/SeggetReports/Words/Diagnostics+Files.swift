package import Assembler
import Segmenter

// Messages about existing files.
extension Diagnostic {
    /// Creates the message for a file that cannot be repaired.
    init(_ obstacle: RepairObstacle, url: String, path: String) {
        let file = Self.quote(path)
        switch obstacle {
        case .noManifest(isFileThere: true):
            self.init(
                .usage, "no_manifest",
                "\(file) has no kept manifest, so segget cannot tell which of its bytes are damaged",
                hint:
                    "download it again with `--overwrite`; add `--keep-manifest` to keep the manifest"
            )
        case .noManifest(isFileThere: false):
            self.init(
                .usage, "no_manifest", "there is nothing to repair at \(file)",
                hint: "check the name, or download the file with `segget get`")
        case .otherVersion(let reason):
            self.init(
                .remoteChanged, "remote_changed",
                "\(file) cannot be repaired from \(url): \(Self.describe(reason)); "
                    + "it is left unchanged",
                hint: "give a URL of the same version, or download it again with `--overwrite`")
        case .otherDigest(let expected, let actual):
            self.init(
                .checksumMismatch, "checksum_mismatch",
                "\(file) repaired by its manifest has the wrong checksum: expected "
                    + "`\(expected)`, got `\(actual)`; it is left unchanged",
                hint: "check the expected value, or download it again with `--overwrite`")
        }
    }

    /// Creates the message for a file that cannot be verified.
    package init(_ failure: FileVerification.Failure) {
        switch failure {
        case .noFile(let path):
            self.init(
                .usage, "no_file",
                "there is neither \(Self.quote(path)) nor \(Self.quote(PartNames(path).part))",
                hint: "check the name")
        case .nothingToCheckAgainst(let path):
            self.init(
                .usage, "nothing_to_check_against",
                "there is nothing to check \(Self.quote(path)) against: it has neither a manifest nor "
                    + "segget's extended attributes",
                hint: "give `--checksum ALGO:HEX` or `--sums SHA256SUMS`")
        case .sumsUnavailable(let path, let code):
            self.init(
                .usage, "sums_unavailable",
                "\(Self.quote(path)) cannot be read: \(Self.describe(errno: code))",
                hint: "give `--sums` a file such as `SHA256SUMS`")
        case .sums(let path, .unreadable):
            self.init(
                .usage, "sums_unreadable",
                "\(Self.quote(path)) has no line with a checksum of a known algorithm",
                hint: "give a file with lines `HEX  NAME` or `ALGO (NAME) = HEX`, with MD5, SHA-1, "
                    + "SHA-256 or SHA-512")
        case .sums(let path, .missing(let name)):
            self.init(
                .usage, "sums_missing", "\(Self.quote(path)) has no line for \(Self.quote(name))",
                hint: "check the names, or give `--checksum ALGO:HEX`")
        case .sums(let path, .ambiguous(let name)):
            self.init(
                .usage, "sums_ambiguous",
                "\(Self.quote(path)) has contradictory lines for \(Self.quote(name))",
                hint: "give the right value as `--checksum ALGO:HEX`")
        case .assembly(let failure):
            self.init(failure, again: "run the same command again")
        }
    }

    /// Returns the reason why the remote file is not considered the same version.
    static func describe(_ reason: StartOverReason) -> String {
        switch reason {
        case .urlChanged:
            "it was downloaded from another URL, and nothing shows that the file is the same"
        case .noValidator:
            "the server sends no validator that shows that the file is the same"
        default: reason.text
        }
    }

    /// Returns the content coding of a file as text.
    static func show(coding: String?) -> String {
        coding.map { "encoded as \(quote($0))" } ?? "not encoded"
    }
}

extension FinishedDoubt {
    /// The message that says why the file at the destination is not considered complete.
    var text: String {
        switch self {
        case .resized(let was, let now):
            "the existing file had \(Diagnostic.exact(was)) when it was downloaded, and now has "
                + Diagnostic.exact(now)
        case .remote(let reason):
            "the existing file is not considered complete: \(Diagnostic.describe(reason))"
        case .otherURL:
            "the existing file was downloaded from another URL"
        case .damaged:
            "the existing file is damaged: it no longer has the content that was downloaded "
                + "(`segget repair` repairs it if its manifest was kept)"
        case .otherDigest(let expected, let actual):
            "the existing file has the wrong checksum: expected `\(expected)`, got "
                + "`\(actual)`"
        case .unproven:
            "nothing shows that the existing file has the server's bytes: the download "
                + "starts over, and replaces it when it is complete"
        case .otherBytes:
            "the existing file differs from what the server sends: the download starts over, and "
                + "replaces it when it is complete"
        case .unusable:
            "the other program's unfinished file cannot be used: the download starts over, and "
                + "replaces it when it is complete"
        case .unmarked:
            "nothing shows whether the existing file is the same as the server's"
        case .notTheServers:
            "the existing file differs from what the server sends"
        case .otherSize(let size, let remote):
            "the existing file has \(Diagnostic.exact(size)), and the server's "
                + Diagnostic.exact(remote)
        }
    }
}

package import Assembler

/// The result of `segget verify`, as text and as JSON.
///
/// `docs/json.md` describes the keys.
package struct VerificationReport: Encodable {
    var path: String
    var good: Bool
    var part: Bool
    var complete: Bool
    var inUse: Bool
    var size: Int64
    var expectedSize: Int64?
    var bytesRecorded: Int64
    var damaged: [[Int64]]
    var missing: [[Int64]]
    var digests: [Comparison]

    /// A compared digest.
    struct Comparison: Encodable {
        var source: String
        var expected: String
        var actual: String?
        var matches: Bool
    }

    /// The error of a verification that could not run.
    package struct Failure: Encodable {
        var code: Int32
        var kind: String
        var message: String
        var hint: String

        package init(_ diagnostic: Diagnostic) {
            code = diagnostic.status.rawValue
            kind = diagnostic.kind
            message = diagnostic.message
            hint = diagnostic.hint
        }
    }

    private enum CodingKeys: CodingKey {
        case path, good, part, complete, inUse, size, expectedSize, bytesRecorded, damaged, missing
        case digests
    }

    private let found: FileVerification

    package init(_ found: FileVerification) {
        self.found = found
        path = found.path
        good = found.isGood
        part = found.isPart
        complete = found.isComplete
        inUse = found.isInUse
        size = found.size
        expectedSize = found.expectedSize
        bytesRecorded = found.bytesRecorded
        damaged = found.damaged.ranges.map { [$0.start, $0.end] }
        missing = found.missing.ranges.map { [$0.start, $0.end] }
        digests = found.digests.map {
            Comparison(
                source: $0.source.rawValue, expected: $0.expected.description,
                actual: $0.actual?.description, matches: $0.matches)
        }
    }

    /// The exit code.
    package var status: ExitStatus { good ? .done : .checksumMismatch }

    /// The checks, one line each, for standard output.
    package var lines: [String] {
        var lines: [String] = []
        let name = Diagnostic.quote(path)
        if part {
            let whole = expectedSize.map { " of \(Units.size($0))" } ?? ""
            lines.append("\(name): the part of a download, \(Units.size(size))\(whole) recorded")
        } else {
            lines.append("\(name): \(Units.size(size))")
        }
        if let expectedSize, !part, expectedSize != size {
            lines.append(
                "wrong: the size is \(Diagnostic.exact(size)) instead of "
                    + Diagnostic.exact(expectedSize))
        }
        if bytesRecorded > 0 {
            let wrong = found.damaged.count
            lines.append(
                wrong == 0
                    ? "good: CRC-32 of \(Units.size(bytesRecorded)) by the manifest"
                    : "wrong: CRC-32 of \(Units.size(wrong)) of \(Units.size(bytesRecorded)) by "
                        + "the manifest")
        }
        for range in found.damaged.ranges {
            lines.append("damaged: bytes \(range) (\(Units.size(range.count)))")
        }
        if !part {
            for range in found.missing.ranges {
                lines.append("not in the manifest: bytes \(range) (\(Units.size(range.count)))")
            }
        }
        for comparison in found.digests { lines.append(Self.line(comparison)) }
        return lines.map { PrintableText.escape($0) }
    }

    private static func line(_ comparison: FileVerification.Comparison) -> String {
        let source =
            switch comparison.source {
            case .argument: "by `--checksum`"
            case .sums: "by the checksum file"
            case .manifest: "by the manifest"
            case .attributes: "by the extended attributes"
            }
        if comparison.matches { return "good: \(comparison.expected) \(source)" }
        let actual = comparison.actual.map { "it is \($0)" } ?? "it cannot be computed"
        return "wrong: \(comparison.expected) \(source); \(actual)"
    }

    /// Notes, errors and hints for standard error.
    package var messages: [Message] {
        var messages: [Message] = []
        let name = Diagnostic.quote(path)
        if inUse {
            messages.append(
                Message(
                    .note,
                    "a download is writing to \(name): bytes that arrive during the check "
                        + "are not checked"))
        }
        if part, !complete {
            messages.append(Message(.note, "\(name) is not complete; `segget get` continues it"))
        }
        guard !good else { return messages }
        messages.append(Message(.error, "\(name) failed verification"))
        let hint =
            part
            ? "`segget get` downloads the damaged bytes again"
            : bytesRecorded > 0
                ? "`segget repair` downloads the damaged bytes again"
                : "download it again with `--overwrite`"
        messages.append(Message(.hint, hint))
        return messages
    }
}

package import Segmenter

/// The result of `segget status`, as text and as JSON.
///
/// `docs/json.md` describes the keys.
package struct SetReport: Encodable {
    var set: String
    var folder: String
    var plan: String
    var source: String
    var address: String?
    var files: Int
    var size: Int64?
    var inUse: Bool
    var states: [String: Figures]
    var failed: [Failed]
    var extras: [String]
    var since: String?

    /// The files and bytes of a state.
    struct Figures: Encodable {
        var files: Int
        var bytes: Int64
    }

    /// A failed file.
    struct Failed: Encodable {
        var path: String
        var clock: String
        var kind: String
        var code: Int32
        var message: String
        var hint: String?
    }

    private enum CodingKeys: CodingKey {
        case set, folder, plan, source, address, files, size, inUse, states, failed, extras, since
    }

    private let status: SetStatus

    package init(_ status: SetStatus) {
        self.status = status
        (set, folder, plan) = (status.set, status.folder, status.plan)
        (source, address) = (status.source.kind.rawValue, status.source.address)
        (files, size, inUse) = (status.files, status.size, status.isInUse)
        states = Dictionary(
            uniqueKeysWithValues: status.counts.map {
                ($0.rawValue, Figures(files: $1.files, bytes: $1.bytes))
            })
        failed = status.failed.map {
            Failed(
                path: $0.path, clock: SetWords.day($0.at), kind: $0.failure.kind,
                code: $0.failure.code, message: $0.failure.message, hint: $0.failure.hint)
        }
        extras = status.extras
        since = status.asOf.map(SetWords.day)
    }

    /// The lines for standard output.
    package var lines: [String] {
        var lines = [headline]
        for state in SetStatus.State.allCases {
            guard let (files, bytes) = status.counts[state] else { continue }
            var line = "  \(Self.word(state)): \(Units.count(Int64(files), "file"))"
            if bytes > 0 { line += ", \(Units.size(bytes))" }
            if state == .complete, let since { line += ", as of \(since)" }
            lines.append(line)
        }
        if !extras.isEmpty {
            let files = Units.count(Int64(extras.count), "file")
            lines.append("  no longer in the plan: \(files) (`--delete-extra` removes them)")
        }
        for file in failed {
            lines.append("failed: \(Diagnostic.quote(file.path)): \(file.message)")
            if let hint = file.hint { lines.append("  next: \(hint)") }
        }
        if !status.isComplete {
            lines.append(
                inUse
                    ? "a run works on it: "
                        + (status.lastRun.map { "process \($0.pid) on \($0.host)" } ?? "unknown")
                    : "next: `segget get --plan \(plan) -d \(folder)`")
        }
        return lines.map { PrintableText.escape($0) }
    }

    private var headline: String {
        let bytes = size.map { ", \(Units.size($0))" } ?? ""
        return "\(Diagnostic.quote(folder)): \(Units.count(Int64(files), "file"))\(bytes)"
    }

    private static func word(_ state: SetStatus.State) -> String {
        switch state {
        case .complete: "complete"
        case .changed: "changed, or another version is planned"
        case .begun: "begun"
        case .unrecorded: "there, and to be compared with the plan"
        case .failed: "failed"
        case .missing: "missing"
        }
    }
}

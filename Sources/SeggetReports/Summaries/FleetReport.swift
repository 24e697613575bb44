package import Segmenter

/// The result of `segget fleet status`, as text and as JSON.
///
/// `docs/json.md` describes the keys.
package struct FleetReport: Encodable {
    var fleet: String
    var files: Int
    var size: Int64?
    var complete: Int64
    var rate: Int64
    var shards: [Shard]
    var states: [String: Int]

    /// A shard.
    struct Shard: Encodable {
        var shard: Int
        var state: String
        var attempts: Int
        var size: Int64
        var complete: Int64
        var files: Int
        var filesComplete: Int
        var host: String?
        var pid: Int32?
        var age: Int64?
        var rate: Int64
        var code: Int32?
        var kind: String?
        var message: String?
    }

    private enum CodingKeys: CodingKey {
        case fleet, files, size, complete, rate, shards, states
    }

    private let status: FleetStatus

    package init(_ status: FleetStatus) {
        self.status = status
        (fleet, files, size) = (status.path, status.files, status.size)
        (complete, rate) = (status.bytesComplete, status.rate)
        shards = status.shards.map {
            Shard(
                shard: $0.number, state: $0.state.rawValue, attempts: $0.attempts, size: $0.size,
                complete: $0.complete, files: $0.files, filesComplete: $0.filesComplete,
                host: $0.host, pid: $0.pid, age: $0.age, rate: $0.rate, code: $0.cause?.code,
                kind: $0.cause?.kind, message: $0.cause?.message)
        }
        states = [:]
        for state in FleetStatus.State.allCases { states[state.rawValue] = status.count(state) }
    }

    /// The lines for standard output.
    package var lines: [String] {
        var lines = [headline]
        for state in FleetStatus.State.allCases where status.count(state) > 0 {
            lines.append("  \(state): \(Units.count(Int64(status.count(state)), "shard"))")
        }
        for shard in status.shards where shard.state == .running {
            lines.append("running: shard \(shard.number)\(who(shard)), \(progress(shard))")
        }
        lines += causes
        return lines.map { PrintableText.escape($0) }
    }

    private var headline: String {
        var text = "\(Diagnostic.quote(fleet)): \(Units.size(complete))"
        if let size { text += " of \(Units.size(size))" }
        if let percent = Units.percent(complete, of: size) { text += " (\(percent)%)" }
        if rate > 0 { text += ", \(Units.speed(Double(rate)))" }
        return text + "; \(Units.count(Int64(files), "file"))"
    }

    private func who(_ shard: FleetStatus.Shard) -> String {
        shard.host.map { " on \($0)" } ?? ""
    }

    private func progress(_ shard: FleetStatus.Shard) -> String {
        var text = "\(Units.size(shard.complete)) of \(Units.size(shard.size)) complete"
        if shard.attempts > 1 { text += ", attempt \(shard.attempts)" }
        if let age = shard.age { text += ", seen \(Units.duration(Double(age)) ?? "long") ago" }
        return text
    }

    /// The failed and left shards, by their causes.
    private var causes: [String] {
        var shards: [String: [Int]] = [:]
        for shard in status.shards {
            guard let cause = shard.cause else { continue }
            let word = shard.state == .failed ? "failed" : "left"
            shards["\(word): \(cause.message) (exit code \(cause.code))", default: []].append(
                shard.number)
        }
        return shards.sorted { $0.value[0] < $1.value[0] }.flatMap { cause, numbers in
            let list = numbers.prefix(8).map { "\($0)" }.joined(separator: ", ")
            let more = numbers.count > 8 ? " and \(numbers.count - 8) more" : ""
            return [cause, "  \(numbers.count == 1 ? "shard" : "shards") \(list)\(more)"]
        }
    }
}

/// The result of `segget fleet finish` as JSON.
///
/// `docs/json.md` describes the keys.
package struct FleetFinishReport: Encodable {
    var fleet: String
    var path: String
    var code: Int32
    var files: Int
    var complete: Int
    var bytes: Int64
    var missing: [String]
    var wrong: [Wrong]
    var kept: [String]
    var rest: String?

    /// A file with wrong bytes.
    struct Wrong: Encodable {
        var path: String
        var shard: Int
    }

    package init(_ result: FleetFinish.Result, of fleet: Fleet, status: ExitStatus) {
        (self.fleet, path, code) = (fleet.path, result.path, status.rawValue)
        (files, complete, bytes) = (fleet.plan.count, result.complete, result.bytes)
        missing = result.missing.map(\.path)
        wrong = result.wrong.map { Wrong(path: $0.path, shard: $0.shard) }
        (kept, rest) = (result.foreign, result.rest)
    }
}

import Foundation
import TestSupport

/// One line of `--json`, with the keys that these tests read.
struct WireEvent: Decodable {
    var event: String?
    var notice: String?
    var message: String?
    var reason: String?
    var kind: String?
    var code: Int32?
    var status: Int?
    var delay: Double?
    var time: Double?
    var size: Int64?
    var transfer: String?
    var identity: String?
    var url: String?
    var mirrors: Mirrors?
    var finalUrl: String?
    var redirects: Int?
    var etag: String?
    var name: String?
    var acceptsRanges: Bool?
    var probedBy: String?
    var headProblem: String?
    var digests: [String]?
    var verified: [String]?
    var bytesKept: Int64?
    var bytesResumed: Int64?
    var bytesReceived: Int64?
    var connections: Int?
    var seconds: Double?
    var address: String?
    var bytes: Int64?
    var sampled: Bool?
    var phase: String?
    var path: String?

    /// The failed mirrors, or the number of mirrors.
    enum Mirrors: Decodable {
        case count(Int)
        case failed([Failed])

        struct Failed: Decodable {
            var url: String
            var reason: String
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            self =
                if let count = try? container.decode(Int.self) {
                    .count(count)
                } else {
                    .failed(try container.decode([Failed].self))
                }
        }

        var count: Int? { if case .count(let count) = self { count } else { nil } }
        var failed: [Failed]? { if case .failed(let failed) = self { failed } else { nil } }
    }
}

extension Run.Outcome {
    /// Returns the events on standard output; with `name`, those with that name.
    func events(_ name: String? = nil) throws -> [WireEvent] {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let all = try output.split(separator: "\n").map {
            try decoder.decode(WireEvent.self, from: Data($0.utf8))
        }
        return name.map { name in all.filter { $0.event == name } } ?? all
    }

    /// Returns the notices of a kind, or all of them.
    func notices(_ kind: String? = nil) throws -> [WireEvent] {
        try events("notice").filter { kind == nil || $0.notice == kind }
    }
}

/// Returns the objects that `--json` wrote, one per line.
func jsonEvents(_ output: String) throws -> [[String: Any]] {
    try output.split(separator: "\n").map { line in
        let object = try JSONSerialization.jsonObject(with: Data(line.utf8))
        guard let event = object as? [String: Any] else {
            throw Unexpected(text: "not an object: \(line)")
        }
        return event
    }
}

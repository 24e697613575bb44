import FoundationEssentials
import SeggetAria2
import SeggetReports

/// A version of the API: the first name of each path.
enum APIVersion: String, Sendable, Hashable {
    /// The version of segget 0.1 and 0.2, with the names of `FirstNames`; until 0.4.
    case first = "v1"
    /// The version that this package describes.
    case current = "v2"

    /// Returns the version that a target names; ``current`` for a path that names none.
    init(target: String) {
        self = target.split(separator: "/").first.flatMap { Self(rawValue: String($0)) } ?? .current
    }

    /// Returns a path of this version; `path` has none, such as `/tasks`.
    func path(_ path: String) -> String { "/\(rawValue)\(path)" }

    /// Returns a body of the current version as a body of this one.
    func body(_ body: Data) -> Data {
        guard self == .first, let value = JSONValue.read(body) else { return body }
        return FirstNames.first(value.withAria2Codes).data
    }

    /// Returns a body of this version as one of the current version; unchanged if it is not JSON.
    func current(_ body: Data) -> Data {
        guard self == .first, let value = JSONValue.read(body) else { return body }
        return FirstNames.current(value).data
    }
}

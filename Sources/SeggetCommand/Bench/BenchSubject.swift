/// A program that can be measured.
enum BenchClient: String, CaseIterable, Sendable {
    case segget, aria2c, axel, curl, wget2

    /// The maximum number of connections for one file.
    var mostConnections: Int {
        switch self {
        case .segget: 64
        case .aria2c, .axel: 16
        case .curl, .wget2: 1
        }
    }
}

/// The subject of a measurement: a program with a number of connections.
struct BenchSubject: Hashable, Sendable {
    /// The number of connections that a program uses.
    enum Connections: Hashable, Sendable {
        case fixed(Int)
        /// The program chooses the number.
        case auto

        /// The number; `nil` if the program chooses it.
        var number: Int? {
            if case .fixed(let number) = self { number } else { nil }
        }
    }

    var client: BenchClient
    var connections: Connections

    /// The name in tables.
    var name: String {
        switch connections {
        case .auto: "\(client.rawValue) auto"
        case .fixed where client.mostConnections == 1: client.rawValue
        case .fixed(let number): "\(client.rawValue) -x \(number)"
        }
    }
}

extension BenchSubject.Connections {
    /// The default of `--connections`.
    static let defaultList = "1,2,4,8,16,auto"

    /// Parses a list such as `1,8,auto`; returns `nil` for an invalid list.
    ///
    /// Duplicates are removed.
    static func list(_ text: String) -> [Self]? {
        var list: [Self] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let item: Self
            if part == "auto" {
                item = .auto
            } else if let number = Int(part), (1...BenchClient.segget.mostConnections) ~= number {
                item = .fixed(number)
            } else {
                return nil
            }
            if !list.contains(item) { list.append(item) }
        }
        return list.isEmpty ? nil : list
    }
}

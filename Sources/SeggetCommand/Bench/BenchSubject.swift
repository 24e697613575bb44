/// A program that can be measured.
enum BenchClient: String, CaseIterable, Sendable {
    case segget, aria2c, axel, curl, wget2

    /// Most connections that it takes for one file.
    var mostConnections: Int {
        switch self {
        case .segget: 64
        case .aria2c, .axel: 16
        case .curl, .wget2: 1
        }
    }
}

/// What is measured: a program with its number of connections.
struct BenchSubject: Hashable, Sendable {
    /// How many connections a program is to use.
    enum Connections: Hashable, Sendable {
        case fixed(Int)
        /// As many as the program finds to be best.
        case auto

        /// The number, unless it is left to the program.
        var number: Int? {
            if case .fixed(let number) = self { number } else { nil }
        }
    }

    var client: BenchClient
    var connections: Connections

    /// How it is called in tables.
    var name: String {
        switch connections {
        case .auto: "\(client.rawValue) auto"
        case .fixed where client.mostConnections == 1: client.rawValue
        case .fixed(let number): "\(client.rawValue) -x \(number)"
        }
    }
}

extension BenchSubject.Connections {
    /// What `--connections` is when it is not given.
    static let defaultList = "1,2,4,8,16,auto"

    /// Reads a list such as `1,8,auto`; `nil` for what is none.
    ///
    /// What stands in it twice counts once.
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

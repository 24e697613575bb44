import Foundation
import Glibc
import TestSupport

/// A sandbox as the unit tests use it: whatever fails there is no part of what is tested.
struct TemporaryFolder: Sendable {
    private let sandbox: Sandbox

    /// Makes the folder under `base`.
    init(under base: String? = nil) {
        guard let sandbox = try? Sandbox("segget-unit", under: base) else {
            preconditionFailure("no folder can be made: \(errno)")
        }
        self.sandbox = sandbox
    }

    var path: String { sandbox.path }

    /// The names in it, sorted.
    var names: [String] { (try? sandbox.names()) ?? [] }

    func path(of name: String) -> String { sandbox.path(name) }

    /// The content of a file, `nil` when there is none.
    func read(_ name: String) -> [UInt8]? { (try? sandbox.read(name)).map { Array($0) } }

    func write(_ bytes: [UInt8], to name: String) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: path(of: name)))
    }

    /// What stat(2) says about a name, without following a link.
    func status(_ name: String) -> stat? {
        var status = stat()
        return lstat(path(of: name), &status) == 0 ? status : nil
    }
}

import Foundation
import Glibc
import TestSupport

/// A sandbox for unit tests.
///
/// A failure in it is a failure of the test's setup.
struct TemporaryFolder: Sendable {
    private let sandbox: Sandbox

    /// Creates the folder under `base`.
    init(under base: String? = nil) {
        guard let sandbox = try? Sandbox("segget-unit", under: base) else {
            preconditionFailure("no folder can be made: \(errno)")
        }
        self.sandbox = sandbox
    }

    var path: String { sandbox.path }

    /// The names in the folder, sorted.
    var names: [String] { (try? sandbox.names()) ?? [] }

    func path(of name: String) -> String { sandbox.path(name) }

    /// Returns the content of a file; `nil` if it does not exist.
    func read(_ name: String) -> [UInt8]? { (try? sandbox.read(name)).map { Array($0) } }

    func write(_ bytes: [UInt8], to name: String) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: path(of: name)))
    }

    /// Returns the result of lstat(2) for a name; `nil` if it does not exist.
    func status(_ name: String) -> stat? {
        var status = stat()
        return lstat(path(of: name), &status) == 0 ? status : nil
    }
}

import FoundationEssentials
import Glibc

/// A new folder, removed with all that is in it when the last reference goes.
final class TemporaryFolder: Sendable {
    let path: String

    /// Makes the folder under `base`.
    init(under base: String = "/tmp") {
        var template = Array("\(base)/segget-unit-XXXXXX".utf8CString)
        precondition(mkdtemp(&template) != nil, "mkdtemp failed: \(errno)")
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// The names in it, sorted.
    var names: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted()
    }

    func path(of name: String) -> String { "\(path)/\(name)" }

    /// The content of a file, `nil` when there is none.
    func read(_ name: String) -> [UInt8]? {
        FileManager.default.contents(atPath: path(of: name)).map { Array($0) }
    }

    func write(_ bytes: [UInt8], to name: String) throws {
        try Data(bytes).write(to: URL(filePath: path(of: name)))
    }

    /// What stat(2) says about a name, without following a link.
    func status(_ name: String) -> stat? {
        var status = stat()
        return lstat(path(of: name), &status) == 0 ? status : nil
    }
}

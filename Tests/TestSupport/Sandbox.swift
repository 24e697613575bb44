public import Foundation
import Glibc

/// A temporary folder of a test, removed with its content when its last reference is released.
public final class Sandbox: Sendable {
    /// Absolute path of the folder, without a trailing slash.
    public let path: String

    /// Creates the folder.
    ///
    /// - Parameters:
    ///   - name: the beginning of its name.
    ///   - folder: the parent folder; by default `$TMPDIR`, else `/tmp`.
    /// - Throws: ``SystemCallError``.
    public init(_ name: String = "segget-test", under folder: String? = nil) throws {
        let base = folder ?? ProcessInfo.processInfo.environment["TMPDIR"] ?? "/tmp"
        var template = Array("\(base)/\(name)-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw SystemCallError("mkdtemp in \(base)") }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { close() }

    /// Path of `name` in the folder.
    public func path(_ name: String) -> String { "\(path)/\(name)" }

    /// Writes a small file.
    ///
    /// - Returns: its path.
    /// - Throws: Foundation's error.
    @discardableResult
    public func write(_ name: String, _ text: String) throws -> String {
        try Data(text.utf8).write(to: URL(fileURLWithPath: path(name)))
        return path(name)
    }

    /// Returns the bytes of a small file.
    ///
    /// - Throws: Foundation's error if there is no such file.
    public func read(_ name: String) throws -> Data {
        try Data(contentsOf: URL(fileURLWithPath: path(name)))
    }

    /// Returns the sorted names in the folder, including hidden ones.
    ///
    /// - Throws: Foundation's error.
    public func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: path).sorted()
    }

    /// Removes the folder now.
    public func close() {
        try? FileManager.default.removeItem(atPath: path)
    }
}

import Assembler
import Foundation
import TestSupport
import Testing

extension Manifest {
    /// Reads the manifest of the file at `path`; `nil` if there is none, or it is unreadable.
    init?(of path: String) {
        guard let data = FileManager.default.contents(atPath: "\(path).segget") else { return nil }
        try? self.init(reading: Array(data))
    }

    /// The number of bytes that it records.
    var received: Int64 { extents.covered.count }
}

extension Run {
    /// Waits until the manifest of `name` in its folder records `bytes`, or it ends.
    ///
    /// - Returns: Whether the bytes are recorded and it is still running.
    func waits(for bytes: Int64, name: String = "file") -> Bool {
        waits { (Manifest(of: "\(folder)/\(name)")?.received ?? 0) >= bytes }
    }
}

extension Run.Outcome {
    /// Returns the names in the folder of the run, in ascending order.
    func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
    }

    /// Expects success, the correct file, and no other file in the folder.
    ///
    /// With `--json`, also expects one event with the size, and the notices that `-v` prints.
    ///
    /// - Parameters:
    ///   - content: What the origin serves.
    ///   - name: The name of the file; `nil` if segget wrote it to its standard output.
    ///   - location: Where the test expects this.
    /// - Throws: An error if the folder, the file or the events cannot be read.
    func expectComplete(
        _ content: Content, name: String? = "file.bin",
        _ location: SourceLocation = #_sourceLocation
    ) throws {
        let report = Comment(rawValue: errorOutput)
        #expect(exitCode == 0, report, sourceLocation: location)
        #expect(try names() == (name.map { [$0] } ?? []), report, sourceLocation: location)
        guard let name else {
            let isRight = content.matches(standardOutput, in: 0..<content.size)
            #expect(isRight, report, sourceLocation: location)
            return
        }
        guard exitCode == 0 else { return }
        #expect(
            try content.firstDifference(at: "\(folder)/\(name)") == nil, report,
            sourceLocation: location)
        guard writesEvents else { return }
        try expectSameNotices(location)
        let finished = try events("finished")
        #expect(finished.count == 1, sourceLocation: location)
        #expect(finished.first?.size == content.size, sourceLocation: location)
    }

    /// Expects that no file was published, that the error is the last event, and which files
    /// remain.
    func expectFailure(
        code: Int32, kind: String, keepsPart: Bool = true,
        _ location: SourceLocation = #_sourceLocation
    ) throws {
        let report = Comment(rawValue: errorOutput)
        #expect(exitCode == code, report, sourceLocation: location)
        #expect(
            try names() == (keepsPart ? ["file.bin.part", "file.bin.segget"] : []), report,
            sourceLocation: location)
        try expectSameNotices(location)
        let last = try events().last
        #expect(last?.event == "error", sourceLocation: location)
        #expect(last?.kind == kind, report, sourceLocation: location)
        #expect(last?.code == code, sourceLocation: location)
        #expect(errorOutput.contains("error: "), sourceLocation: location)
        #expect(errorOutput.contains("hint: "), sourceLocation: location)
    }

    /// Whether the command has `--json`, possibly within the script of a shell.
    private var writesEvents: Bool { command.contains { $0.contains("--json") } }

    /// Expects that `-v` reports each decision in one line, and `--json` the same as an event.
    private func expectSameNotices(_ location: SourceLocation) throws {
        let notes = errorOutput.split(separator: "\n").filter { $0.hasPrefix("note: ") }
        let events = try notices().map { "note: \($0.message ?? "")" }
        // The notes may contain more lines, such as the plan, which `--json` reports in `started`.
        #expect(notes.map(String.init).filter(events.contains) == events, sourceLocation: location)
    }
}

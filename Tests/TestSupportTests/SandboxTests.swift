import Foundation
import TestSupport
import Testing

struct SandboxTests {
    @Test func isRemovedWithItsContent() throws {
        var sandbox: Sandbox? = try Sandbox()
        let path = try #require(sandbox?.path)
        try sandbox?.write("file", "text")
        #expect(try sandbox?.names() == ["file"])
        #expect(try sandbox?.read("file") == Data("text".utf8))
        sandbox = nil
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test(.enabled(if: geteuid() == 0, "mounting needs root"))
    func writesFailOnFullTmpfs() throws {
        var disk: Tmpfs? = try Tmpfs(size: 1 << 20)
        let path = try #require(disk?.path)
        let content = Content(size: 2 << 20, seed: 1)
        #expect(throws: SystemCallError.self) { try content.write(to: "\(path)/file") }
        try disk?.resize(to: 4 << 20)
        try content.write(to: "\(path)/file")
        #expect(try content.firstDifference(at: "\(path)/file") == nil)
        disk = nil
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test func eventuallyDetectsChangeOrTimesOut() {
        let start = monotonicSeconds()
        #expect(eventually { monotonicSeconds() - start > 0.05 })
        #expect(!eventually(timeout: 0.05) { false })
        #expect((0.1...50).contains(monotonicSeconds() - start))
    }
}

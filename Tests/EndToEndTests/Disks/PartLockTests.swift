import Assembler
import TestSupport
import Testing

/// `Assembly.stop()` releases the lock on the part, even while references to it remain.
struct PartLockTests {
    @Test func stopReleasesLockForNextRun() throws {
        let sandbox = try Sandbox()
        let request = Assembly.Request(
            folder: sandbox.path, name: "file.bin", fullURL: "http://h/f", url: "http://h/f",
            identity: RemoteIdentity(size: 10, etag: "\"a\""), servesRanges: true)
        let first = try Assembly(request)
        #expect(throws: AssemblyError.busy(path: sandbox.path("file.bin.part"))) {
            _ = try Assembly(request)
        }
        try first.stop()
        let second = try Assembly(request)
        try second.stop()
        withExtendedLifetime(first) {}
    }
}

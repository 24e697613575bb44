import Glibc
import TestSupport
import Testing

@testable import Assembler

struct NamingCallsTests {
    static let rows: [(rename: Int32, link: Int32, calls: NamingCalls)] = [
        (0, 0, .rename), (0, EPERM, .rename), (EINVAL, 0, .link), (EIO, 0, .link),
        (ENOSPC, 0, .unknown), (EINVAL, ENOSPC, .unknown), (EROFS, EROFS, .unknown),
        (ESTALE, EPERM, .unknown),
    ]

    @Test(arguments: rows)
    func decidesByBothCalls(rename: Int32, link: Int32, calls: NamingCalls) {
        #expect(NamingCalls(rename: rename, link: link) == calls)
    }

    @Test func reportsWhenBothCallsAreRefused() {
        let codes = [EINVAL, ENOSYS, EOPNOTSUPP, EPERM, EIO, ENOTTY, ENOLCK]
        for first in codes {
            for second in codes {
                #expect(NamingCalls(rename: first, link: second) == .neither)
            }
        }
    }

    @Test func trialLeavesNoFiles() throws {
        let sandbox = try Sandbox()
        #expect(try Folder(sandbox.path).namingCalls() == .rename)
        #expect(try sandbox.names().isEmpty)
    }
}

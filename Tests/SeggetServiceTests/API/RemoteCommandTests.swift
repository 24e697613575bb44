import Testing

@testable import SeggetQueue
@testable import SeggetService

/// Tests the commands that clients of the API over TCP may send.
struct RemoteCommandTests {
    private static let policy = RPCPolicy(secret: "s", folder: "/dl")

    private static func task(
        in folder: String = "/dl", _ change: (inout NewTask) -> Void = { _ in }
    ) -> QueueCommand {
        var task = NewTask("http://h/f", to: .init(root: folder))
        change(&task)
        return .add(task)
    }

    /// Each row names a command, a file or an interface of this machine.
    @Test(
        arguments: [
            { $0.refreshCommand = ["id"] }, { $0.plan = "/dl/plan" },
            { $0.options.adopt = "/etc/passwd" },
            { $0.options.caCertificate = "/a" }, { $0.options.access.usesNetrc = true },
            { $0.options.access.netrcFile = "/a" }, { $0.options.access.cookieFile = "/a" },
            { $0.options.access.clientCertificate = "/a" }, { $0.options.access.clientKey = "/a" },
            { $0.options.access.resolve = ["h:80:127.0.0.1"] },
            { $0.options.access.pinnedPublicKey = "/a" }, { $0.options.access.interface = "lo" },
        ] as [@Sendable (inout NewTask) -> Void])
    func refusesOptionsOfThisMachine(change: @Sendable (inout NewTask) -> Void) {
        #expect(throws: RPCPolicy.Forbidden.self) {
            try Self.policy.check([Self.task(change)])
        }
    }

    @Test func acceptsOptionsOfDownload() throws {
        let command = Self.task {
            $0.options.headers = ["X-A: b"]
            $0.options.access.credentials = .init(user: "u", password: "p")
        }
        try Self.policy.check([command])
    }

    @Test(arguments: ["/", "/etc", "/dl2", "/dl/../etc"])
    func acceptsOnlyFoldersBelowDownloads(folder: String) {
        #expect(throws: RPCPolicy.Forbidden.self) {
            try Self.policy.check([Self.task(in: folder)])
        }
        let rename = QueueCommand.rename(TaskSelection(isAll: true), name: nil, folder: folder)
        #expect(throws: RPCPolicy.Forbidden.self) { try Self.policy.check([rename]) }
    }
}

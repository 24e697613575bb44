import Foundation
import Glibc
import TestSupport
import Testing

@testable import SeggetService

struct AllowedFoldersTests {
    private let sandbox: Sandbox
    private let folders: AllowedFolders
    private let root: String

    init() throws {
        let sandbox = try Sandbox("allowed")
        self.sandbox = sandbox
        let base = try #require(realpath(sandbox.path, nil).map { String(cString: $0) })
        root = base + "/root"
        for name in ["root", "root/sub", "root/sub/deeper", "root-beside", "other"] {
            mkdir(sandbox.path(name), 0o755)
        }
        folders = try AllowedFolders([root, base + "/other"], home: base)
    }

    private func isAllowed(_ folder: String, _ name: String? = nil) -> Bool {
        do throws(RPCPolicy.Forbidden) {
            try folders.judge(folder, name)
            return true
        } catch {
            return false
        }
    }

    @Test func allowsOnlyFoldersBelowRoots() {
        for folder in [
            root, root + "/sub", root + "/sub/deeper", root + "/new", root + "/new/deeper",
            root + "/sub/new", root.replacing("/root", with: "/other"),
        ] {
            #expect(isAllowed(folder, "a"), "\(folder)")
        }
        for folder in [
            "/", "/etc", "", "relative", root + "-beside", root.replacing("/root", with: ""),
            String(root.dropLast()), root.uppercased(),
        ] {
            #expect(!isAllowed(folder, "a"), "\(folder)")
        }
    }

    @Test func refusesNamesWithLeadingDot() {
        for folder in ["/.ssh", "/sub/.ssh", "/.", "/..", "/sub/..", "/sub/../..", "/new/.x/y"] {
            #expect(!isAllowed(root + folder, "a"), "\(folder)")
        }
        for name in [".profile", ".", "..", ".a.b"] { #expect(!isAllowed(root, name), "\(name)") }
        for name in ["a.", "a..b", "a.b"] { #expect(isAllowed(root, name), "\(name)") }
    }

    @Test func refusesSymbolicLinks() throws {
        symlink(sandbox.path("other"), sandbox.path("root/link"))
        symlink("sub", sandbox.path("root/near"))
        symlink("/nonexistent", sandbox.path("root/dangling"))
        symlink("../..", sandbox.path("root/sub/up"))
        for folder in [
            "/link", "/link/new", "/near", "/near/deeper", "/dangling", "/dangling/new", "/sub/up",
            "/sub/up/root", "/sub/up/etc",
        ] {
            #expect(!isAllowed(root + folder, "a"), "\(folder)")
        }
        #expect(isAllowed(root + "/sub/deeper", "a"))
    }

    @Test func detectsLinkCreatedLater() {
        #expect(isAllowed(root + "/sub/deeper", "a"))
        rmdir(sandbox.path("root/sub/deeper"))
        symlink("/etc", sandbox.path("root/sub/deeper"))
        #expect(!isAllowed(root + "/sub/deeper", "a"))
        rename(sandbox.path("root/sub"), sandbox.path("root/old"))
        symlink("old", sandbox.path("root/sub"))
        #expect(!isAllowed(root + "/sub", "a"))
    }

    @Test func refusesPathsThatAreNoFolder() throws {
        try sandbox.write("root/file", "x")
        mkfifo(sandbox.path("root/fifo"), 0o600)
        for folder in ["/file", "/file/new", "/fifo", "/" + String(repeating: "x", count: 300)] {
            #expect(!isAllowed(root + folder, "a"), "\(folder)")
        }
    }

    @Test func acceptsMissingRoot() throws {
        let later = try AllowedFolders([root + "/later"], home: "/home/u")
        try later.judge(root + "/later/new", "a")
    }

    @Test(arguments: ["/", "/home/u"])
    func refusesRootFolderAndHome(root: String) {
        #expect(throws: RPCPolicy.Forbidden.self) {
            try AllowedFolders(["/srv", root], home: "/home/u")
        }
    }
}

import Glibc
import Testing

@testable import Assembler

@Suite struct MadeFoldersTests {
    private let folder = TemporaryFolder()
    private let made = MadeFolders()

    private func path(_ name: String) -> String { folder.path(of: name) }

    private func isFolder(_ name: String) -> Bool {
        (folder.status(name)?.st_mode ?? 0) & S_IFMT == S_IFDIR
    }

    @Test func onlyEmptyFoldersAreRemoved() throws {
        for name in ["a/b/c", "a/d", "e"] { try made.make(path(name), .made) }
        try folder.write([1], to: "a/d/file")
        try #require(mkdir(path("own"), 0o755) == 0)
        try made.make(path("own"), .made)
        made.removeEmpty()
        #expect(folder.names == ["a", "own"])
        #expect(isFolder("a/d") && !isFolder("a/b"))
        made.removeEmpty()
        #expect(folder.names == ["a", "own"])
    }

    @Test func permissionsFollowTheUmask() throws {
        try #require(mkdir(path("own"), 0o700) == 0)
        try MadeFolders(umask: 0o027).make(path("own/b/c"), .made)
        let modes = ["own", "own/b", "own/b/c"].map { (folder.status($0)?.st_mode ?? 0) & 0o777 }
        #expect(modes == [0o700, 0o750, 0o750])
    }

    /// As if a command had moved the file away.
    @Test func foldersOfFinishedFilesStay() throws {
        try made.make(path("a/b/c"), .made)
        try made.make(path("a/d"), .made)
        made.keep(path("a/b/c/"))
        made.removeEmpty()
        #expect(isFolder("a/b/c") && !isFolder("a/d"))
    }

    @Test func replacedFolderStays() throws {
        try made.make(path("a"), .made)
        try #require(rename(path("a"), path("b")) == 0 && mkdir(path("a"), 0o755) == 0)
        made.removeEmpty()
        #expect(folder.names == ["a", "b"])
    }

    /// The value is the same before and after the folder is created, for each spelling of its path.
    @Test func folderKeepsItsIdentity() throws {
        let before = try #require(made.place(of: path("a/b")))
        #expect(made.place(of: path("./a//b/")) == before)
        #expect(made.place(of: path("a/c")) != before)
        try made.make(path("a/b"), .made)
        #expect(made.place(of: path("a/b")) == before)
        try #require(symlink("a", path("link")) == 0)
        #expect(made.place(of: path("link/b")) == before)
        let other = MadeFolders()
        #expect(other.place(of: path("a/b")) != before)
        try folder.write([], to: "plain")
        #expect(made.place(of: path("plain/a")) == nil)
    }

    @Test(arguments: [
        ("in/a", true), ("in", true), ("in/./a//b", true), ("in/a/../b", false), ("in/../x", false),
        ("inx/a", false), ("x", false), ("in/out/x", false), ("in/near/x", true),
        ("in/out", true), ("in/near/../x", false),
    ])
    func boundFoldersAreBelowTheirRoots(name: String, isMade: Bool) throws {
        let outside = TemporaryFolder()
        try #require(mkdir(path("in"), 0o755) == 0 && mkdir(path("in/there"), 0o755) == 0)
        try #require(symlink(outside.path, path("in/out")) == 0)
        try #require(symlink("there", path("in/near")) == 0)
        let rule = MissingFolders.madeBelow([path("in/"), path("elsewhere")])
        do throws(AssemblyError) {
            _ = try made.parent(ofMissing: path(name), rule)
            try made.make(path(name), rule)
            #expect(isMade)
            #expect(Folder.identity(at: path(name)) != nil)
        } catch {
            #expect(!isMade)
            guard case .folderUnavailable(_, ENOENT) = error else {
                Issue.record("\(error)")
                return
            }
        }
        #expect(outside.names == [])
        #expect(folder.names == ["in"])
    }

    @Test func missingRootIsMade() throws {
        try made.make(path("x/y/z"), .madeBelow([path("x/y")]))
        #expect(isFolder("x/y/z"))
        #expect(throws: AssemblyError.folderUnavailable(path: path("n"), errno: ENOENT)) {
            try made.make(path("n"), .refused)
        }
    }

    @Test func lookupMakesNoFolder() throws {
        #expect(try made.parent(ofMissing: path("a/b/c"), .made) == folder.path)
        try #require(mkdir(path("a"), 0o755) == 0)
        #expect(try made.parent(ofMissing: path("a/b/c"), .made) == path("a"))
        #expect(try made.parent(ofMissing: path("a"), .made) == nil)
        try folder.write([], to: "plain")
        #expect(throws: AssemblyError.folderUnavailable(path: path("plain/a"), errno: ENOTDIR)) {
            try made.parent(ofMissing: path("plain/a"), .made)
        }
        #expect(folder.names == ["a", "plain"])
    }
}

import Testing

@testable import Assembler

struct FolderSetTests {
    @Test func folderWithOneNameIsEmptyButForIt() throws {
        let sandbox = TemporaryFolder()
        let folder = try Folder(sandbox.path)
        #expect(folder.isEmpty(but: ".segget"))
        try sandbox.write([], to: ".segget")
        #expect(folder.isEmpty(but: ".segget") && !folder.isEmpty(but: "other"))
        try sandbox.write([], to: "..file")
        #expect(!folder.isEmpty(but: ".segget"))
    }
}

import Testing

@testable import Assembler

/// The part of an attempt that another one takes: at each moment, one of the folders has all of it.
@Suite struct TakenPartTests {
    private let old = TemporaryFolder()
    private let new = TemporaryFolder()
    private let parts = PartNames("x")

    private func take(isOver: Bool) throws -> Bool {
        try Folder(new.path).takePart(parts, from: Folder(old.path), isOver: isOver)
    }

    private func fill() throws {
        try old.write([1, 2, 3], to: parts.manifest)
        try old.write([4, 5], to: parts.part)
    }

    private func isTaken() throws -> Bool {
        let folder = try Folder(new.path)
        return folder.read(parts.manifest, most: 9) == [1, 2, 3]
            && folder.read(parts.part, most: 9) == [4, 5] && new.names.count == 2
    }

    @Test func partOfALivingAttemptIsCopied() throws {
        try fill()
        #expect(try take(isOver: false))
        #expect(try isTaken())
        #expect(old.names.count == 2)
    }

    @Test func partOfAnEndedAttemptIsMoved() throws {
        try fill()
        #expect(try take(isOver: true))
        #expect(try isTaken())
        #expect(old.names.isEmpty)
    }

    /// A copy that a kill cut short has no manifest yet, and is made again.
    @Test(arguments: [false, true])
    func interruptedTakingIsRepeated(isOver: Bool) throws {
        try fill()
        try new.write([1, 2, 3], to: parts.rewrite)
        try new.write([4], to: parts.part)
        #expect(try take(isOver: isOver))
        #expect(try isTaken())
    }

    @Test func ownPartStays() throws {
        try fill()
        try new.write([7], to: parts.manifest)
        #expect(try !take(isOver: true))
        #expect(old.names.count == 2 && new.names == [parts.manifest])
    }

    @Test func manifestAloneIsNotTaken() throws {
        try old.write([1], to: parts.manifest)
        #expect(try !take(isOver: true))
        #expect(old.names == [parts.manifest] && new.names.isEmpty)
    }
}

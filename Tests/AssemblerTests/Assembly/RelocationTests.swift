import Glibc
import TestSupport
import Testing

@testable import Assembler

/// Moving, stopped after each of its steps: one of the folders contains the whole file, and the
/// next call completes the move.
@Suite struct RelocationTests {
    /// The destination of the move.
    enum Way: CaseIterable { case otherName, otherFolder, otherFileSystem }

    /// The files that are moved.
    enum Kind: CaseIterable { case part, finished, finishedWithManifest, published }

    struct Stopped: Error {}

    /// The two folders, and the files to move.
    struct Scene {
        let folder = TemporaryFolder()
        let other: TemporaryFolder
        private let disk: Tmpfs?
        let sample: Sample
        let kind: Kind
        let old: FileTarget
        let new: FileTarget
        var version: FileVersion?
        static let arrived = [ByteRange(0, 1000), ByteRange(5000, 30_000)]

        init(_ kind: Kind, _ way: Way, size: Int = 30_000, disk bytes: Int64 = 8 << 20) throws {
            disk = way == .otherFileSystem ? try Tmpfs(size: bytes) : nil
            other = way == .otherName ? folder : TemporaryFolder(under: disk?.path)
            sample = Sample(size: size, in: folder)
            self.kind = kind
            old = FileTarget(folder: folder.path, name: Sample.name)
            new = FileTarget(
                folder: other.path, name: way == .otherName ? "new name" : Sample.name)
            switch kind {
            case .part: try sample.leave(Self.arrived)
            case .finished, .finishedWithManifest:
                let assembly = try Assembly(
                    sample.request { $0.keepManifest = kind == .finishedWithManifest })
                sample.write(sample.whole, with: assembly)
                #expect(try assembly.publish(size: sample.whole.count) != nil)
                version = try Folder(folder.path).status(of: Sample.name)?.version
            case .published:
                try sample.leave([sample.whole])
                try publish()
            }
        }

        /// Leaves the state of a run that was killed after the rename.
        private func publish() throws {
            let bytes = try #require(folder.read(Sample.manifest))
            let here = try Folder(folder.path)
            let part = try #require(try here.status(of: Sample.part)?.identity)
            let seed = Manifest.seed(generation: try Manifest(reading: bytes).header.generation)
            try folder.write(
                bytes + SealedLine.of(Manifest.Record(publishing: part), seed: seed),
                to: Sample.manifest)
            try here.rename(Sample.part, to: Sample.name)
        }

        var urls: [String] { ["https://example.org/other", sample.request.fullURL] }

        func relocation() throws -> Relocation {
            try Relocation(from: old, to: new, owner: PartOwner(urls: urls), finished: version)
        }

        func move(cancelling: Bool = false) throws(AssemblyError) -> Assembly.Moved {
            try Assembly.move(from: old, to: new, owner: PartOwner(urls: urls), finished: version) {
                cancelling
            }
        }

        /// Returns whether all files exist at a target, and can be continued there.
        func isWhole(at target: FileTarget) throws -> Bool {
            let there = try Assembly.standing(at: target, owner: PartOwner(urls: urls))
            guard kind == .part else {
                guard case .regular = there.destination else { return false }
                return try Sandbox.content(target.path) == sample.data
            }
            guard case .ours = there.part, case .ours(let record) = there.manifest,
                record.bytes == Self.arrived.reduce(0, { $0 + $1.count })
            else { return false }
            let bytes = try Sandbox.content(target.path + ".part")
            return Self.arrived.allSatisfy {
                Array(bytes[Int($0.start)..<Int($0.end)]) == sample.bytes($0)
            }
        }

        /// The expected names after the move.
        var names: [String] {
            let suffixes: [String] =
                switch kind {
                case .part: [".part", ".segget"]
                case .finished: [""]
                case .finishedWithManifest, .published: ["", ".segget"]
                }
            return suffixes.map { new.name + $0 }
        }

        /// Checks that all files are at the new place, and none at the old one.
        func checkMoved(_ moved: Assembly.Moved) throws {
            let there = try Assembly.standing(at: new, owner: PartOwner(urls: urls))
            switch moved {
            case .part(let identity):
                #expect(kind == .part && there.part == .ours(identity))
            case .finished(let status):
                #expect(kind != .part && there.destination == .regular(status))
                #expect(version?.hasSameContent(as: status.version) ?? true)
                // The fact that the file was published, which a command needs, is kept.
                if kind == .published { #expect(there.published == status) }
            default: Issue.record("\(moved)")
            }
            #expect(try isWhole(at: new))
            #expect(other.names == names)
            if other.path != folder.path { #expect(folder.names == []) }
        }
    }

    @Test(arguments: Kind.allCases, Way.allCases)
    func movesPartAndManifest(kind: Kind, way: Way) throws {
        let scene = try Scene(kind, way)
        try scene.checkMoved(try scene.move())
        // Repeating the move changes nothing.
        try scene.checkMoved(try scene.move())
        if kind == .part {
            let request = scene.sample.request {
                ($0.folder, $0.name) = (scene.new.folder, scene.new.name)
            }
            let assembly = try Assembly(request)
            assembly.verifyAll()
            #expect(assembly.startedOver == nil)
            #expect(assembly.recorded.covered.ranges == Scene.arrived)
            try assembly.stop()
        }
        if kind == .published {
            let file = try Publishing.recover(
                folder: scene.new.folder, name: scene.new.name,
                fullURL: scene.sample.request.fullURL, checksum: nil)
            #expect(file != nil, "the next run finishes it there")
        }
    }

    @Test(arguments: Kind.allCases, Way.allCases)
    func moveCompletesAfterAStopAtAnyStep(kind: Kind, way: Way) throws {
        var stops = 0
        for step in Relocation.Step.allCases {
            // Stops at this step once, and then twice in a row.
            for times in 1...2 {
                let scene = try Scene(kind, way)
                var hasStopped = false
                for _ in 0..<times {
                    var relocation = try scene.relocation()
                    relocation.after = { (now) throws(AssemblyError) in
                        guard now == step else { return }
                        hasStopped = true
                        throw .io(operation: "stop", path: "", errno: 0)
                    }
                    _ = try? relocation.run()
                    let isOld = try scene.isWhole(at: scene.old)
                    let isNew = try scene.isWhole(at: scene.new)
                    #expect(isOld || isNew, "\(step)")
                }
                stops += hasStopped ? 1 : 0
                try scene.checkMoved(try scene.move())
            }
        }
        let most =
            switch (kind, way) {
            case (.part, .otherFileSystem): 4
            case (.finished, .otherName), (.finished, .otherFolder): 2
            case (_, .otherFileSystem): 6
            default: 3
            }
        #expect(stops == 2 * most)
    }

    /// On a file system without renameat2(2), the move stops between link(2) and unlink(2).
    @Test(arguments: Kind.allCases)
    func moveCompletesAfterALink(kind: Kind) throws {
        let scene = try Scene(kind, .otherFolder)
        var relocation = try scene.relocation()
        relocation.after = { (_) throws(AssemblyError) in
            throw .io(operation: "stop", path: "", errno: 0)
        }
        if kind != .finished { _ = try? relocation.run() }
        let suffix = kind == .part ? ".part" : ""
        try #require(link(scene.old.path + suffix, scene.new.path + suffix) == 0)
        try scene.checkMoved(try scene.move())
    }

    @Test(arguments: Kind.allCases, Way.allCases)
    func moveReplacesNoFile(kind: Kind, way: Way) throws {
        for suffix in ["", ".part", ".segget", ".segget~"] {
            let scene = try Scene(kind, way)
            let before = scene.folder.names
            try scene.other.write([1, 2, 3], to: scene.new.name + suffix)
            #expect(throws: AssemblyError.destinationExists(path: scene.new.path + suffix)) {
                try scene.move()
            }
            #expect(scene.other.read(scene.new.name + suffix) == [1, 2, 3])
            #expect(try scene.isWhole(at: scene.old))
            try #require(unlink(scene.new.path + suffix) == 0)
            #expect(scene.folder.names == before)
            try scene.checkMoved(try scene.move())
        }
    }

    @Test(arguments: Kind.allCases, [true, false])
    func failedCopyIsRemoved(kind: Kind, isCancelled: Bool) throws {
        let scene = try Scene(
            kind, .otherFileSystem, size: 600_000, disk: isCancelled ? 8 << 20 : 64 << 10)
        let before = scene.folder.names
        if isCancelled {
            #expect(try scene.move(cancelling: true) == .cancelled)
        } else if kind != .part {
            #expect(throws: AssemblyError.self) { try scene.move() }
        }
        #expect(scene.folder.names == before)
        #expect(scene.other.names == [])
    }

    @Test func lockedPartStays() throws {
        let scene = try Scene(.part, .otherFolder)
        let assembly = try Assembly(scene.sample.request)
        #expect(throws: AssemblyError.busy(path: scene.old.path + ".part")) { try scene.move() }
        try assembly.stop()
        try scene.checkMoved(try scene.move())
    }

    @Test func foreignPartStays() throws {
        let scene = try Scene(.part, .otherFolder)
        func move(_ urls: [String], _ finished: FileVersion? = nil) throws -> Assembly.Moved {
            try Assembly.move(
                from: scene.old, to: scene.new, owner: PartOwner(urls: urls), finished: finished)
        }
        #expect(try move(["https://example.org/other"]) == .nothing)
        #expect(try scene.isWhole(at: scene.old))
        try scene.folder.write([1], to: Sample.name)
        let status = try #require(try Folder(scene.folder.path).status(of: Sample.name))
        var version = status.version
        version.size += 1
        #expect(try move(scene.urls, version) == .nothing)
        #expect(scene.folder.read(Sample.name) == [1])
        #expect(scene.other.names == [])
    }

    @Test(arguments: Kind.allCases)
    func movingToTheSamePlaceDoesNothing(kind: Kind) throws {
        let scene = try Scene(kind, .otherName)
        let before = scene.folder.names
        let same = FileTarget(folder: scene.folder.path + "/.", name: Sample.name)
        let moved = try Assembly.move(
            from: scene.old, to: same, owner: PartOwner(urls: scene.urls),
            finished: scene.version)
        #expect(moved != .nothing)
        #expect(scene.folder.names == before)
    }

    @Test func movingNothingDoesNothing() throws {
        let folder = TemporaryFolder()
        let place = FileTarget(folder: folder.path, name: "f")
        let gone = FileTarget(folder: folder.path(of: "gone"), name: "f")
        #expect(try Assembly.move(from: gone, to: place, owner: PartOwner(urls: ["u"])) == .nothing)
        #expect(throws: AssemblyError.folderUnavailable(path: gone.folder, errno: ENOENT)) {
            try Assembly.move(from: place, to: gone, owner: PartOwner(urls: ["u"]))
        }
        // A run that was killed at the start has left an empty part.
        try folder.write([], to: "f.part")
        let new = FileTarget(folder: folder.path, name: "new")
        #expect(try Assembly.move(from: place, to: new, owner: PartOwner(urls: ["u"])) == .nothing)
        #expect(folder.names == [])
    }

    @Test func copyKeepsModeAndAttributes() throws {
        var scene = try Scene(.part, .otherFileSystem)
        let assembly = try Assembly(scene.sample.request { $0.attributes = .all })
        assembly.verifyAll()
        scene.sample.write(ByteRange(1000, 5000), with: assembly)
        #expect(try assembly.publish(size: scene.sample.whole.count) != nil)
        try #require(chmod(scene.old.path, 0o751) == 0)
        let there = try Folder(scene.folder.path)
        scene.version = try there.status(of: Sample.name)?.version
        let facts = try FinishedFacts.attributes(of: Sample.name, in: there)
        guard case .finished = try scene.move() else {
            Issue.record("not moved")
            return
        }
        #expect(scene.other.status(Sample.name)?.st_mode == S_IFREG | 0o751)
        let copied = try FinishedFacts.attributes(of: Sample.name, in: Folder(scene.other.path))
        #expect(copied?.header == facts?.header)
        #expect(scene.other.names == [Sample.name])
    }
}

extension Sandbox {
    /// Returns the bytes of a small file.
    static func content(_ path: String) throws -> [UInt8] {
        let file = try #require(fopen(path, "r"))
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while case let count = fread(&buffer, 1, buffer.count, file), count > 0 {
            bytes += buffer.prefix(count)
        }
        return bytes
    }
}

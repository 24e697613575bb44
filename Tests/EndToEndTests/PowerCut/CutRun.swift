import Assembler
import Foundation
import Glibc
import Segmenter
import TestSupport
import Testing

/// A kind of run during which the power may fail.
enum CutRun: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case fresh
    /// Long enough for the data to be made durable on the way.
    case slow
    case resumed
    /// A part of another version is there.
    case startsOver
    /// Another file has the name, and may be replaced.
    case overwrites
    case keepsManifest
    case writesAttributes
    /// The file system cannot rename without replacing.
    case links
    /// The file has not the digest that is asked for.
    case rejected
    case unknownSize
    /// The same, and larger than it may be: what has come is removed.
    case tooLarge
    case repairs
    /// An earlier run was stopped just before the rename.
    case finishes
    /// The same, and the manifest is to be kept.
    case finishesAndKeeps
    /// A list of files.
    case batch
    /// A list of small files, which one request brings each.
    case smallBatch

    /// All of them, or the one that the environment names.
    static let chosen = allCases.filter {
        [nil, $0.rawValue].contains(ProcessInfo.processInfo.environment["SEGGET_POWER_RUN"])
    }

    var testDescription: String { rawValue }

    static let size: Int64 = 400_000
    /// Size of the file: for a repair, that of two extents, of which one is intact.
    var size: Int64 {
        switch self {
        case .repairs: ExtentMap.mergeLimit + Self.size
        case .smallBatch: 100_000
        default: Self.size
        }
    }
    static let old = Array("what stood here before".utf8)
    /// Where a repaired file is damaged.
    static let damage: Int64 = ExtentMap.mergeLimit + 300_000

    /// Bytes a second and connection.
    private var pace: Double { self == .slow ? 18_000 : 400_000 }
    /// How the run ends when the power does not fail.
    var end: ChildProcess.End {
        switch self {
        case .rejected: .exit(65)
        case .tooLarge: .exit(69)
        default: .exit(0)
        }
    }
    /// What is in the folder in the end.
    var names: [String] {
        switch self {
        case .keepsManifest, .finishesAndKeeps, .repairs: ["file", "file.segget"]
        case .batch, .smallBatch: ["a", "b", "list"]
        default: ["file"]
        }
    }
    /// The names of the files that are fetched.
    var files: [String] { [.batch, .smallBatch].contains(self) ? ["a", "b"] : ["file"] }
    /// Whether what has arrived may have to be fetched again.
    var mayStartOver: Bool {
        [.unknownSize, .tooLarge, .rejected, .startsOver, .batch, .smallBatch].contains(self)
    }

    /// Arguments of segget.
    func arguments(_ stage: Stage) -> [String] {
        let url = stage.origin.url("/file")
        let plain = ["-q", "-x", "3"]
        switch self {
        case .overwrites: return plain + ["--overwrite", "-o", "file", url]
        case .keepsManifest, .finishesAndKeeps: return plain + ["--keep-manifest", url]
        case .writesAttributes:
            return plain + ["--xattr", "--checksum", "sha-256:\(stage.content.sha256Hex)", url]
        case .rejected:
            return plain + ["--checksum", "md5:" + String(repeating: "0", count: 32), url]
        case .tooLarge: return plain + ["--max-size", "300k", url]
        case .repairs: return ["repair", "-q", "file", url]
        case .smallBatch: return plain + ["-i", "list"]
        case .batch: return plain + ["-j", "2", "-i", "list"]
        default: return plain + [url]
        }
    }

    /// The options for the library that say the same, but for what cannot succeed.
    private func options(_ stage: Stage) -> DownloadOptions {
        var options = DownloadOptions()
        options.connections = 3
        options.overwrite = self == .overwrites
        options.files.keepManifest = [.keepsManifest, .finishesAndKeeps].contains(self)
        if self == .writesAttributes {
            options.files.attributes = .all
            options.checksum = try? Digest(parsing: "sha-256:\(stage.content.sha256Hex)")
        }
        return options
    }

    /// Runs segget as the run after the power cut does, in this process.
    func resume(_ session: DownloadSession, _ stage: Stage, in folder: String) async throws
        -> [DownloadedFile]
    {
        if self == .repairs {
            return [
                try await session.repair("\(folder)/file", from: stage.origin.url("/file")).result
                    .get()
            ]
        }
        var files: [DownloadedFile] = []
        for name in self.files {
            files.append(
                try await session.download(
                    stage.origin.url("/\(name)"), to: "\(folder)/\(name)", options: options(stage)))
        }
        return files
    }

    /// Brings the folder of `stage` to where the run begins, and the origin too.
    private func prepare(_ stage: Stage) throws {
        switch self {
        case .resumed: try stage.leavePart(each: 40_000, connections: 3)
        case .startsOver:
            try stage.leavePart(each: 40_000, connections: 3)
            stage.change { $0.content = Self.newer }
            stage.change { $0.etag = "\"v2\"" }
        case .overwrites: try stage.write(Self.old, to: "file")
        case .unknownSize, .tooLarge: stage.hideSize()
        case .repairs:
            let outcome = try stage.run(["-q", "--keep-manifest"])
            #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
            try stage.damage("file", at: Self.damage)
        case .finishes, .finishesAndKeeps: try stage.leaveFinishedPart()
        case .batch, .smallBatch:
            try stage.write(Array("/a\n/b\n".utf8), to: "list")
            let list = "\(stage.origin.url("/a"))\n\(stage.origin.url("/b"))\n"
            try stage.write(Array(list.utf8), to: "list")
        default: break
        }
    }

    static let newer = Content(size: size, seed: 2)

    /// Has the origin answer as other servers do: a cookie with each reply, a stored archive that is marked
    /// as encoded, each second range with 200, and dates of which the tag knows nothing.
    private func bend(_ request: OriginRequest, _ reply: inout OriginReply) {
        reply.set("Set-Cookie", "turn=\(request.number); Path=/")
        // What an earlier run has left was not.
        if ![.resumed, .startsOver, .finishes, .finishesAndKeeps].contains(self) {
            reply.set("Content-Type", "application/gzip")
            reply.set("Content-Encoding", "gzip")
        }
        if reply.status == 206, request.number % 2 == 0 { reply.status = 200 }
        if self == .fresh {
            let date = httpDate(unixTime: 1_600_000_000 + 60 * (request.connection % 2))
            reply.set("Last-Modified", date)
        }
    }

    /// Whether the size is stated: only then are there ranges, and is the coding left as it is.
    private var tellsSize: Bool { ![.unknownSize, .tooLarge].contains(self) }

    /// Does it once, with the disk watched.
    func record(on stage: Stage) throws -> DiskRecord {
        if tellsSize { stage.change { $0.bend = bend } }
        try prepare(stage)
        if tellsSize { stage.change { $0.bend = bend } }
        let pace = pace
        stage.change { offer in
            let bend = offer.bend
            offer.bend = { request, reply in
                bend(request, &reply)
                if request.method == "GET" { reply.pace = pace }
            }
        }
        let record = try DiskRecord(
            of: arguments(stage), on: stage, refusesExclusiveRename: self == .links)
        if tellsSize { stage.change { $0.bend = bend } } else { stage.hideSize() }
        return record
    }
}

import Assembler
import Foundation
import Glibc
import Segmenter
import TestSupport
import Testing

/// A kind of run during which the power fails.
enum CutRun: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case fresh
    /// Long enough for segget to sync data during the transfer.
    case slow
    case resumed
    /// The folder has a part of another version.
    case startsOver
    /// Another file has the name and may be replaced.
    case overwrites
    case keepsManifest
    case writesAttributes
    /// The file system cannot rename without replacing.
    case links
    /// The file does not have the requested digest.
    case rejected
    case unknownSize
    /// Unknown size, and larger than `--max-size`: the received bytes are removed.
    case tooLarge
    case repairs
    /// An earlier run was stopped just before the rename.
    case finishes
    /// An earlier run was stopped just before the rename, and the manifest is kept.
    case finishesAndKeeps
    /// A list of files.
    case batch
    /// A list of small files, each of which takes one request.
    case smallBatch
    /// A set of small files and one large one, with a ledger.
    case set

    /// All kinds, or the one that `SEGGET_POWER_RUN` names.
    static let chosen = allCases.filter {
        [nil, $0.rawValue].contains(ProcessInfo.processInfo.environment["SEGGET_POWER_RUN"])
    }

    var testDescription: String { rawValue }

    static let size: Int64 = 400_000
    /// The size of the file; that of a repair has two extents, one of them intact.
    var size: Int64 {
        switch self {
        case .repairs: ExtentMap.mergeLimit + Self.size
        case .smallBatch, .set: 100_000
        default: Self.size
        }
    }
    static let old = Array("what stood here before".utf8)
    /// The offset of the damage in a repaired file.
    static let damage: Int64 = ExtentMap.mergeLimit + 300_000

    /// Bytes per second and connection.
    private var pace: Double { self == .slow ? 18_000 : 400_000 }
    /// The end of the run without a power cut.
    var end: Run.End {
        switch self {
        case .rejected: .exit(65)
        case .tooLarge: .exit(69)
        default: .exit(0)
        }
    }
    /// The names in the folder at the end.
    var names: [String] {
        switch self {
        case .keepsManifest, .finishesAndKeeps, .repairs: ["file", "file.segget"]
        case .batch, .smallBatch: ["a", "b", "list"]
        case .set: [".segget"] + files + ["list", "plan"]
        default: ["file"]
        }
    }
    /// The names of the downloaded files.
    var files: [String] {
        switch self {
        case .batch, .smallBatch: ["a", "b"]
        case .set: ["a", "b", "c", "d"]
        default: ["file"]
        }
    }
    /// Whether received bytes may have to be downloaded again.
    var mayStartOver: Bool {
        [.unknownSize, .tooLarge, .rejected, .startsOver, .batch, .smallBatch, .set].contains(self)
    }

    /// The arguments of segget.
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
        case .set: return ["get", "--plan", "plan", "-d", "."] + plain
        default: return plain + [url]
        }
    }

    /// The same options for the library, except those that cannot succeed.
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

    /// Downloads with the library in this process, as the run after the power cut.
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

    /// Prepares the folder of `stage` and its origin for the run.
    private func prepare(_ stage: Stage) throws {
        switch self {
        case .resumed: try stage.leavePart(each: 40_000, connections: 3)
        case .startsOver:
            try stage.leavePart(each: 40_000, connections: 3)
            stage.origin.change { $0.content = Self.newer }
            stage.origin.change { $0.etag = "\"v2\"" }
        case .overwrites: try stage.write(Self.old, to: "file")
        case .unknownSize, .tooLarge: stage.origin.hideSize()
        case .repairs:
            let outcome = try stage.run(["-q", "--keep-manifest"])
            #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
            try stage.damage("file", at: Self.damage)
        case .finishes, .finishesAndKeeps: try stage.leaveFinishedPart()
        case .batch, .smallBatch, .set:
            let list = files.map { stage.origin.url("/\($0)") + "\n" }.joined()
            try stage.write(Array(list.utf8), to: "list")
            guard self == .set else { break }
            let outcome = try Run(
                ["plan", "-i", "list", "-o", "plan"], in: stage.folder
            ).wait()
            #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        default: break
        }
    }

    static let newer = Content(size: size, seed: 2)

    /// Changes replies to be like those of other servers.
    ///
    /// Each reply sets a cookie, a stored archive has a content coding, every second range has
    /// status 200, and dates differ although the ETag does not.
    private func bend(_ request: OriginRequest, _ reply: inout OriginReply) {
        reply.set("Set-Cookie", "turn=\(request.number); Path=/")
        // The part of an earlier run was downloaded without a content coding.
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

    /// Whether the server states the size: only then it supports ranges, and segget does not decode
    /// the content coding.
    private var tellsSize: Bool { ![.unknownSize, .tooLarge].contains(self) }

    /// Performs the run and records its operations on the disk.
    func record(on stage: Stage) throws -> DiskRecord {
        if tellsSize { stage.origin.change { $0.bend = bend } }
        try prepare(stage)
        if tellsSize { stage.origin.change { $0.bend = bend } }
        let pace = pace
        stage.origin.change { offer in
            let bend = offer.bend
            offer.bend = { request, reply in
                bend(request, &reply)
                if request.method == "GET" { reply.pace = pace }
            }
        }
        let record = try DiskRecord(
            of: arguments(stage), on: stage, refusesExclusiveRename: self == .links)
        if tellsSize { stage.origin.change { $0.bend = bend } } else { stage.origin.hideSize() }
        return record
    }
}

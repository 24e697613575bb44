import Foundation
import Glibc
import TestSupport

/// A file on a disk, with the properties that matter for these tests.
struct StoredFile: Sendable, Hashable {
    var bytes: [UInt8] = []
    var mode: mode_t = 0o600
    var attributes: [String: [UInt8]] = [:]
    /// The inode number, which a manifest may record.
    var inode: UInt64 = 0

    /// Whether its bytes are these; fast in debug builds too.
    func has(_ other: [UInt8]) -> Bool {
        bytes.count == other.count && memcmp(bytes, other, other.count) == 0
    }
}

/// A folder of files.
struct StoredFolder: Sendable {
    /// The number of the file that has each name.
    var names: [String: Int] = [:]
    /// The files by number.
    var files: [Int: StoredFile] = [:]

    /// The file at a name.
    subscript(name: String) -> StoredFile? { names[name].flatMap { files[$0] } }
}

/// An operation of a process on the files of a folder.
enum DiskOperation: Sendable {
    case write(file: Int, at: Int, [UInt8])
    case truncate(file: Int, Int)
    case allocate(file: Int, Int)
    case mode(file: Int, mode_t)
    /// Sets an attribute; `nil` removes it.
    case attribute(file: Int, String, [UInt8]?)
    /// Makes all earlier operations on the file durable.
    case sync(file: Int)
    /// Changes names atomically; `nil` removes a name.
    case names([String: Int?])
    /// Makes all earlier changes of names durable, in the folder or in `.segget/` in it.
    case syncNames(in: String)

    /// The file whose content or metadata the operation changes or makes durable.
    var file: Int? {
        switch self {
        case .write(let file, _, _), .truncate(let file, _), .allocate(let file, _),
            .mode(let file, _), .attribute(let file, _, _), .sync(let file):
            file
        case .names, .syncNames: nil
        }
    }

    /// The folder whose names the operation changes: empty, or `.segget/`.
    var folder: String? {
        switch self {
        case .names(let changes):
            changes.keys.allSatisfy { $0.hasPrefix(".segget/") } ? ".segget/" : ""
        case .syncNames(let folder): folder
        default: nil
        }
    }

    /// Whether the operation writes data.
    var isData: Bool { if case .write = self { true } else { false } }
}

/// The disk operations of a run of segget.
struct DiskRecord: Sendable {
    /// The folder before the run; all of it is durable.
    var before: StoredFolder
    var operations: [DiskOperation] = []
    /// The inode number of each file, by its number here.
    var inodes: [Int: UInt64] = [:]
    /// The output and the end of the run.
    var outcome: Run.Outcome

    /// Runs segget in the folder of `stage`, with the recorder preloaded.
    ///
    /// - Parameters:
    ///   - arguments: All arguments of segget.
    ///   - stage: The folder in which it runs; all of its files count as durable.
    ///   - refusesExclusiveRename: Whether renameat2(2) fails, as on a file system without it.
    /// - Throws: An error if segget cannot run or its record cannot be read.
    init(of arguments: [String], on stage: Stage, refusesExclusiveRename: Bool = false) throws {
        let sandbox = try Sandbox("segget-record", under: "/dev/shm")
        let log = try sandbox.write("log", "")
        before = try StoredFolder(of: stage.folder)
        var environment = [
            "LD_PRELOAD": try Recorder.library(), "SEGGET_RECORD_FOLDER": stage.folder,
            "SEGGET_RECORD_LOG": log,
        ]
        if refusesExclusiveRename { environment["SEGGET_RECORD_LINKS"] = "1" }
        outcome = try Run(arguments, in: stage.folder, environment: environment).wait()
        var parser = Parser(before, Array(try sandbox.read("log")))
        try parser.run()
        operations = parser.operations
        inodes = parser.inodes
    }
}

extension StoredFolder {
    /// Reads the files of a folder.
    init(of folder: String) throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: folder).sorted() {
            let path = "\(folder)/\(name)"
            var status = stat()
            guard lstat(path, &status) == 0 else { throw SystemCallError("lstat \(path)") }
            names[name] = names.count
            files[names.count - 1] = StoredFile(
                bytes: Array(try Data(contentsOf: URL(fileURLWithPath: path))),
                mode: status.st_mode & 0o7777, inode: UInt64(status.st_ino))
        }
    }
}

/// The preloaded library, which is built once.
private enum Recorder {
    private static let built = Result { try Built() }

    static func library() throws -> String { try built.get().path }

    private final class Built: Sendable {
        let path: String
        private let sandbox: Sandbox

        init() throws {
            sandbox = try Sandbox("segget-recorder")
            path = sandbox.path("recorder.so")
            let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
                .appendingPathComponent("../../Shims/recorder.c").standardizedFileURL.path
            let outcome = try Run(
                "/usr/bin/env",
                ["cc", "-std=gnu17", "-O2", "-shared", "-fPIC", "-o", path, source, "-ldl"]
            ).wait()
            guard outcome.end == .exit(0) else { throw Unexpected(text: outcome.errorOutput) }
        }
    }
}

/// Reads the recorder's log, and finds the file of each descriptor and name.
private struct Parser {
    private enum Kind: UInt32 {
        case opened = 1
        case openedFolder, closed, duplicated, written, appended, synced, truncated, allocated
        case modeSet, attributeSet, attributeRemoved, unlinked, renamed, linked, named
    }

    private enum Target {
        case folder(String)
        case file(Int)
    }

    private var names: [String: Int]
    private var lengths: [Int: Int]
    private var open: [Int32: Target] = [:]
    private let log: [UInt8]
    private(set) var operations: [DiskOperation] = []
    private(set) var inodes: [Int: UInt64] = [:]

    init(_ before: StoredFolder, _ log: [UInt8]) {
        names = before.names
        lengths = before.files.mapValues(\.bytes.count)
        inodes = before.files.mapValues(\.inode)
        self.log = log
    }

    private func number<Value: FixedWidthInteger>(_ type: Value.Type, at offset: Int) -> Value {
        log.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: type) }
    }

    mutating func run() throws {
        var at = 0
        while at + 32 <= log.count {
            let first = at + 32
            let second = first + Int(number(UInt64.self, at: at + 16))
            let end = second + Int(number(UInt64.self, at: at + 24))
            guard let kind = Kind(rawValue: number(UInt32.self, at: at)), end <= log.count else {
                throw Unexpected(text: "the log of the disk is damaged at \(at)")
            }
            take(
                kind, number(Int32.self, at: at + 4), number(Int64.self, at: at + 8),
                Array(log[first..<second]), Array(log[second..<end]))
            at = end
        }
    }

    private mutating func take(
        _ kind: Kind, _ descriptor: Int32, _ number: Int64, _ first: [UInt8], _ second: [UInt8]
    ) {
        let name = String(decoding: first, as: UTF8.self)
        switch kind {
        case .opened: opened(descriptor, name, UInt64(number))
        case .openedFolder: open[descriptor] = .folder(name)
        case .closed: open[descriptor] = nil
        case .duplicated: open[Int32(number)] = open[descriptor]
        case .unlinked: change([name: nil])
        case .renamed:
            let to = String(decoding: second, as: UTF8.self)
            change([name: nil, to: names[name]])
        case .named:
            guard case .file(let file)? = open[descriptor] else { return }
            change([name: file])
        case .linked: change([String(decoding: second, as: UTF8.self): names[name]])
        default:
            guard let target = open[descriptor] else { return }
            switch target {
            case .folder(let folder):
                if kind == .synced { operations.append(.syncNames(in: folder)) }
            case .file(let file): took(kind, file, Int(number), first, name, second)
            }
        }
    }

    private mutating func took(
        _ kind: Kind, _ file: Int, _ number: Int, _ first: [UInt8], _ name: String,
        _ second: [UInt8]
    ) {
        let length = lengths[file] ?? 0
        switch kind {
        case .written: operations.append(.write(file: file, at: number, first))
        case .appended: operations.append(.write(file: file, at: length, first))
        case .synced: operations.append(.sync(file: file))
        case .truncated: operations.append(.truncate(file: file, number))
        case .allocated: operations.append(.allocate(file: file, number))
        case .modeSet: operations.append(.mode(file: file, mode_t(number)))
        case .attributeSet: operations.append(.attribute(file: file, name, second))
        case .attributeRemoved: operations.append(.attribute(file: file, name, nil))
        default: break
        }
        switch kind {
        case .written: lengths[file] = max(length, number + first.count)
        case .appended: lengths[file] = length + first.count
        case .truncated: lengths[file] = number
        case .allocated: lengths[file] = max(length, number)
        default: break
        }
    }

    private mutating func opened(_ descriptor: Int32, _ name: String, _ inode: UInt64) {
        if let file = names[name] {
            open[descriptor] = .file(file)
            return
        }
        let file = inodes.count
        inodes[file] = inode
        open[descriptor] = .file(file)
        if !name.isEmpty { change([name: file]) }
    }

    private mutating func change(_ changes: [String: Int?]) {
        operations.append(.names(changes))
        for (name, file) in changes { names[name] = file }
    }
}

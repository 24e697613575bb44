import Foundation
import Glibc
import TestSupport

/// One file on a disk, with all that matters of it here.
struct StoredFile: Sendable, Hashable {
    var bytes: [UInt8] = []
    var mode: mode_t = 0o600
    var attributes: [String: [UInt8]] = [:]
    /// The number that a manifest may know it by.
    var inode: UInt64 = 0

    /// Whether its bytes are these; quick in debug builds too.
    func has(_ other: [UInt8]) -> Bool {
        bytes.count == other.count && memcmp(bytes, other, other.count) == 0
    }
}

/// A folder of files: what stands at which name.
struct StoredFolder: Sendable {
    /// The file that each name leads to.
    var names: [String: Int] = [:]
    /// The files by number.
    var files: [Int: StoredFile] = [:]

    /// The file at a name.
    subscript(name: String) -> StoredFile? { names[name].flatMap { files[$0] } }
}

/// What a process did to the files of a folder, in order.
enum DiskOperation: Sendable {
    case write(file: Int, at: Int, [UInt8])
    case truncate(file: Int, Int)
    case allocate(file: Int, Int)
    case mode(file: Int, mode_t)
    /// `nil` removes it.
    case attribute(file: Int, String, [UInt8]?)
    /// All that was done to the file before is durable.
    case sync(file: Int)
    /// Names that change in one step; `nil` for one that is gone.
    case names([String: Int?])
    /// All that was done to names before is durable.
    case syncNames

    /// The file whose content or metadata it changes or makes durable.
    var file: Int? {
        switch self {
        case .write(let file, _, _), .truncate(let file, _), .allocate(let file, _),
            .mode(let file, _), .attribute(let file, _, _), .sync(let file):
            file
        case .names, .syncNames: nil
        }
    }

    /// Whether it is one of the many that bring data.
    var isData: Bool { if case .write = self { true } else { false } }
}

/// A run of segget as its disk saw it.
struct DiskRecord: Sendable {
    /// What was there before, durable.
    var before: StoredFolder
    var operations: [DiskOperation] = []
    /// Number in the kernel of each file that the run made.
    var inodes: [Int: UInt64] = [:]
    /// What the run said and how it ended.
    var outcome: ChildProcess.Outcome

    /// Runs segget in the folder of `stage`, with the recorder preloaded.
    ///
    /// - Parameters:
    ///   - arguments: All of its arguments.
    ///   - stage: Where it runs; what is there now counts as durable.
    ///   - refusesExclusiveRename: Whether renameat2(2) fails as on a file system without it.
    /// - Throws: What keeps it from being run or read.
    init(of arguments: [String], on stage: Stage, refusesExclusiveRename: Bool = false) throws {
        let sandbox = try Sandbox("segget-record", under: "/dev/shm")
        let log = try sandbox.write("log", "")
        before = try StoredFolder(of: stage.folder)
        var environment = [
            "LD_PRELOAD": try Recorder.library(), "SEGGET_RECORD_FOLDER": stage.folder,
            "SEGGET_RECORD_LOG": log,
        ]
        if refusesExclusiveRename { environment["SEGGET_RECORD_LINKS"] = "1" }
        outcome = try Segget.start(arguments, in: stage.folder, environment: environment).wait()
        var parser = Parser(before, Array(try sandbox.read("log")))
        try parser.run()
        operations = parser.operations
        inodes = parser.inodes
    }
}

extension StoredFolder {
    /// What stands in a folder now.
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

/// The library that is preloaded, built once.
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
            let outcome = try ChildProcess(
                "/usr/bin/env",
                ["cc", "-std=gnu17", "-O2", "-shared", "-fPIC", "-o", path, source, "-ldl"]
            ).wait()
            guard outcome.end == .exit(0) else { throw Unexpected(text: outcome.errorOutput) }
        }
    }
}

/// Reads the recorder's log: which file each descriptor and name stood for.
private struct Parser {
    private enum Kind: UInt32 {
        case opened = 1
        case openedFolder, closed, duplicated, written, appended, synced, truncated, allocated
        case modeSet, attributeSet, attributeRemoved, unlinked, renamed, linked, named
    }

    private enum Target {
        case folder
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
        case .openedFolder: open[descriptor] = .folder
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
            guard case .file(let file) = target else {
                if kind == .synced { operations.append(.syncNames) }
                return
            }
            took(kind, file, Int(number), first, name, second)
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

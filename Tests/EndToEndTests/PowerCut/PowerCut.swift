@testable import Assembler
import CLinux
import Foundation
import Glibc
import TestSupport

/// The effect of a power cut on operations that were not durable yet.
///
/// As in CrashMonkey and ALICE: an fsync of a file makes the earlier operations on its content
/// durable, and an fsync of the folder those on its names. Any combination of the other operations
/// may be on the disk, writes also in part.
enum PowerCut: Sendable, Hashable {
    /// All operations that were not durable are lost.
    case losesAll
    /// All operations reached the disk.
    case losesNothing
    /// Only names reached the disk.
    case keepsNames
    /// Only content reached the disk.
    case keepsContent
    /// All names reached the disk, but only the content of manifests.
    case keepsManifests
    /// All names reached the disk, and all content except that of manifests.
    case keepsData
    /// Each operation is kept at random, and of a write any of its sectors.
    case random(UInt64)

    static let plain: [PowerCut] = [
        .losesAll, .losesNothing, .keepsNames, .keepsContent, .keepsManifests, .keepsData,
    ]
}

extension DiskRecord {
    /// Returns the folder after a power cut that follows the first `count` operations.
    func folder(after count: Int, _ cut: PowerCut) -> StoredFolder {
        var result = CrashedFolder(before)
        let done = operations[..<count]
        var durable: [Int: Int] = [:]
        var names: [String: Int] = [:]
        var manifests: Set<Int> = []
        for (index, operation) in done.enumerated() {
            switch operation {
            case .sync(let file): durable[file] = index
            case .syncNames(let folder): names[folder] = index
            case .names(let changes):
                for (name, file) in changes where name.contains(".segget") {
                    if let file { manifests.insert(file) }
                }
            default: break
            }
        }
        var chance = SplitMix64(seed: 0)
        if case .random(let seed) = cut { chance = SplitMix64(seed: seed) }
        for (index, operation) in done.enumerated() {
            let last =
                operation.file.map { durable[$0] } ?? operation.folder.flatMap { names[$0] }
            let isDurable = index < last ?? -1
            var isKept: Bool
            switch (cut, operation) {
            case _ where isDurable: isKept = true
            case (.losesAll, _): isKept = false
            case (.losesNothing, _): isKept = true
            case (.keepsNames, .names), (.keepsManifests, .names), (.keepsData, .names):
                isKept = true
            case (.keepsNames, _), (.keepsContent, .names): isKept = false
            case (.keepsContent, _): isKept = true
            case (.keepsManifests, _): isKept = manifests.contains(operation.file ?? -1)
            case (.keepsData, _): isKept = !manifests.contains(operation.file ?? -1)
            case (.random, _):
                result.applyInPart(operation, &chance)
                continue
            }
            if isKept { result.apply(operation) }
        }
        return result.folder(inodes)
    }
}

/// A folder to which each operation is applied in order, or not at all.
private struct CrashedFolder {
    private var names: [String: Int]
    private var files: [Int: StoredFile]

    init(_ before: StoredFolder) {
        names = before.names
        files = before.files
    }

    func folder(_ inodes: [Int: UInt64]) -> StoredFolder {
        var result = StoredFolder(names: names)
        for file in Set(names.values) {
            var stored = files[file] ?? StoredFile()
            stored.inode = inodes[file] ?? 0
            result.files[file] = stored
        }
        return result
    }

    mutating func apply(_ operation: DiskOperation) {
        switch operation {
        case .write(let file, let offset, let bytes):
            put(bytes[...], at: offset, in: file)
        case .truncate(let file, let length):
            let excess = files[file, default: .init()].bytes.count - length
            if excess > 0 {
                files[file]?.bytes.removeLast(excess)
            } else {
                extend(file, to: length)
            }
        case .allocate(let file, let length): extend(file, to: length)
        case .mode(let file, let mode): files[file, default: .init()].mode = mode
        case .attribute(let file, let name, let value):
            files[file, default: .init()].attributes[name] = value
        case .names(let changes): for (name, file) in changes { names[name] = file }
        case .sync, .syncNames: break
        }
    }

    /// Applies an operation in whole, in part or not at all, at random.
    mutating func applyInPart(_ operation: DiskOperation, _ random: inout SplitMix64) {
        switch (operation, Int.random(in: 0..<10, using: &random)) {
        case (_, 0..<4): apply(operation)
        case (.names(let changes), 4) where changes.count == 2:
            // The new name of a rename was written, but the old one was not removed.
            for (name, file) in changes where file != nil { names[name] = file }
        case (.write(let file, let offset, let bytes), 4..<7):
            // Some sectors are written. The length includes all of them; the others keep their
            // content, or are zeros or garbage.
            let isGarbage = Int.random(in: 0..<4, using: &random) == 0
            // Long writes have larger pieces, which is faster in debug builds.
            let piece = 512 * max(1, bytes.count >> 15)
            var at = 0
            while at < bytes.count {
                let end = min(bytes.count, (offset + at) / piece * piece + piece - offset)
                if Bool.random(using: &random) {
                    put(bytes[at..<end], at: offset + at, in: file)
                } else if isGarbage {
                    let stale = UInt8.random(in: 1...255, using: &random)
                    put([UInt8](repeating: stale, count: end - at)[...], at: offset + at, in: file)
                } else {
                    extend(file, to: offset + end)
                }
                at = end
            }
        case (.write(let file, let offset, let bytes), 7): extend(file, to: offset + bytes.count)
        default: break
        }
    }

    private mutating func extend(_ file: Int, to length: Int) {
        let missing = length - files[file, default: .init()].bytes.count
        guard missing > 0 else { return }
        files[file, default: .init()].bytes += [UInt8](repeating: 0, count: missing)
    }

    private mutating func put(_ bytes: ArraySlice<UInt8>, at offset: Int, in file: Int) {
        extend(file, to: offset + bytes.count)
        bytes.withUnsafeBytes { source in
            files[file]?.bytes.withUnsafeMutableBytes { target in
                guard let base = target.baseAddress, let from = source.baseAddress else { return }
                memcpy(base + offset, from, source.count)
            }
        }
    }
}

// MARK: - Onto a real disk

extension StoredFolder {
    /// Writes all files into an empty folder.
    ///
    /// Files have other inode numbers there. So the manifests receive the new numbers, because a
    /// remounted disk would have kept the old ones. The device number may change when a machine
    /// restarts.
    func write(to folder: String, keepsDevice: Bool) throws {
        var inodes: [UInt64: stat] = [:]
        var paths: [Int: String] = [:]
        let isManifest = { (name: String) in name.contains(".segget") }
        for (name, number) in names.sorted(by: { !isManifest($0.key) && isManifest($1.key) }) {
            let path = "\(folder)/\(name)"
            if name.hasPrefix(".segget/") {
                try FileManager.default.createDirectory(
                    atPath: "\(folder)/.segget", withIntermediateDirectories: true)
            }
            if let other = paths[number] {
                guard link(other, path) == 0 else { throw SystemCallError("link \(path)") }
                continue
            }
            paths[number] = path
            guard let file = files[number] else { continue }
            let bytes =
                isManifest(name)
                ? Self.manifest(file.bytes, inodes, keepsDevice: keepsDevice) : file.bytes
            try Self.write(bytes, file, to: path)
            var status = stat()
            guard lstat(path, &status) == 0 else { throw SystemCallError("lstat \(path)") }
            inodes[file.inode] = status
        }
    }

    private static func write(_ bytes: [UInt8], _ file: StoredFile, to path: String) throws {
        let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw SystemCallError("open \(path)") }
        defer { close(descriptor) }
        var done = 0
        while done < bytes.count {
            let count = bytes[done...].withUnsafeBytes {
                Glibc.write(descriptor, $0.baseAddress, $0.count)
            }
            guard count > 0 else { throw SystemCallError("write \(path)") }
            done += count
        }
        for (name, value) in file.attributes {
            guard segget_set_attribute(descriptor, name, value, value.count) == 0 else {
                throw SystemCallError("fsetxattr \(path)")
            }
        }
        guard fchmod(descriptor, file.mode) == 0 else { throw SystemCallError("fchmod \(path)") }
    }

    /// Returns a manifest whose `publishing` record has the inode number of the written file.
    private static func manifest(
        _ bytes: [UInt8], _ inodes: [UInt64: stat], keepsDevice: Bool
    ) -> [UInt8] {
        let newline = UInt8(ascii: "\n")
        let lines = bytes.split(separator: newline, omittingEmptySubsequences: false)
        guard let manifest = try? Manifest(reading: bytes), let publishing = manifest.publishing,
            let status = inodes[publishing.inode]
        else { return bytes }
        let seed = Manifest.seed(generation: manifest.header.generation)
        let identity = FileIdentity(
            device: UInt64(status.st_dev) + (keepsDevice ? 0 : 1), inode: UInt64(status.st_ino))
        return Array(
            lines.map { line -> [UInt8] in
                guard String(decoding: line, as: UTF8.self).contains("\"publishing\":") else {
                    return Array(line)
                }
                let record = Manifest.Record(publishing: identity, digests: manifest.digests)
                return SealedLine.of(record, seed: seed).dropLast()
            }.joined(separator: [newline]))
    }
}

import Assembler
import CLinux
import Glibc
public import SegmenterValues

/// A plan on disk: the files of a data set, in the format of `docs/plan.md`.
///
/// The file stays open, and its entries are read when they are needed. Per entry, memory holds the
/// place of its line, and hashes of its path and version. May be used from any thread; blocks on
/// the disk.
public final class PlanFile: Sendable {
    /// The path, as given.
    public let path: String
    /// The source of the files.
    public let source: Listing.Source
    /// The name of the set: 16 hexadecimal digits that are the same for each plan of its source.
    public let set: String
    /// The sum of all sizes in bytes; `nil` if one is unknown.
    public let size: Int64?
    /// Whether an address is a signed link.
    public let isSigned: Bool
    private let descriptor: Int32
    private let seed: UInt32
    private let lines: [Entry]

    /// The facts about a file that memory holds.
    private struct Entry {
        /// The offset of the line.
        var start: Int64
        /// The number of the line, from 1.
        var number: UInt32
        /// The size in KiB, rounded up; `max` if it is unknown.
        var size: UInt32
        /// The checksum of the line.
        var checksum: UInt32
        /// The index of the file whose path has the hash that is next in order.
        var inOrder: UInt32 = 0
        /// The hash of the path.
        var path: Int
        /// The hash of the version.
        var version: UInt64
    }

    /// The number of files.
    public var count: Int { lines.count }

    /// Opens a plan, and checks all of its lines.
    ///
    /// Two lines with one path are one file if a digest of both is the same.
    ///
    /// - Parameters:
    ///   - path: The path of the plan.
    ///   - foldsCase: Whether names that differ only in case are the same.
    /// - Throws: `PlanError`.
    public convenience init(_ path: String, foldsCase: Bool = false) throws(PlanError) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw PlanError(.unreadable(errno: errno)) }
        try self.init(descriptor, path, foldsCase: foldsCase)
    }

    /// Makes the plan of a listing, in memory.
    ///
    /// - Parameters:
    ///   - listing: The listing. ``path`` is the address of its source.
    ///   - foldsCase: Whether names that differ only in case are the same.
    /// - Throws: `PlanError`.
    public convenience init(_ listing: Listing, foldsCase: Bool = false) throws(PlanError) {
        try listing.check()
        let descriptor = segget_memory_file("segget-plan")
        guard descriptor >= 0 else { throw PlanError(.unwritable(errno: errno)) }
        do throws(PlanError) {
            try listing.write(to: descriptor)
        } catch {
            close(descriptor)
            throw error
        }
        try self.init(descriptor, listing.source.address ?? "", foldsCase: foldsCase)
    }

    /// Reads a plan from an open file, which is closed with this object, or after an error.
    private init(_ descriptor: Int32, _ path: String, foldsCase: Bool) throws(PlanError) {
        do throws(PlanError) {
            var lines = FileLines(descriptor, longest: PlanFormat.longestLine)
            guard let first = try Self.next(&lines, number: 1) else {
                throw PlanError(.notAPlan, line: 1)
            }
            let head = try PlanFormat.head(first.bytes)
            let seed = PlanFormat.seed(set: head.set)
            var paths = PlanPaths(foldsCase: foldsCase)
            var entries: [Entry] = []
            var sum: Int64? = 0
            while let line = try Self.next(&lines, number: entries.count + 2) {
                let number = entries.count + 2
                let file = try PlanFormat.file(line.bytes, seed: seed, number: number)
                paths.add(file.path)
                entries.append(
                    Entry(
                        start: line.start, number: UInt32(truncatingIfNeeded: number),
                        size: Self.rough(file.size),
                        checksum: SealedLine.checksum(of: line.bytes[...], seed: seed) ?? 0,
                        path: file.path.hashValue, version: file.version))
                sum = sum.flatMap { sum in
                    file.size.flatMap { size in
                        let (sum, isTooLarge) = sum.addingReportingOverflow(size)
                        return isTooLarge ? nil : sum
                    }
                }
            }
            let count = entries.count
            guard count == head.files else {
                throw PlanError(.cut(expected: head.files, got: count))
            }
            guard sum == head.size else { throw PlanError(.badSize, line: 1) }
            let repeated = try paths.check { (index) throws(PlanError) in
                try Self.file(entries[index], of: descriptor, seed: seed)
            }
            if !repeated.isEmpty {
                var number = 0
                entries.removeAll { _ in
                    defer { number += 1 }
                    return repeated.contains(number)
                }
            }
            let order = entries.indices.sorted { entries[$0].path < entries[$1].path }
            for (place, index) in order.enumerated() {
                entries[place].inOrder = UInt32(truncatingIfNeeded: index)
            }
            self.lines = entries
            (self.path, self.descriptor, self.seed) = (path, descriptor, seed)
            source = Listing.Source(
                head.source.kind, address: head.source.address, pin: head.source.pin)
            (set, size, isSigned) = (head.set, head.size, head.signed ?? false)
        } catch {
            close(descriptor)
            throw error
        }
    }

    deinit { close(descriptor) }

    /// The folder of the set, if this plan is the copy in it.
    package var ownFolder: String? {
        let records = FileTarget(path: path).folder
        guard FileTarget(path: records).name == PlanFormat.recordFolder else { return nil }
        return FileTarget(path: records).folder
    }

    /// Returns the file at an index, from 0.
    ///
    /// - Throws: `PlanError`, if the plan can no longer be read, or was altered meanwhile.
    public func file(at index: Int) throws(PlanError) -> Listing.File {
        try Self.file(lines[index], of: descriptor, seed: seed)
    }

    /// Returns the index of the file with a path; `nil` if the set has none.
    func index(of path: String) -> Int? {
        let hash = path.hashValue
        var (low, high) = (0, lines.count)
        while low < high {
            let middle = (low + high) / 2
            if lines[Int(lines[middle].inOrder)].path < hash {
                low = middle + 1
            } else {
                high = middle
            }
        }
        while low < lines.count, lines[Int(lines[low].inOrder)].path == hash {
            let index = Int(lines[low].inOrder)
            // Only paths with one hash must be compared, as the hash of a path that the set does
            // not have hardly ever is that of another one.
            let isAlone =
                low + 1 == lines.count || lines[Int(lines[low + 1].inOrder)].path != hash
            if isAlone || (try? file(at: index).path) == path { return index }
            low += 1
        }
        return nil
    }

    /// The version of the file at an index, as a hash of what the plan states about it.
    func version(at index: Int) -> UInt64 { lines[index].version }

    /// Writes a copy of the plan, with the same permissions as `segget plan -o` sets.
    ///
    /// - Throws: `AssemblyError.cannotCreate`, `io`.
    func copy(to name: String, in folder: Folder) throws(AssemblyError) {
        try folder.write(name, mode: isSigned ? 0o600 : 0o666 & ~processUmask()) { copied in
            var (offset, buffer) = (off_t(0), [UInt8](repeating: 0, count: 256 << 10))
            while true {
                let count = pread(descriptor, &buffer, buffer.count, offset)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return count == 0 ? 0 : errno }
                let code = writeFully(copied, Array(buffer[..<count]))
                guard code == 0 else { return code }
                offset += off_t(count)
            }
        }
    }

    /// Returns the size of the file at an index in bytes, rounded up to 1 KiB, without reading the
    /// plan; `nil` if it is unknown.
    package func roughSize(at index: Int) -> Int64? {
        let size = lines[index].size
        return size == .max ? nil : Int64(size) << 10
    }

    /// Returns a size in KiB, rounded up; `max` if it is unknown.
    private static func rough(_ size: Int64?) -> UInt32 {
        guard let size else { return .max }
        let rounded = (size >> 10) + (size & 1023 > 0 ? 1 : 0)
        return UInt32(min(rounded, Int64(UInt32.max) - 1))
    }

    private static func file(
        _ entry: Entry, of descriptor: Int32, seed: UInt32
    ) throws(PlanError) -> Listing.File {
        let number = Int(entry.number)
        var lines = FileLines(
            descriptor, from: entry.start, chunk: 4 << 10, longest: PlanFormat.longestLine)
        guard let line = try next(&lines, number: number),
            let file = PlanFormat.file(again: line.bytes, checksum: entry.checksum, seed: seed)
        else { throw PlanError(.altered, line: number) }
        return file
    }

    private static func next(
        _ lines: inout FileLines, number: Int
    ) throws(PlanError) -> FileLines.Line? {
        do throws(FileLines.Failure) {
            return try lines.next()
        } catch {
            switch error {
            case .unreadable(let code): throw PlanError(.unreadable(errno: code))
            case .badLine: throw PlanError(number == 1 ? .notAPlan : .altered, line: number)
            }
        }
    }
}

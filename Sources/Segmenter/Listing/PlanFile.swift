import Assembler
import Glibc
public import SegmenterValues

/// A plan on disk: the files of a data set, in the format of `docs/plan.md`.
///
/// The file stays open, and its entries are read when they are needed. Per entry, memory holds only
/// the place of its line. May be used from any thread; blocks on the disk.
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
    /// The lines of files: their offsets, and their numbers from 1.
    private let lines: [(start: Int64, number: UInt32)]

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
    public init(_ path: String, foldsCase: Bool = false) throws(PlanError) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw PlanError(.unreadable(errno: errno)) }
        do throws(PlanError) {
            var lines = PlanLines(descriptor)
            guard let first = try lines.next() else { throw PlanError(.notAPlan, line: 1) }
            let head = try PlanFormat.head(first.bytes)
            let seed = PlanFormat.seed(set: head.set)
            var paths = PlanPaths(foldsCase: foldsCase)
            var starts: [Int64] = []
            var sum: Int64? = 0
            while let line = try lines.next() {
                let file = try PlanFormat.file(line.bytes, seed: seed, number: starts.count + 2)
                paths.add(file.path)
                starts.append(line.start)
                sum = sum.flatMap { sum in
                    file.size.flatMap { size in
                        let (sum, isTooLarge) = sum.addingReportingOverflow(size)
                        return isTooLarge ? nil : sum
                    }
                }
            }
            guard starts.count == head.files else {
                throw PlanError(.cut(expected: head.files, got: starts.count))
            }
            guard sum == head.size else { throw PlanError(.badSize, line: 1) }
            let repeated = try paths.check { (index) throws(PlanError) in
                try Self.file(
                    at: starts[index], of: descriptor, seed: seed, number: index + 2)
            }
            self.lines = starts.indices.lazy.filter { !repeated.contains($0) }.map {
                (starts[$0], UInt32(truncatingIfNeeded: $0 + 2))
            }
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

    /// Returns the file at an index, from 0.
    ///
    /// - Throws: `PlanError`, if the plan can no longer be read, or was altered meanwhile.
    public func file(at index: Int) throws(PlanError) -> Listing.File {
        let line = lines[index]
        return try Self.file(
            at: line.start, of: descriptor, seed: seed, number: Int(line.number))
    }

    private static func file(
        at start: Int64, of descriptor: Int32, seed: UInt32, number: Int
    ) throws(PlanError) -> Listing.File {
        var lines = PlanLines(descriptor, from: start, chunk: 4 << 10)
        guard let line = try lines.next() else { throw PlanError(.altered, line: number) }
        return try PlanFormat.file(line.bytes, seed: seed, number: number)
    }
}

/// Reads a file line by line.
private struct PlanLines {
    private let descriptor: Int32
    private let chunk: Int
    /// The bytes that were read and not returned yet; the first has this offset in the file.
    private var buffer: [UInt8] = []
    private var used = 0
    private var offset: Int64
    private var number = 0

    init(_ descriptor: Int32, from offset: Int64 = 0, chunk: Int = 256 << 10) {
        (self.descriptor, self.offset, self.chunk) = (descriptor, offset, chunk)
    }

    /// Returns the next line without its line feed, and its offset; `nil` at the end of the file.
    ///
    /// - Throws: `unreadable`; `altered` if the line is too long or has no line feed.
    mutating func next() throws(PlanError) -> (bytes: [UInt8], start: Int64)? {
        number += 1
        var searched = used
        while true {
            if let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) {
                let start = offset + Int64(used)
                let bytes = Array(buffer[used..<end])
                used = end + 1
                return (bytes, start)
            }
            searched = buffer.count - used
            offset += Int64(used)
            buffer.removeFirst(used)
            used = 0
            guard buffer.count <= PlanFormat.longestLine else {
                throw PlanError(number == 1 ? .notAPlan : .altered, line: number)
            }
            guard try fill() else {
                guard !buffer.isEmpty else { return nil }
                throw PlanError(number == 1 ? .notAPlan : .altered, line: number)
            }
        }
    }

    /// Reads more bytes; returns `false` at the end of the file.
    private mutating func fill() throws(PlanError) -> Bool {
        let start = buffer.count
        buffer.append(contentsOf: repeatElement(0, count: chunk))
        let place = off_t(offset) + start
        while true {
            let count = buffer.withUnsafeMutableBytes { [descriptor, chunk] bytes in
                pread(descriptor, bytes.baseAddress.map { $0 + start }, chunk, place)
            }
            if count < 0, errno == EINTR { continue }
            buffer.removeLast(chunk - max(0, count))
            guard count >= 0 else { throw PlanError(.unreadable(errno: errno)) }
            return count > 0
        }
    }
}

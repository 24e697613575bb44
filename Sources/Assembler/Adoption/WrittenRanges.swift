import CLinux
import Glibc

/// What has been written of an open file, as far as holes and zeros show.
package struct WrittenRanges {
    let descriptor: Int32
    /// Length of the file in bytes.
    let size: Int64

    /// Blocks of file systems, in bytes: what surrounds a write is filled up with zeros to one.
    private static let block = 4096

    /// What is in no hole; all of it where the file system does not say.
    private var data: RangeSet {
        var data = RangeSet()
        var position: Int64 = 0
        while position < size {
            let start = Int64(segget_next_data(descriptor, off_t(position)))
            guard start >= 0 else {
                if errno != ENXIO { data.insert(ByteRange(position, size)) }
                break
            }
            let hole = Int64(segget_next_hole(descriptor, off_t(start)))
            let end = hole > start ? min(hole, size) : size
            data.insert(ByteRange(start, end))
            position = end
        }
        return data
    }

    /// What of the bytes that are said to be written is in no hole: a power cut may have left one.
    func within(_ done: RangeSet) -> RangeSet {
        var there = done
        for hole in data.gaps(in: ByteRange(0, size)).ranges { there.remove(hole) }
        return there
    }

    /// What has been written, by a program that does not say so.
    ///
    /// That is all from the beginning on, unless the file has holes or its full length: then it was written
    /// at several places, or its space was provided for, and blocks of zeros count for nothing, nor do the
    /// zeros before and behind them.
    ///
    /// - Parameters:
    ///   - isOfFullLength: Whether the file is as long as it is to be.
    ///   - isCancelled: Asked again and again while the data is read.
    /// - Returns: `nil` after cancelling.
    func found(isOfFullLength: Bool, _ isCancelled: () -> Bool) -> RangeSet? {
        let data = data
        guard isOfFullLength || data.front < size else { return data }
        var there = RangeSet()
        for region in data.ranges {
            guard let runs = runs(in: region, isCancelled) else { return nil }
            for run in runs {
                // What ends with the file was the last thing to be written, unless that is complete.
                let mayEndInZeros = run.end == size && !isOfFullLength
                there.insert(
                    trimmed(run, atStart: run.start > 0, atEnd: !mayEndInZeros))
            }
        }
        return there
    }

    /// What of a file is in holes, or in blocks of zeros: bytes that perhaps nobody has written yet.
    ///
    /// Reads it all; blocks.
    ///
    /// - Parameters:
    ///   - target: The file.
    ///   - isCancelled: Asked again and again while the data is read.
    /// - Returns: `nil` after cancelling.
    /// - Throws: `folderUnavailable`, `cannotCreate`, `io`.
    package static func blanks(
        of target: FileTarget, isCancelled: () -> Bool
    ) throws(AssemblyError) -> RangeSet? {
        let folder = try Folder(target.folder)
        guard let descriptor = folder.open(target.name, O_RDONLY) else {
            throw .cannotCreate(path: target.path, errno: errno)
        }
        defer { close(descriptor) }
        let size = try FileStatus(of: descriptor, target.path).size
        let written = WrittenRanges(descriptor: descriptor, size: size)
        return written.found(isOfFullLength: true, isCancelled)
            .map { $0.gaps(in: ByteRange(0, size)) }
    }

    /// The runs of blocks that are not all zeros; what cannot be read counts as zeros.
    ///
    /// - Returns: `nil` after cancelling.
    private func runs(in region: ByteRange, _ isCancelled: () -> Bool) -> [ByteRange]? {
        let buffer = ReadBuffer()
        var runs = RangeSet()
        var position = region.start
        while position < region.end {
            guard !isCancelled() else { return nil }
            guard let bytes = buffer.read(descriptor, from: position, to: region.end) else {
                break
            }
            for start in stride(from: 0, to: bytes.count, by: Self.block) {
                let end = min(start + Self.block, bytes.count)
                guard !Self.areZeros(UnsafeRawBufferPointer(rebasing: bytes[start..<end])) else {
                    continue
                }
                runs.insert(ByteRange(position + Int64(start), position + Int64(end)))
            }
            position += Int64(bytes.count)
        }
        return runs.ranges
    }

    /// A run without the zeros at its ends, which are shorter than a block.
    private func trimmed(_ run: ByteRange, atStart: Bool, atEnd: Bool) -> ByteRange {
        var (start, end) = (run.start, run.end)
        let length = Int64(Self.block)
        let buffer = ReadBuffer()
        if atStart,
            let bytes = buffer.read(
                descriptor, from: run.start, to: min(run.end, run.start + length)),
            let first = bytes.firstIndex(where: { $0 != 0 })
        {
            start += Int64(first)
        }
        let last = max(start, run.end - length)
        if atEnd, let bytes = buffer.read(descriptor, from: last, to: run.end),
            let index = bytes.lastIndex(where: { $0 != 0 })
        {
            end = last + Int64(index) + 1
        }
        return ByteRange(start, end)
    }

    private static func areZeros(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let base = bytes.baseAddress, bytes.first == 0 else { return bytes.isEmpty }
        // Each byte is the one before it.
        return memcmp(base, base + 1, bytes.count - 1) == 0
    }
}

import CLinux
import Glibc

/// The written ranges of an open file, as far as holes and zeros show them.
package struct WrittenRanges {
    let descriptor: Int32
    /// The length of the file in bytes.
    let size: Int64

    /// The block size of file systems in bytes; a partly written block is padded with zeros.
    private static let block = 4096

    /// The ranges outside holes; the whole file if the file system does not report holes.
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

    /// Returns the part of `done` outside holes, which a power cut may leave in written data.
    func within(_ done: RangeSet) -> RangeSet {
        var there = done
        for hole in data.gaps(in: ByteRange(0, size)).ranges { there.remove(hole) }
        return there
    }

    /// Returns the written ranges of a file without a control file.
    ///
    /// Normally, this is the whole file. If the file has holes or its full length, the program
    /// wrote at several offsets or preallocated the space. Blocks of zeros and the zeros next to
    /// them then count as not written.
    ///
    /// - Parameters:
    ///   - isOfFullLength: Whether the file is as long as the remote file.
    ///   - isCancelled: Called repeatedly while the data is read.
    /// - Returns: The ranges; `nil` after cancellation.
    func found(isOfFullLength: Bool, _ isCancelled: () -> Bool) -> RangeSet? {
        let data = data
        guard isOfFullLength || data.front < size else { return data }
        var there = RangeSet()
        for region in data.ranges {
            guard let runs = runs(in: region, isCancelled) else { return nil }
            for run in runs {
                // The last run of a shorter file was written last, so its final zeros are data.
                let mayEndInZeros = run.end == size && !isOfFullLength
                there.insert(
                    trimmed(run, atStart: run.start > 0, atEnd: !mayEndInZeros))
            }
        }
        return there
    }

    /// Returns the ranges of a file in holes or blocks of zeros, which may not be written yet.
    ///
    /// Reads the whole file; blocks.
    ///
    /// - Parameters:
    ///   - target: The folder and name of the file.
    ///   - isCancelled: Called repeatedly while the data is read.
    /// - Returns: The ranges; `nil` after cancellation.
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

    /// Returns the runs of blocks that are not all zeros; unreadable blocks count as zeros.
    ///
    /// - Returns: The runs; `nil` after cancellation.
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

    /// Returns a run without the zeros at its start or end, which are shorter than a block.
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
        // Compares each byte with the previous one.
        return memcmp(base, base + 1, bytes.count - 1) == 0
    }
}

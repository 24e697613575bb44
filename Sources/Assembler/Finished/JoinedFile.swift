import Glibc

/// A file that is put together from ranges in other files.
package struct JoinedFile: Sendable {
    /// A range of the file, and the file that has its bytes.
    package struct Piece: Sendable, Hashable {
        /// The bytes of the joined file.
        package var range: ByteRange
        /// The path of the file that has these bytes, and nothing else.
        package var path: String
        /// The CRC-32 of the bytes; `nil` if it is not known.
        package var crc32: UInt32?

        package init(_ range: ByteRange, path: String, crc32: UInt32?) {
            (self.range, self.path, self.crc32) = (range, path, crc32)
        }
    }

    /// Whether and how the content is wrong.
    package enum Check: Sendable, Hashable {
        /// It is right. Carries its CRC-32.
        case right(crc32: UInt32)
        /// These pieces do not have their bytes, or cannot be read.
        case wrongPieces([Piece])
        /// All pieces are as recorded, but the whole file does not have the expected digest.
        case wrongDigest
    }

    /// Copies all pieces to a new file, and reads that once.
    ///
    /// Blocks are shared with the sources if the file system can do that. No other process has the new
    /// file, so what was read is what will be published.
    ///
    /// - Parameters:
    ///   - pieces: The pieces, adjacent and in order.
    ///   - name: The name of the new file, which must be free.
    ///   - folder: The folder of the new file.
    ///   - expected: The digest that the file must have; `nil` for none.
    /// - Returns: Whether the content is right; if not, the new file is removed.
    /// - Throws: `cannotCreate`, `io`, `noSpace`. The new file is removed then.
    package static func make(
        _ pieces: [Piece], as name: String, in folder: Folder, expected: Digest?
    ) throws(AssemblyError) -> Check {
        guard let file = folder.open(name, O_RDWR | O_CREAT | O_EXCL) else {
            throw .cannotCreate(path: folder.path(of: name), errno: errno)
        }
        defer { close(file) }
        do throws(AssemblyError) {
            let check = try fill(file, pieces, folder.path(of: name), expected)
            guard case .right = check else {
                try folder.remove(name)
                return check
            }
            fchmod(file, 0o666 & ~processUmask())
            guard fsync(file) == 0 || isUnsupported(errno: errno) else {
                throw .io(operation: "fsync", path: folder.path(of: name), errno: errno)
            }
            return check
        } catch {
            try? folder.remove(name)
            throw error
        }
    }

    private static func fill(
        _ file: Int32, _ pieces: [Piece], _ path: String, _ expected: Digest?
    ) throws(AssemblyError) -> Check {
        var wrong: [Piece] = []
        for piece in pieces {
            let source = Glibc.open(piece.path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
            guard source >= 0 else {
                wrong.append(piece)
                continue
            }
            defer { close(source) }
            guard FileStatus(of: source)?.size == piece.range.count else {
                wrong.append(piece)
                continue
            }
            let copy = FileCopy(
                source: source, sourcePath: piece.path, target: file, targetPath: path,
                shift: piece.range.start)
            _ = try copy(ByteRange(0, piece.range.count))
        }
        guard wrong.isEmpty else { return .wrongPieces(wrong) }
        let size = pieces.last?.range.end ?? 0
        let extents = pieces.compactMap { piece in
            piece.crc32.map { Extent(piece.range, crc: $0) }
        }
        let algorithms = Set([expected?.algorithm, .crc32].compactMap(\.self))
        let check = ContentCheck.run(file, size: size, extents: extents, algorithms: algorithms)
        let damaged = Set(check?.damaged.map(\.range) ?? [])
        guard damaged.isEmpty else {
            return .wrongPieces(pieces.filter { damaged.contains($0.range) })
        }
        guard let check, let crc = check.digests.first(of: .crc32) else {
            throw .io(operation: "read", path: path, errno: EIO)
        }
        guard expected.map(check.digests.contains) ?? true else { return .wrongDigest }
        return .right(crc32: crc.crc32)
    }
}

import FoundationEssentials
import Glibc

/// What checking a file on the disk found out; nothing is changed and nothing locked.
public struct FileVerification: Sendable, Hashable {
    /// Where an expectation comes from.
    #if hasAttribute(nonexhaustive)
        @nonexhaustive
    #endif
    public enum Source: String, Sendable, Hashable {
        /// The caller gave it.
        case argument
        /// A file of checksums.
        case sums
        /// The kept manifest.
        case manifest
        /// The extended attributes.
        case attributes
    }

    /// A digest of the whole file that was compared.
    public struct Comparison: Sendable, Hashable {
        /// Where the expectation comes from.
        public var source: Source
        /// What the digest should be.
        public var expected: Digest
        /// What it is; `nil` when it could not be computed, as for an incomplete file.
        public var actual: Digest?

        package init(source: Source, expected: Digest, actual: Digest?) {
            self.source = source
            self.expected = expected
            self.actual = actual
        }

        /// Whether they are the same.
        public var matches: Bool { expected == actual }
    }

    /// Path of what was checked: the file, or its part.
    public var path: String
    /// Whether it is the part of a download that is not finished.
    public var isPart: Bool
    /// Whether a download is writing to it at this moment.
    public var isInUse: Bool
    /// Its length in bytes, or of a part, what of it has arrived.
    public var size: Int64
    /// The length that it should have in bytes; `nil` when that is not known.
    public var expectedSize: Int64?
    /// Bytes that a manifest has checksums for.
    public var bytesRecorded: Int64
    /// Bytes whose checksums are wrong, or that cannot be read; neighbours are merged.
    public var damaged: RangeSet
    /// Bytes that no extent of the manifest covers; empty without a manifest.
    public var missing: RangeSet
    /// The digests that were compared.
    public var digests: [Comparison]

    /// Whether the whole file is there.
    public var isComplete: Bool {
        missing.isEmpty && (expectedSize ?? size) == size
    }

    /// Whether everything that was checked is as it should be; of a part, as far as it goes.
    public var isGood: Bool {
        damaged.isEmpty && digests.allSatisfy(\.matches) && (isPart || isComplete)
    }

    /// Why there is nothing to report.
    #if hasAttribute(nonexhaustive)
        @nonexhaustive
    #endif
    public enum Failure: Error, Sendable, Hashable {
        /// There is no such file, and no part of one.
        case noFile(path: String)
        /// Nothing says what the content should be.
        case nothingToCheckAgainst(path: String)
        /// The file of checksums cannot be opened or read.
        case sumsUnavailable(path: String, errno: Int32)
        /// The file of checksums does not help.
        case sums(path: String, ChecksumFile.Problem)
        /// The disk failed, or something other than a file stands there.
        case assembly(AssemblyError)
    }

    /// Puts together what was found out.
    package init(
        path: String, isPart: Bool, isInUse: Bool, size: Int64, expectedSize: Int64?,
        bytesRecorded: Int64, damaged: RangeSet, missing: RangeSet, digests: [Comparison]
    ) {
        self.path = path
        self.isPart = isPart
        self.isInUse = isInUse
        self.size = size
        self.expectedSize = expectedSize
        self.bytesRecorded = bytesRecorded
        self.damaged = damaged
        self.missing = missing
        self.digests = digests
    }

    /// Checks a file, or the part of one, against all that is known of it.
    ///
    /// Reads it once. Blocks on the disk.
    ///
    /// - Parameters:
    ///   - path: The file. Where there is none, `PATH.part` is checked.
    ///   - checksum: The digest that it should have.
    ///   - sums: A file of checksums, such as `SHA256SUMS`, with a line for it.
    ///   - progress: Told again and again how many bytes have been read, of how many.
    /// - Throws: `Failure`.
    public init(
        of path: String, checksum: Digest? = nil, sums: String? = nil,
        progress: (_ done: Int64, _ total: Int64) -> Void = { _, _ in }
    ) throws(Failure) {
        var expected: [(Source, Digest)] = checksum.map { [(.argument, $0)] } ?? []
        let subject = try VerificationSubject(path)
        if let sums {
            expected.append((.sums, try Self.digest(of: subject.name, in: sums)))
        }
        let facts = subject.facts
        expected += facts?.digests.map { (subject.factsSource, $0) } ?? []
        let manifest = subject.manifest
        // The pieces of a part that has the wrong digest are as they came, and worth nothing.
        let own = manifest?.rejected == nil ? manifest?.extents : ExtentMap()
        let extents = subject.isPart ? own : facts?.map
        guard !expected.isEmpty || extents != nil else {
            throw .nothingToCheckAgainst(path: subject.path)
        }
        let recorded = extents ?? ExtentMap()
        let fileSize = subject.status.size
        expectedSize = subject.isPart ? manifest?.header.size : facts?.size
        let end =
            expectedSize ?? (subject.isPart ? recorded.covered.ranges.last?.end ?? 0 : fileSize)
        let hasPieces = !(extents?.extents.isEmpty ?? true) || subject.isPart
        missing = hasPieces ? recorded.covered.gaps(in: ByteRange(0, end)) : RangeSet()
        let isWhole = !subject.isPart || missing.isEmpty
        let algorithms = Set(isWhole ? expected.map(\.1.algorithm) : [])
        let total = algorithms.isEmpty ? recorded.covered.count : max(fileSize, end)
        let check = ContentCheck.run(
            subject.descriptor, size: fileSize, extents: recorded.extents, algorithms: algorithms
        ) { done in
            progress(done, total)
            return false
        }
        let found = check ?? ContentCheck()
        damaged = RangeSet()
        for extent in found.damaged { damaged.insert(extent.range) }
        digests = expected.map { source, digest in
            Comparison(
                source: source, expected: digest,
                actual: found.digests.first(of: digest.algorithm))
        }
        self.path = subject.path
        isPart = subject.isPart
        isInUse = subject.isInUse
        size = subject.isPart ? recorded.covered.count : fileSize
        bytesRecorded = recorded.covered.count
    }

    private static func digest(of name: String, in path: String) throws(Failure) -> Digest {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw .sumsUnavailable(path: path, errno: access(path, R_OK) == 0 ? EISDIR : errno)
        }
        do throws(ChecksumFile.Problem) {
            return try ChecksumFile(Array(data), fileName: FileTarget(path: path).name)
                .digest(of: name)
        } catch {
            throw .sums(path: path, error)
        }
    }
}

extension FinishedFacts {
    /// The extents as a map; `nil` when only the attributes describe the file.
    fileprivate var map: ExtentMap? {
        guard !extents.isEmpty else { return nil }
        var map = ExtentMap()
        for extent in extents { map.add(extent) }
        return map
    }
}

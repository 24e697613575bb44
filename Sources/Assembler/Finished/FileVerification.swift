import FoundationEssentials
import Glibc

/// The result of checking a file on the disk; the check changes and locks nothing.
public struct FileVerification: Sendable, Hashable {
    /// The source of an expected digest.
    #if hasAttribute(nonexhaustive)
        @nonexhaustive
    #endif
    public enum Source: String, Sendable, Hashable {
        /// The caller.
        case argument
        /// A file of checksums, such as `SHA256SUMS`.
        case sums
        /// The kept manifest.
        case manifest
        /// The extended attributes of the file.
        case attributes
    }

    /// A comparison of the whole file's digest with an expected one.
    public struct Comparison: Sendable, Hashable {
        /// The source of the expected digest.
        public var source: Source
        /// The expected digest.
        public var expected: Digest
        /// The computed digest; `nil` if it could not be computed, for example of an incomplete
        /// file.
        public var actual: Digest?

        package init(source: Source, expected: Digest, actual: Digest?) {
            self.source = source
            self.expected = expected
            self.actual = actual
        }

        /// Whether the computed digest is the expected one.
        public var matches: Bool { expected == actual }
    }

    /// The path of the checked file or part.
    public var path: String
    /// Whether the checked file is the part of an unfinished download.
    public var isPart: Bool
    /// Whether a download is using the file.
    public var isInUse: Bool
    /// The length of the file in bytes; for a part, the number of received bytes.
    public var size: Int64
    /// The expected length in bytes; `nil` if unknown.
    public var expectedSize: Int64?
    /// The number of bytes for which the manifest has checksums.
    public var bytesRecorded: Int64
    /// The bytes that are unreadable or have a wrong checksum; adjacent ranges are merged.
    public var damaged: RangeSet
    /// The bytes that no extent of the manifest covers; empty without a manifest.
    public var missing: RangeSet
    /// The comparisons of whole-file digests.
    public var digests: [Comparison]

    /// Whether the file is complete.
    public var isComplete: Bool {
        missing.isEmpty && (expectedSize ?? size) == size
    }

    /// Whether all checks succeeded; a part may be incomplete.
    public var isGood: Bool {
        damaged.isEmpty && digests.allSatisfy(\.matches) && (isPart || isComplete)
    }

    /// The reason why a file could not be checked.
    #if hasAttribute(nonexhaustive)
        @nonexhaustive
    #endif
    public enum Failure: Error, Sendable, Hashable {
        /// Neither the file nor a part of it exists.
        case noFile(path: String)
        /// There is no checksum, manifest or attribute to compare the content with.
        case nothingToCheckAgainst(path: String)
        /// The file of checksums cannot be opened or read.
        case sumsUnavailable(path: String, errno: Int32)
        /// The file of checksums is invalid, or has no usable line for the file.
        case sums(path: String, ChecksumFile.LookupError)
        /// Reading failed, or the path is not a regular file.
        case assembly(AssemblyError)
    }

    /// Creates a result.
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

    /// Checks a file, or its part, against the given and the stored checksums.
    ///
    /// Reads the file once. Blocks on the disk.
    ///
    /// - Parameters:
    ///   - path: The path of the file. If it does not exist, `PATH.part` is checked.
    ///   - checksum: The expected digest.
    ///   - sums: The path of a file of checksums, such as `SHA256SUMS`, with a line for the file.
    ///   - progress: Called repeatedly with the number of bytes read and the total.
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
        // The extents of a rejected part match their CRC-32s although the data is wrong; ignore
        // them.
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
        do throws(ChecksumFile.LookupError) {
            return try ChecksumFile(Array(data), fileName: FileTarget(path: path).name)
                .digest(of: name)
        } catch {
            throw .sums(path: path, error)
        }
    }
}

extension FinishedFacts {
    /// The extents as a map; `nil` if only the attributes describe the file.
    fileprivate var map: ExtentMap? {
        guard !extents.isEmpty else { return nil }
        var map = ExtentMap()
        for extent in extents { map.add(extent) }
        return map
    }
}

public import Assembler

/// The files of a data set, as its source lists them.
public struct Listing: Sendable, Hashable {
    /// Where the files come from, and what pins them to one version.
    public struct Source: Sendable, Hashable {
        /// The kind of a source, which determines how links are renewed and which credentials its
        /// servers get.
        #if hasAttribute(nonexhaustive)
            @nonexhaustive
        #endif
        public enum Kind: String, Sendable, Hashable, CaseIterable, Codable {
            /// URLs that the user gave, on the command line or in a list.
            case urls
            /// A repository on the Hugging Face Hub.
            case hub = "hf"
        }

        /// The kind.
        public var kind: Kind
        /// The stable address of the source, without credentials; `nil` for given URLs.
        public var address: String?
        /// The immutable name of the version, such as a commit; `nil` if the source has none.
        public var pin: String?

        /// Creates a source.
        public init(_ kind: Kind, address: String? = nil, pin: String? = nil) {
            (self.kind, self.address, self.pin) = (kind, address, pin)
        }
    }

    /// How to get a fresh link to a file.
    #if hasAttribute(nonexhaustive)
        @nonexhaustive
    #endif
    public enum Renewal: Sendable, Hashable {
        /// The address remains valid.
        case stable
        /// The address redirects to a signed link, anew for each request.
        case resolved
        /// The address itself is a signed link.
        ///
        /// It is valid until this time, in seconds since 1970; `nil` if it does not state one.
        case signed(until: Int64?)
    }

    /// A file of a data set.
    public struct File: Sendable, Hashable {
        /// The path relative to the folder of the set, with `/` between its components.
        public var path: String
        /// The length in bytes; `nil` if unknown.
        public var size: Int64?
        /// The digests of the whole file.
        public var digests: [Digest]
        /// The `ETag` field as sent (RFC 9110 §8.8.3); `nil` if unknown.
        public var etag: String?
        /// The `Last-Modified` field as sent (RFC 9110 §8.8.2); `nil` if unknown.
        public var lastModified: String?
        /// The http or https URL, without credentials.
        public var address: String
        /// Further URLs of the file, without credentials.
        public var mirrors: [String]
        /// How to get a fresh link.
        public var renewal: Renewal
        /// The range of the remote file that is this file; `nil` for all of it.
        ///
        /// ``size`` is then the length of the range, and ``digests`` are those of its bytes.
        public var window: RemoteWindow?

        /// Creates a file.
        public init(
            path: String, address: String, size: Int64? = nil, digests: [Digest] = [],
            etag: String? = nil, lastModified: String? = nil, mirrors: [String] = [],
            renewal: Renewal = .stable
        ) {
            (self.path, self.address, self.size, self.digests) = (path, address, size, digests)
            (self.etag, self.lastModified) = (etag, lastModified)
            (self.mirrors, self.renewal) = (mirrors, renewal)
        }
    }

    /// The source.
    public var source: Source
    /// The files, in the order of the source.
    public var files: [File]

    /// Creates a listing.
    public init(_ source: Source, files: [File]) { (self.source, self.files) = (source, files) }
}

/// The reason why a plan cannot be used.
public struct PlanError: Error, Sendable, Hashable {
    /// The kind of error.
    #if hasAttribute(nonexhaustive)
        @nonexhaustive
    #endif
    public enum Kind: Error, Sendable, Hashable {
        /// The file cannot be read.
        case unreadable(errno: Int32)
        /// The file cannot be written.
        case unwritable(errno: Int32)
        /// The file exists, is not a plan, and so is not replaced.
        case notReplaced
        /// The file does not begin as a plan does.
        case notAPlan
        /// The plan has a format version that this version of segget does not know.
        case laterVersion(Int)
        /// The line does not match its checksum, or belongs to another plan.
        case altered
        /// The plan has another number of files than its first line states.
        case cut(expected: Int, got: Int)
        /// The path cannot be that of a file in the folder of the set.
        case badPath(String, PathFault)
        /// The entry has no address, or one that is neither http nor https.
        case badAddress
        /// The size is negative, or not that of the first line's sum.
        case badSize
        /// Another line has the same path, and nothing shows that both are the same file.
        ///
        /// Carries the path and the number of that line.
        case duplicate(String, line: Int)
        /// Another line has this path as a folder; carries the path.
        case folderIsFile(String)
    }

    /// Why a path cannot be used.
    #if hasAttribute(nonexhaustive)
        @nonexhaustive
    #endif
    public enum PathFault: Sendable, Hashable {
        /// The path, or a component of it, is empty.
        case empty
        /// The path is absolute.
        case absolute
        /// A component is `.` or `..`.
        case leadsElsewhere
        /// The path contains a NUL character.
        case nul
        /// A component has more than 255 bytes, or the path has more than 4095.
        case tooLong
        /// The first component is the folder in which segget records the set.
        case reserved
    }

    /// The number of the line, from 1; `nil` if the error concerns the whole file.
    public var line: Int?
    /// The kind of error.
    public var kind: Kind

    package init(_ kind: Kind, line: Int? = nil) { (self.kind, self.line) = (kind, line) }
}

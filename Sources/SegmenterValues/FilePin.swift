/// The version of a remote file, as a plan recorded it.
public struct FilePin: Sendable, Hashable, Codable {
    /// The length in bytes.
    public var size: Int64
    /// The `ETag` field as sent (RFC 9110 §8.8.3); `nil` if it does not matter.
    public var etag: String?
    /// The `Last-Modified` field as sent (RFC 9110 §8.8.2); `nil` if it does not matter.
    public var lastModified: String?

    /// Creates a pin.
    public init(size: Int64, etag: String? = nil, lastModified: String? = nil) {
        (self.size, self.etag, self.lastModified) = (size, etag, lastModified)
    }

    enum CodingKeys: String, CodingKey {
        case size, etag
        case lastModified = "last_modified"
    }

    /// Returns how an offered version differs; `nil` if nothing shows a difference.
    ///
    /// A server that no longer sends a validator differs, because nothing shows the version then.
    package func difference(of offered: RemoteIdentity) -> ContractBreach? {
        if size != offered.size { return .otherSize(expected: size, got: offered.size) }
        if let etag, etag != offered.etag {
            return .otherETag(expected: etag, got: offered.etag)
        }
        if let lastModified, lastModified != offered.lastModified {
            return .otherLastModified(expected: lastModified, got: offered.lastModified)
        }
        return nil
    }
}

/// A file that has its name.
package struct PublishedFile: Sendable, Hashable {
    /// Path of the file.
    package var path: String
    /// Size in bytes.
    package var size: Int64
    /// CRC-32 of the whole file.
    package var crc32: UInt32
    /// The digests that were compared with the content.
    package var verified: [Digest]
    /// `errno` of the extended attributes that could not be written, when they could not.
    package var attributesProblem: Int32?
    /// How it got its name.
    package var naming = NamingWay.renamed
    /// What the file system did not take of mode and time.
    package var refused = RefusedAttributes()
    /// `errno` of fsync(2), where the file system cannot make its data durable.
    package var syncProblem: Int32?
}

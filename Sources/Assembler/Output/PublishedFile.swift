/// A file that has its final name.
package struct PublishedFile: Sendable, Hashable {
    /// The path of the file.
    package var path: String
    /// The size in bytes.
    package var size: Int64
    /// The CRC-32 of the whole file.
    package var crc32: UInt32
    /// The digests that match the content.
    package var verified: [Digest]
    /// The `errno` of the extended attributes, if they could not be written.
    package var attributesProblem: Int32?
    /// The call that gave the file its name.
    package var naming = NamingWay.renamed
    /// The mode and time, as far as the file system does not support them.
    package var refused = RefusedAttributes()
    /// The `errno` of fsync(2), if the file system does not support it.
    package var syncProblem: Int32?
}

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
    /// Whether it got its name by link(2) and unlink(2), for want of a rename that replaces nothing.
    package var isLinked = false
}

/// The names of the files that segget creates beside a destination during a download.
///
/// Pure. All suffixes are defined here.
package struct PartNames: Sendable, Hashable {
    /// The suffix of the part.
    package static let partSuffix = ".part"
    /// The suffix of the manifest.
    package static let manifestSuffix = ".segget"
    /// The suffix of a rewritten manifest until it is renamed.
    package static let rewriteSuffix = manifestSuffix + "~"
    /// The suffix of the lock file, which replaces flock(2) where that is not supported.
    package static let lockSuffix = manifestSuffix + "-lock"
    /// The suffixes of a download's files, except the lock file, which never exists without a part.
    package static let suffixes = [partSuffix, manifestSuffix, rewriteSuffix]

    /// The name of the finished file.
    package let destination: String
    /// The name of the file that receives the bytes.
    package var part: String { destination + Self.partSuffix }
    /// The name of the manifest.
    package var manifest: String { destination + Self.manifestSuffix }
    /// The temporary name of a rewritten manifest.
    package var rewrite: String { destination + Self.rewriteSuffix }

    /// The name of the lock file.
    package var lock: String { destination + Self.lockSuffix }
    /// The name of the file that a run creates while it removes the lock file of a process that no
    /// longer exists.
    package var lockRemoval: String { lock + "~" }

    /// Creates the names beside `destination`.
    package init(_ destination: String) { self.destination = destination }

    /// Creates the names that belong to the part named `part`.
    init(part: String) {
        self.init(
            part.hasSuffix(Self.partSuffix)
                ? String(part.dropLast(Self.partSuffix.count)) : part)
    }
}

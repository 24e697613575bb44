/// The names that segget uses beside a destination while it puts the file together.
///
/// Pure; the one place that knows the suffixes.
package struct PartNames: Sendable, Hashable {
    /// What the part has behind the destination's name.
    package static let partSuffix = ".part"
    /// What the manifest has behind it.
    package static let manifestSuffix = ".segget"
    /// What a manifest has behind it that is written anew and not in its place yet.
    package static let rewriteSuffix = manifestSuffix + "~"
    /// What a lock file has behind it, where flock(2) does not work.
    package static let lockSuffix = manifestSuffix + "-lock"
    /// All that a download may have; a lock file never stands there without a part.
    package static let suffixes = [partSuffix, manifestSuffix, rewriteSuffix]

    /// Name of the finished file.
    package let destination: String
    /// Name of the file that the bytes are written to.
    package var part: String { destination + Self.partSuffix }
    /// Name of the manifest.
    package var manifest: String { destination + Self.manifestSuffix }
    /// Name of the manifest that will take the manifest's place.
    package var rewrite: String { destination + Self.rewriteSuffix }

    /// Name of the lock file, where there is one.
    package var lock: String { destination + Self.lockSuffix }
    /// Name of the file that a run makes while it removes the lock file of a run that has gone.
    package var lockRemoval: String { lock + "~" }

    /// The names beside `destination`.
    package init(_ destination: String) { self.destination = destination }

    /// The names beside the destination of the part at `part`.
    init(part: String) {
        self.init(
            part.hasSuffix(Self.partSuffix)
                ? String(part.dropLast(Self.partSuffix.count)) : part)
    }
}

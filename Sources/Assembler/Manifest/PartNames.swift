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
    /// All of them.
    package static let suffixes = [partSuffix, manifestSuffix, rewriteSuffix]

    /// Name of the finished file.
    package let destination: String
    /// Name of the file that the bytes are written to.
    package var part: String { destination + Self.partSuffix }
    /// Name of the manifest.
    package var manifest: String { destination + Self.manifestSuffix }
    /// Name of the manifest that will take the manifest's place.
    package var rewrite: String { destination + Self.rewriteSuffix }

    /// The names beside `destination`.
    package init(_ destination: String) { self.destination = destination }
}

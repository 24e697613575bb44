import Glibc

/// Chooses files of a set by patterns on their relative paths.
///
/// A pattern is one of fnmatch(3) without flags, on the whole path: `*` and `?` also match `/`. A
/// pattern that ends in `/` chooses all files in that folder.
public struct PathFilter: Sendable, Hashable {
    /// The patterns of which a file matches at least one; none chooses all files.
    public var include: [String]
    /// The patterns of which a file matches none.
    public var exclude: [String]

    /// Creates a filter.
    public init(include: [String] = [], exclude: [String] = []) {
        (self.include, self.exclude) = (include, exclude)
    }

    /// Whether a file with this relative path is chosen.
    public func chooses(_ path: String) -> Bool {
        (include.isEmpty || include.contains { Self.matches(path, $0) })
            && !exclude.contains { Self.matches(path, $0) }
    }

    private static func matches(_ path: String, _ pattern: String) -> Bool {
        fnmatch(pattern.hasSuffix("/") ? pattern + "*" : pattern, path, 0) == 0
    }
}

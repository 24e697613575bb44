/// Which missing blobs a run downloads, and what it takes over, given the other runs on the cache.
///
/// A claim only saves work. If two runs download one blob, each verifies its own, and the first one
/// names it. Pure.
struct HubClaims: Hashable {
    /// Another run on the repository's folder.
    struct Run: Hashable {
        /// Whether its process works.
        enum Life: Hashable {
            /// It has ended, or its process no longer exists.
            case over
            /// It works, or is on another machine.
            case possible
        }

        /// The name of its folder.
        var name: String
        /// The names of the blobs that it claims.
        var blobs: Set<String>
        var life: Life
        /// The seconds since anything in its folder was last changed.
        var idle: Double
    }

    /// The seconds without a change after which the blobs of a run may be downloaded by another one.
    static let patience = 600.0

    /// The blobs to download, in the order in which they were wanted.
    var own: [String]
    /// The runs that are downloading the other blobs.
    var waits: [String]
    /// The runs that are over, whose folders are taken over.
    var adopted: [String]
    /// The runs that may work no longer, whose parts are copied.
    var left: [String]

    /// Decides.
    ///
    /// - Parameters:
    ///   - wanted: The names of the blobs that are missing.
    ///   - runs: The other runs.
    init(_ wanted: [String], beside runs: [Run]) {
        var taken: Set<String> = []
        (waits, adopted, left) = ([], [], [])
        for run in runs {
            switch run.life {
            case .over: adopted.append(run.name)
            case .possible where run.idle < Self.patience:
                taken.formUnion(run.blobs)
                if wanted.contains(where: run.blobs.contains) { waits.append(run.name) }
            case .possible: left.append(run.name)
            }
        }
        own = wanted.filter { !taken.contains($0) }
    }
}

/// The state of an open part and its folder at one check.
struct PartSight: Sendable, Hashable {
    /// The number of hard links of the part; `nil` if unknown.
    var links: UInt64?
    /// The number of links of the folder; `nil` if unknown.
    var folderLinks: UInt64?
    /// Whether the folder has a file with the part's name: `false` for ENOENT, `nil` for other
    /// failures.
    var isNamed: Bool?
    /// Whether `..` leads from the folder to the root; `nil` if unknown.
    ///
    /// After `umount -l`, it does not.
    var isAttached: Bool?
}

/// Decides from periodic checks whether the part is lost while it is written.
///
/// A renamed folder is not a loss, since the checks use open descriptors.
///
/// Pure.
struct PartWatch: Sendable {
    /// Whether link counts and mounts are unreliable, as on FUSE and network file systems.
    private let countsNamesOnly: Bool
    private let first: PartSight
    private var wasLost = false

    /// Starts with the state at opening, with which later states are compared.
    init(_ first: PartSight, countsNamesOnly: Bool) {
        self.first = first
        self.countsNamesOnly = countsNamesOnly
    }

    /// Evaluates a further check.
    ///
    /// - Returns: The loss, if both this check and the previous one show a loss.
    mutating func take(_ sight: PartSight) -> PartLoss? {
        let loss = loss(in: sight)
        defer { wasLost = loss != nil }
        return wasLost ? loss : nil
    }

    /// Returns the loss that a single check shows.
    func loss(in sight: PartSight) -> PartLoss? {
        if !countsNamesOnly {
            if first.isAttached == true, sight.isAttached == false { return .unmounted }
            // Some file systems always report 0.
            if sight.links == 0, first.links ?? 0 > 0 { return .removed }
            if sight.folderLinks == 0, first.folderLinks ?? 0 > 0 { return .removed }
        }
        guard sight.isNamed == false, first.isNamed == true else { return nil }
        return .nameGone
    }
}

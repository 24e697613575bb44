/// What one look at an open part and its folder shows.
struct PartSight: Sendable, Hashable {
    /// Hard links of the part; `nil` when the system does not say.
    var links: UInt64?
    /// Links of the folder, likewise.
    var folderLinks: UInt64?
    /// Whether anything has the part's name in the folder: `false` for ENOENT, `nil` for other failures.
    var isNamed: Bool?
    /// Whether `..` leads from the folder to the root: not after `umount -l`; `nil` when the system does not say.
    var isAttached: Bool?
}

/// Decides from periodic looks whether the part that is being written is lost.
///
/// A folder that was only renamed is no loss: the looks go by open descriptors.
///
/// Pure.
struct PartWatch: Sendable {
    /// Whether link counts and mounts mean nothing: on FUSE and network file systems.
    private let countsNamesOnly: Bool
    private let first: PartSight
    private var wasLost = false

    /// Begins with the first look, which a later one has to differ from.
    init(_ first: PartSight, countsNamesOnly: Bool) {
        self.first = first
        self.countsNamesOnly = countsNamesOnly
    }

    /// Takes a further look.
    ///
    /// - Returns: The loss, when this look and the one before show one.
    mutating func take(_ sight: PartSight) -> PartLoss? {
        let loss = loss(in: sight)
        defer { wasLost = loss != nil }
        return wasLost ? loss : nil
    }

    /// The loss that one look shows.
    func loss(in sight: PartSight) -> PartLoss? {
        if !countsNamesOnly {
            if first.isAttached == true, sight.isAttached == false { return .unmounted }
            // Some file systems state 0 at all times.
            if sight.links == 0, first.links ?? 0 > 0 { return .removed }
            if sight.folderLinks == 0, first.folderLinks ?? 0 > 0 { return .removed }
        }
        guard sight.isNamed == false, first.isNamed == true else { return nil }
        return .nameGone
    }
}

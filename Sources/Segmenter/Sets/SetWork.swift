/// The steps that remain for a set to be complete.
public struct SetWork: Sendable, Hashable {
    /// The files to download, in order: their indices in the plan.
    public var files: [UInt32] = []
    /// Those of them that replace another version, which the set wrote.
    public var replaced: Set<UInt32> = []
    /// The paths of files that stay as they are, although they are not the planned versions: the set
    /// did not write them, or they were changed since.
    public var foreign: [String] = []
    /// The paths of files that the set wrote and its plan no longer lists.
    public var extras: [String] = []
    /// The number of files that are complete.
    public var complete = 0
    /// The time since when the state of complete files without planned versions is known, in seconds
    /// since 1970; `nil` if there are none.
    public var asOf: Int64?
    /// Whether reading was cancelled, so that the figures are not final.
    public var isCancelled = false
}

package import Segmenter

/// One file that a run in aria2's manner fetches.
package struct Aria2Task: Sendable {
    /// What it is known by: aria2's GID.
    package var gid: Download.ID
    /// Its URLs, at least one; several are mirrors of each other.
    package var urls: [String]
    /// Its options: what the list says of it, above what holds for all.
    package var options: Aria2Options

    /// Makes a task.
    package init(gid: Download.ID = Download.ID(), urls: [String], options: Aria2Options) {
        self.gid = gid
        self.urls = urls
        self.options = options
    }
}

/// What is given for the path of a file or folder, on a command line or in a list.
package enum PathText {
    /// Whether it is a URL: as a path, it would make folders named `https:` and like the host.
    ///
    /// No path is lost by this: a folder whose name ends in a colon is reached with one slash behind it.
    package static func isURL(_ text: String) -> Bool { text.contains("://") }
}

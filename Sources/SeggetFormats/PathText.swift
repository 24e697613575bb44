/// Checks of texts that are given as paths.
package enum PathText {
    /// Returns whether the text is a URL, which as a path would create folders such as `https:`.
    ///
    /// A folder whose name ends in a colon remains reachable with a single slash.
    package static func isURL(_ text: String) -> Bool { text.contains("://") }
}

extension DownloadSession {
    /// Downloads only the damaged bytes of a file whose manifest was kept.
    ///
    /// The existing file is only read until a complete and verified file replaces it. A later
    /// repair resumes one that was stopped. A part with its manifest is completed in the same way.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - url: An http or https URL that offers the same version of the file.
    ///   - options: The options of the download. `checksum` verifies the result. `overwrite`,
    ///     `resume`, `files.timestamping` and `files.keepManifest` are set to the values that a
    ///     repair needs.
    ///   - id: The id of the repair, unique among all downloads.
    /// - Returns: The running download. It fails with `unrepairable` if there is no manifest, or if
    ///   the server offers another version.
    public func repair(
        _ path: String, from url: String, options: DownloadOptions = DownloadOptions(),
        id: Download.ID = Download.ID()
    ) -> Download {
        var options = options
        options.overwrite = true
        options.resume = true
        options.files.timestamping = false
        options.files.keepManifest = true
        return start(url, to: .file(path), options: options, id: id, isRepair: true)
    }
}

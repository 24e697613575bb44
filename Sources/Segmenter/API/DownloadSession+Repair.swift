extension DownloadSession {
    /// Fetches again what is damaged of a file whose manifest was kept, and nothing else.
    ///
    /// The file is only read, until a whole and verified one takes its place. A repair that was
    /// stopped is continued by the next one. A part with its manifest is completed in the same way.
    ///
    /// - Parameters:
    ///   - path: Path of the file.
    ///   - url: An http or https URL that offers the same version of it.
    ///   - options: How to fetch it. `checksum` proves the result; `overwrite`, `resume` and
    ///     `files.keepManifest` are as a repair needs them.
    ///   - id: What the repair is known by; one that no other download has.
    /// - Returns: The download under way. It fails with `unrepairable` when there is no manifest or
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

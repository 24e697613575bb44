package import ArgumentParser

/// The options for the file's path.
package struct PlaceOptions: ParsableArguments {
    @Option(
        name: [
            .customShort("o", allowingJoined: true), .customLong("output"), .customLong("name"),
        ],
        help: ArgumentHelp(
            "Save as this file, below `--directory` if it is typed.",
            discussion: """
                Missing folders are created. `-` writes to standard output, in order. With this \
                option, `directory` in the configuration file is ignored.
                """,
            valueName: "file"),
        completion: .file(), transform: PathArgument.output)
    package var output: String?

    @Option(
        name: [.customShort("d", allowingJoined: true), .long],
        help: ArgumentHelp(
            "Save in this folder, and create it if it is missing. (default: the current folder)",
            valueName: "dir"),
        completion: .directory, transform: PathArgument.folder)
    package var directory: String?

    package init() {}

    /// The path of the file, if a name is given; `-` is standard output.
    package var path: String? {
        guard let output, output != "-", let directory else { return output }
        return directory.hasSuffix("/") ? directory + output : "\(directory)/\(output)"
    }

    package func validate() throws {
        guard output != "", directory != "" else {
            throw ValidationError("an empty path cannot be used")
        }
        try PathArgument.checkTilde(output, "output")
        try PathArgument.checkTilde(directory, "directory")
        guard let output else { return }
        guard !output.hasSuffix("/") else {
            throw ValidationError("`--output` names a file; `--directory` takes a folder")
        }
        guard directory != nil else { return }
        guard !Program.isConfigured("directory") else {
            throw ValidationError("`output` and `directory` cannot be set together")
        }
        guard output != "-" else {
            throw ValidationError("`--output -` and `--directory` cannot be used together")
        }
        guard !output.hasPrefix("/") else {
            throw ValidationError(
                "`--output` is an absolute path: leave out `--directory`, or give a path below it")
        }
    }
}

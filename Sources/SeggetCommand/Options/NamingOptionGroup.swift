package import ArgumentParser
package import Segmenter

/// The options for the name of the finished file.
package struct NamingOptionGroup: ParsableArguments {
    @Flag(
        help: .row("remote-name"))
    package var remoteName = false

    @Flag(
        help: .row(
            "auto-rename",
            discussion:
                "A part that an earlier run of the same URL saved under such a name is resumed."))
    package var autoRename = false

    package init() {}

    /// The library's options.
    package var naming: NamingOptions {
        var naming = NamingOptions()
        naming.usesURL = remoteName
        naming.numbersTaken = autoRename
        return naming
    }
}

/// The options for the configuration file.
///
/// ``Invocation`` reads them before the parser runs.
package struct ConfigurationOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Read options from this file. (default: ~/.config/segget/config)",
            discussion: """
                A line is `name = value` with an option's long name, or a flag's name alone; `#` \
                begins a comment. The command line overrides the environment \
                (`SEGGET_CONNECTIONS=16`), which overrides the file; `--quiet=false` turns off a \
                flag.
                """,
            valueName: "file"),
        completion: .file(), transform: PathArgument.file)
    package var config: String?

    @Flag(help: "Read no configuration file.")
    package var noConfig = false

    package init() {}

    package func validate() throws {
        guard config == nil || !noConfig else {
            throw ValidationError("`--config` and `--no-config` cannot be used together")
        }
    }
}

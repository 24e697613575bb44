package import ArgumentParser

/// The commands to run when the download of a file has ended.
package struct EndOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Run this command when a file is complete.",
            discussion: """
                The command is split into words as in a shell, with quotes, but runs without a \
                shell: nothing is expanded. The environment describes the file \
                (`SEGGET_TASK_PATH`, `_URL`, `_SIZE`, `_CHECKSUM`, `_STATUS`…), standard input has \
                the `finished` or `error` object of `--json`, and the output goes to standard \
                error. A failure of the command is reported, but does not change the exit code.
                """,
            valueName: "cmd"))
    package var onComplete: String?

    @Option(
        help: ArgumentHelp(
            "Run this command when a file has failed, in the same way.",
            discussion: "It does not run if a signal stopped segget.", valueName: "cmd"))
    package var onError: String?

    package init() {}

    package func validate() throws { _ = try hooks }

    /// The commands to run.
    package var hooks: Hooks {
        get throws {
            Hooks(
                onComplete: try ScriptOptions.words(onComplete, "--on-complete"),
                onError: try ScriptOptions.words(onError, "--on-error"))
        }
    }
}

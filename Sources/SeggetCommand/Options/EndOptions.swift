package import ArgumentParser

/// Commands that are run when the download of a file has ended.
package struct EndOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Run this command when a file is complete.",
            discussion: """
                The command is cut into words as a shell would, with quotes, and run without a \
                shell: nothing is expanded. The environment describes the file \
                (`SEGGET_TASK_PATH`, `_URL`, `_SIZE`, `_CHECKSUM`, `_STATUS`…), standard input \
                brings the `finished` or `error` object of `--json`, and what it prints goes to \
                standard error. Its failure is reported, and does not change the exit code.
                """,
            valueName: "cmd"))
    package var onComplete: String?

    @Option(
        help: ArgumentHelp(
            "Run this command when a file has failed, in the same way.",
            discussion: "Not when a signal stopped segget.", valueName: "cmd"))
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

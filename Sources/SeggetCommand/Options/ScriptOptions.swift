package import ArgumentParser
import SeggetFormats

/// What scripts want: to know before, and to hear of it afterwards.
package struct ScriptOptions: ParsableArguments {
    @Flag(
        help: ArgumentHelp(
            "Show what would be done, and neither fetch nor write anything.",
            discussion: "The exit code is the one that the download would fail with at once."))
    package var dryRun = false

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
                onComplete: try Self.words(onComplete, "--on-complete"),
                onError: try Self.words(onError, "--on-error"))
        }
    }

    /// Cuts a command into words.
    package static func words(_ command: String?, _ option: String) throws -> [String]? {
        guard let command else { return nil }
        do throws(CommandWords.Problem) {
            return try CommandWords.split(command)
        } catch {
            throw ValidationError("`\(option)`: \(error.text)")
        }
    }
}

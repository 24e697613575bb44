package import ArgumentParser
import SeggetFormats

/// The options for scripts: a dry run, and commands to run at the end.
package struct ScriptOptions: ParsableArguments {
    @Flag(
        help: ArgumentHelp(
            "Show what would be done, without downloading or writing anything.",
            discussion:
                "If the download would fail immediately, the exit code is that of the failure."))
    package var dryRun = false

    @OptionGroup package var ends: EndOptions

    package init() {}

    /// The commands to run.
    package var hooks: Hooks { get throws { try ends.hooks } }

    /// Splits a command into words.
    package static func words(_ command: String?, _ option: String) throws -> [String]? {
        guard let command else { return nil }
        do throws(CommandWords.SyntaxError) {
            return try CommandWords.split(command)
        } catch {
            throw ValidationError("`\(option)`: \(error.text)")
        }
    }
}

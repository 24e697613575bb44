package import ArgumentParser
package import Segmenter

/// The options that choose files of a data set.
package struct PathFilterOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Take only files whose paths match this pattern; repeatable.",
            discussion: """
                `*` and `?` match any characters, also `/`; `[a-c]` matches one of these. A pattern \
                that ends in `/` means all files in that folder.
                """,
            valueName: "pattern"))
    package var include: [String] = []

    @Option(
        help: ArgumentHelp(
            "Leave out files whose paths match this pattern; repeatable. It wins over `--include`.",
            valueName: "pattern"))
    package var exclude: [String] = []

    package init() {}

    /// The filter.
    package var filter: PathFilter { PathFilter(include: include, exclude: exclude) }
}

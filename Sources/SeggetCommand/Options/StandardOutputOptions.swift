import ArgumentParser
import SeggetFormats
import Segmenter

/// The options for `--output -`.
struct StandardOutputOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Most bytes to fetch ahead of the reader.",
            discussion: """
                That is also the memory it takes. K, M and G stand for KiB, MiB and GiB; at least \
                256K. Only used with `--output -`.
                """,
            valueName: "size"))
    var window = "64M"

    func validate() throws {
        guard let bytes = Self.bytes(window), bytes <= 1 << 40 else {
            throw ValidationError(
                "`--window` takes a number of bytes with or without K, M or G, not `\(window)`")
        }
        guard bytes >= StreamOptions.smallestWindow else {
            throw ValidationError("`--window` takes 256K or more, not `\(window)`")
        }
    }

    /// The library's options with what was given here.
    var streamOptions: StreamOptions {
        var options = StreamOptions()
        if let bytes = Self.bytes(window) { options.window = bytes }
        return options
    }

    private static func bytes(_ text: String) -> Int64? { Quantity(text).map { Int64($0.bytes) } }
}

import ArgumentParser
import SeggetFormats
import Segmenter

/// The options for `--output -`.
struct StandardOutputOptions: ParsableArguments {
    @Option(
        help: .row(
            "window",
            discussion: """
                That is also the memory it takes. K, M and G stand for KiB, MiB and GiB; at least \
                256K. Only used with `--output -`.
                """,
            valueName: "size"))
    var window = "64M"

    func validate() throws {
        try TransferOption.check("window", window)
    }

    /// The library's options with what was given here.
    var streamOptions: StreamOptions {
        var options = StreamOptions()
        if let bytes = Self.bytes(window) { options.window = bytes }
        return options
    }

    private static func bytes(_ text: String) -> Int64? { Quantity(text).map { Int64($0.bytes) } }
}

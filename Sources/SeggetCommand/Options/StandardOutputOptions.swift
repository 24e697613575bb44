import ArgumentParser
import SeggetFormats
import Segmenter

/// The options for `--output -`.
struct StandardOutputOptions: ParsableArguments {
    @Option(
        help: .row(
            "window",
            discussion: """
                This is also the amount of memory in use. K, M and G mean KiB, MiB and GiB; the \
                minimum is 256K. Applies to `--output -` only.
                """,
            valueName: "size"))
    var window = "64M"

    func validate() throws {
        try TransferOption.check("window", window)
    }

    /// The library's options with these values.
    var streamOptions: StreamOptions {
        var options = StreamOptions()
        if let bytes = Self.bytes(window) { options.window = bytes }
        return options
    }

    private static func bytes(_ text: String) -> Int64? { Quantity(text).map { Int64($0.bytes) } }
}

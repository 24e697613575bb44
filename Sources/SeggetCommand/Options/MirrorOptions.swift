package import ArgumentParser
import Segmenter

/// The option for further URLs of the file.
package struct MirrorOptions: ParsableArguments {
    @Option(
        name: .customLong("mirror"),
        help: .row(
            "mirror",
            discussion: """
                Mirrors are used at the same time if `--checksum`, equal strong ETags or equal \
                advertised digests confirm that they have the same file. Otherwise one is used, and \
                the others are on standby.
                """,
            valueName: "url"))
    package var mirrors: [String] = []

    package init() {}

    package func validate() throws {
        guard !mirrors.contains("") else {
            throw ValidationError("`--mirror` takes an http or https URL")
        }
        guard mirrors.count < 64 else {
            throw ValidationError("`--mirror` can be given 63 times, not \(mirrors.count)")
        }
    }
}

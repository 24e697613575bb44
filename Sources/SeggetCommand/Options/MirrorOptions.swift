package import ArgumentParser
import Segmenter

/// Further sources of the file.
package struct MirrorOptions: ParsableArguments {
    @Option(
        name: .customLong("mirror"),
        help: .row(
            "mirror",
            discussion: """
                Mirrors work together where `--checksum`, equal strong ETags or equal advertised \
                digests prove that they have the same file; otherwise one at a time, the others \
                as standby mirrors.
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

// Options: the options of the command line, and their conversion to the library's options. They
// know names, help and values; they start nothing.

import ArgumentParser
import Assembler
package import Segmenter

/// The options for the file on the disk.
package struct FileOptionsGroup: ParsableArguments {
    /// The ways to allocate the part's disk space, as in the library's `FileAllocation`.
    package enum Allocation: String, CaseIterable, ExpressibleByArgument {
        case auto, falloc, trunc, none
    }

    @Option(
        help: .row("file-allocation"))
    package var fileAllocation = Allocation.auto

    @Flag(help: .row("no-remote-time"))
    package var noRemoteTime = false

    @Flag(
        help: .row(
            "xattr",
            discussion: """
                `user.xdg.origin.url` is the URL without credentials and query; the rest is \
                in `user.segget`. segget always writes the latter, which tells a later run that the \
                file is complete.
                """))
    package var xattr = false

    @Flag(
        help: .row(
            "refuse-html",
            discussion: """
                Such as a login page, or an error page that was sent with status 200. segget judges by the file \
                name, `Content-Type` and the first bytes. The page is not saved as the file, and the exit code is \
                69. Without this option, segget only warns.
                """))
    package var refuseHtml = false

    package init() {}

    /// Sets the library's options.
    package func apply(to options: inout FileOptions) {
        switch fileAllocation {
        case .auto: options.allocation = .auto
        case .falloc: options.allocation = .falloc
        case .trunc: options.allocation = .trunc
        case .none: options.allocation = .none
        }
        options.remoteTime = !noRemoteTime
        if xattr { options.attributes = .all }
        options.refusesHTML = refuseHtml
    }
}

/// The options for data that later runs use, and for files of earlier runs.
package struct LaterRunOptions: ParsableArguments {
    @Flag(
        help: .row(
            "keep-manifest",
            discussion: """
                With the manifest, `segget verify` shows which bytes are damaged, `segget repair` \
                downloads only those again, and a later run recognises a complete file.
                """))
    package var keepManifest = false

    @Flag(
        name: [.customShort("N"), .long],
        help: .row(
            "timestamping",
            discussion: """
                The new file replaces the old one when it is complete. If nothing is downloaded, \
                the content of the old file is not checked.
                """))
    package var timestamping = false

    @Flag(
        help: .row(
            "skip-existing",
            discussion: """
                Only the name counts: that of `--output` or `out=`, else the URL's, or if no such file exists, \
                the server's. A part of an earlier run is resumed.
                """))
    package var skipExisting = false

    @Flag(
        name: [.customShort("c"), .long],
        help: .row(
            "continue",
            discussion: """
                `--checksum` or a digest from the server must confirm the complete file; without \
                one, the file stays unchanged and the exit code is 73. segget's own parts are \
                resumed without this option.
                """))
    package var `continue` = false

    package init() {}

    package func validate() throws {
        guard !skipExisting || !timestamping else {
            throw ValidationError("`--skip-existing` and `--timestamping` cannot be used together")
        }
    }

    /// Refuses `--skip-existing` together with options that treat existing files differently.
    ///
    /// - Parameter others: The names of those options, and whether they are given.
    /// - Throws: `ValidationError`.
    package func checkSkipping(beside others: [(String, Bool)]) throws {
        guard skipExisting, let other = others.first(where: \.1) else { return }
        throw ValidationError("`--skip-existing` and `--\(other.0)` cannot be used together")
    }

    /// Sets the library's options.
    package func apply(to options: inout FileOptions) {
        options.keepManifest = keepManifest
        options.timestamping = timestamping
        options.skipsExisting = skipExisting
    }
}

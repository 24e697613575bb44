package import ArgumentParser
import Assembler
package import Segmenter

/// The options to continue downloads that need another file, URL or network.
package struct GoingOnOptions: ParsableArguments {
    @Option(
        help: .row(
            "adopt",
            discussion: """
                The file counts as the beginning of the one at the URL. If aria2's control file is beside it \
                (`FILE.aria2`), the ranges recorded there count. `--checksum`, a digest from the server or, \
                with `--resume-unverified`, a sample must confirm that. Until then, the file is only read.
                """, valueName: "file"),
        completion: .file(), transform: PathArgument.file)
    package var adopt: String?

    @Option(
        help: .row(
            "continue-from",
            discussion: """
                For example, if the link of `big.iso.part` has expired, segget completes it from the new URL \
                and renames it to `big.iso`. A strong validator, `--checksum` or, with `--resume-unverified`, \
                a sample must confirm that it is the same file; otherwise the part stays unchanged.
                """, valueName: "part"),
        completion: .file(extensions: ["part"]), transform: PathArgument.file)
    package var continueFrom: String?

    @Option(
        name: .customLong("refresh-url"),
        help: ArgumentHelp(
            "Run this command to get a new URL when the link has expired (401, 403, 404, 410).",
            discussion: """
                The command is split into words as in a shell, but runs without a shell. It gets the old URL \
                in `SEGGET_TASK_URL` and the status code in `SEGGET_TASK_STATUS`, and prints the new URL to \
                standard output. It runs at most once a minute, for at most 30 seconds.
                """, valueName: "cmd"))
    package var refreshURL: String?

    @Flag(
        help: .row(
            "wait-for-network",
            discussion: """
                Applies once the download has started. Error responses of a server count towards `--retries` \
                instead.
                """))
    package var waitForNetwork = false

    package init() {}

    package func validate() throws {
        guard continueFrom == nil || adopt == nil else {
            throw ValidationError("`--continue-from` and `--adopt` cannot be used together")
        }
        if let continueFrom {
            guard continueFrom.hasSuffix(PartNames.partSuffix), part != nil else {
                throw ValidationError(
                    "`--continue-from` takes a part, whose name ends in `\(PartNames.partSuffix)`")
            }
        }
        _ = try refresh
    }

    /// The path of the final file for the part of `--continue-from`.
    package var part: String? {
        guard let path = continueFrom?.dropLast(PartNames.partSuffix.count), !path.isEmpty,
            !path.hasSuffix("/")
        else { return nil }
        return String(path)
    }

    /// The command of `--refresh-url`.
    package var refresh: RefreshCommand? {
        get throws {
            try ScriptOptions.words(refreshURL, "--refresh-url").map { RefreshCommand($0) }
        }
    }

    /// Sets the library's options.
    package func apply(to options: inout DownloadOptions) {
        options.adopt = adopt
        options.continuesOtherURL = continueFrom != nil
        options.waitsForNetwork = waitForNetwork
    }
}

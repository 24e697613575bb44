package import ArgumentParser
import Assembler
package import Segmenter

/// What lets a download go on that could not by itself.
package struct GoingOnOptions: ParsableArguments {
    @Option(
        help: .row(
            "adopt",
            discussion: """
                The file counts as the beginning of the one at the URL; where aria2 left its control file \
                beside it (`FILE.aria2`), as what that says. `--checksum`, a digest that the server \
                advertises or, with `--resume-unverified`, a sample has to show that it is. Until then \
                it is only read.
                """, valueName: "file"),
        completion: .file(), transform: PathArgument.file)
    package var adopt: String?

    @Option(
        help: .row(
            "continue-from",
            discussion: """
                `big.iso.part`, whose link has expired, is completed from the URL and becomes `big.iso`. A \
                strong validator, `--checksum` or, with `--resume-unverified`, a sample has to show that \
                it is the same file; else the part stays as it is.
                """, valueName: "part"),
        completion: .file(extensions: ["part"]), transform: PathArgument.file)
    package var continueFrom: String?

    @Option(
        name: .customLong("refresh-url"),
        help: ArgumentHelp(
            "Ask this command for a new URL when the link has expired (401, 403, 404, 410).",
            discussion: """
                The command is cut into words as a shell would, and run without a shell. It finds the old \
                URL in `SEGGET_TASK_URL` and the status in `SEGGET_TASK_STATUS`, and prints the new URL on \
                standard output. It is run at most once a minute, and has 30 seconds.
                """, valueName: "cmd"))
    package var refreshURL: String?

    @Flag(
        help: .row(
            "wait-for-network",
            discussion: """
                From when on the download has begun. What a server answers is not waited for: that is \
                `--retries`.
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

    /// The path of the file that `--continue-from` names the part of.
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

    /// Puts what was given into the library's options.
    package func apply(to options: inout DownloadOptions) {
        options.adopt = adopt
        options.continuesOtherURL = continueFrom != nil
        options.waitsForNetwork = waitForNetwork
    }
}

import Assembler
import Segmenter

extension TransferOption {
    /// The options for the name of the file.
    static let naming: [TransferOption] = [
        .flag(
            "naming.uses_url", \.naming.usesURL, [.own("remote-name")], [.own, .tcp], .nextStart,
            help: "Name the file after the given URL, not as the server suggests."),
        .flag(
            "naming.numbers_taken", \.naming.numbersTaken,
            [.own("auto-rename"), .aria2("auto-file-renaming")], .all, .nextStart,
            help: "If the name is taken, use the next free one: `big.1.iso`, `big.2.iso`."),
    ]

    /// The options for limits of size, time and rate.
    static let limits: [TransferOption] = [
        .bytes(
            "limits.max_size", atLeast: 0, \.limits.maxSize, [.own("max-size")], [.own, .tcp],
            help: "Largest file to download; a larger one is refused."),
        .seconds(
            "limits.max_time", 0.1...1e8, \.limits.maxTime, [.own("max-time")], [.own, .tcp],
            help: "Longest time for each file, from its start, in seconds."),
        .rate(
            "limits.rate", \.limits.rate,
            [
                .own("limit-rate"), .list("max-download-limit"),
                .onlyAria2("max-download-limit", .wholeRate(\.limits.rate)),
            ], .all,
            help: "Limit the rate, in bytes per second; 0 removes the limit."),
        .rate(
            "limits.min_rate", \.limits.minRate,
            [
                .own("min-rate"), .list("lowest-speed-limit"),
                .onlyAria2("lowest-speed-limit", .wholeRate(\.limits.minRate)),
            ], .all,
            help: "Lowest rate in bytes per second; a slower download is started again."),
        .seconds(
            "limits.min_rate_period", 0.1...86_400, \.storedMinRatePeriod, [.own("min-rate-time")],
            [.own, .tcp],
            help: "How long a download may be slower than its lowest rate, in seconds."),
    ]

    /// The options for the file on disk.
    static let files: [TransferOption] = [
        .choice(
            "files.allocation",
            [("none", .none), ("trunc", .trunc), ("falloc", .falloc), ("auto", .auto)],
            \.files.allocation,
            [
                .typed("file-allocation"),
                .aria2(
                    "file-allocation",
                    .other(
                        .choice(["none", "prealloc", "trunc", "falloc", "auto"]),
                        read: { options, text in
                            // aria2's `prealloc` writes zeros if the file system does not support
                            // `falloc`.
                            let word = text == "prealloc" ? "falloc" : text
                            guard let value = FileAllocation(rawValue: word) else { return false }
                            options.files.allocation = value
                            return true
                        }, texts: { [$0.files.allocation.rawValue] })),
            ], .own, .nextStart,
            help:
                "Reserve the space first (falloc), set only the length (trunc), or let the file grow."
        ),
        .flag(
            "files.remote_time", \.files.remoteTime,
            [
                .typed(
                    "no-remote-time", .opposite,
                    help:
                        "Give the finished file the time of writing, not of the server's `Last-Modified`."
                ), .aria2("remote-time"),
            ], .all,
            help: "Give the finished file the time of the server's `Last-Modified`."),
        TransferOption(
            "files.attributes", .choice(["none", "proof", "all"]),
            [
                .own(
                    "xattr",
                    .other(
                        .flag,
                        read: { options, text in
                            guard let isOn = Bool(text) else { return false }
                            options.files.attributes = isOn ? .all : .none
                            return true
                        }, texts: { ["\($0.files.attributes == .all)"] }))
            ], .own,
            help: "Write origin, version and digests into the file's extended attributes.",
            read: { options, text in
                guard let value = FileAttributes(rawValue: text) else { return false }
                options.files.attributes = value
                return true
            },
            texts: { [$0.files.attributes.rawValue] }),
        .flag(
            "files.keep_manifest", \.files.keepManifest, [.own("keep-manifest")], .own,
            help: "Keep the manifest `NAME.segget` beside the finished file."),
        .flag(
            "files.timestamping", \.files.timestamping,
            [.own("timestamping"), .aria2("conditional-get")], [.own, .rpc],
            help: "Download only if the remote file is newer, or has another size."),
        .hidden(
            "files.missing_folders", .choice(["refused", "made"]), [.socket, .tcp],
            help: "Whether missing folders are created."),
        .flag(
            "files.skips_existing", \.files.skipsExisting, [.own("skip-existing")], .own,
            help: "Skip a file that exists, without asking the server or checking its content."),
        .flag(
            "files.refuses_html", \.files.refusesHTML, [.own("refuse-html")], .own,
            help: "Fail if an HTML page arrives instead of a model, an archive or a disk image."
        ),
        .hidden(
            "files.umask", .fileMode, help: "The file mode creation mask of the finished file."),
    ]
}

extension OptionName.Meaning {
    /// A rate that is shown in whole bytes per second, as in aria2.
    fileprivate static func wholeRate(
        _ path: @escaping @autoclosure @Sendable () -> TransferOption.Path<Double?>
    ) -> Self {
        .other(
            .rate,
            read: { options, text in
                guard let bytes = Int64(text), bytes >= 0 else { return false }
                options[keyPath: path()] = bytes > 0 ? Double(bytes) : nil
                return true
            },
            texts: { ["\(Int64(min($0[keyPath: path()] ?? 0, 0x1p62)))"] })
    }
}

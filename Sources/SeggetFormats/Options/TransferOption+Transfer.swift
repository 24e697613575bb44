import Assembler
import Segmenter

extension TransferOption {
    /// The options for the transfer of a file.
    static let transfer: [TransferOption] = [
        TransferOption(
            "connections", .connections,
            [
                .own("connections"),
                .aria2("split", fixedConnections { $0.connections.most }),
                // aria2 takes at most 16. A client that sends back all options must not be
                // refused.
                .aria2(
                    "max-connection-per-server",
                    fixedConnections { min(16, $0.connections.most) }),
            ], .all,
            help: "Connections for all files of a host together: 1 to 64, `auto` or `auto:N`.",
            read: { options, text in
                guard let count = ConnectionCount(text) else { return false }
                options.connections = count
                return true
            },
            texts: { [$0.connections.description] }),
        .bytes(
            "min_split_size", atLeast: 1, \.minSplitSize, [.aria2("min-split-size")],
            [.list, .socket, .tcp, .rpc],
            help: "Fewest bytes to open a further connection for."),
        TransferOption(
            "checksum", .digest,
            [
                .own("checksum"),
                .onlyAria2(
                    "checksum",
                    .other(
                        .digest, read: readChecksum,
                        texts: {
                            $0.checksum.map { ["\($0.algorithm.rawValue)=\($0.hex)"] } ?? []
                        })),
            ], .all,
            help: "The digest that the file must have.", read: readChecksum,
            texts: { $0.checksum.map { [$0.description] } ?? [] }),
        .flag(
            "overwrite", \.overwrite, [.own("overwrite"), .aria2("allow-overwrite")],
            [.own, .rpc],
            help: "Replace an existing file, once the new one is complete and verified."),
        .flag(
            "resume", \.resume,
            [
                .typed(
                    "no-resume", .opposite, help: "Start over instead of resuming an earlier run."),
                .list(
                    "continue",
                    .other(
                        .flag,
                        read: { options, text in
                            guard let isOn = Bool(text) else { return false }
                            (options.resume, options.continuesExisting) = (isOn, isOn)
                            return true
                        }, texts: { ["\($0.resume)"] })),
            ], .own, .nextStart,
            help: "Resume an earlier run."),
        .flag(
            "resume_unverified", \.resumeUnverified, [.own("resume-unverified")], .own,
            help: "Resume even if only a sample shows that the remote file is unchanged."),
        .flag(
            "single_request", \.singleRequest,
            [
                .own("single-request"),
                .onlyAria2(
                    "use-head",
                    .other(
                        .flag, read: { _, _ in false },
                        texts: { $0.singleRequest ? ["false"] : [] })),
            ], .all,
            help: "Send one request, without a range, for links that work only once or a few times."
        ),
        TransferOption(
            "continues_other_url", .flag, [.typed("continue-from", .part)],
            [.configuration, .socket], .never,
            help: "Continue this part under a new URL.", read: { _, _ in false },
            texts: { _ in [] }),
        .file(
            "adopt", \.adopt, [.typed("adopt")], [.configuration, .socket], .never,
            help: "Continue a file that curl, wget, aria2 or a browser began to download."),
        .hidden(
            "pin", .text("an object with `size`, `etag` and `last_modified`"),
            help: "The version of the file that `--plan` downloads."),
        .hidden(
            "hub", .text("an object with `endpoint`, `cache`, and `variable` or `file`"),
            help:
                "The Hugging Face Hub of `segget add hf://`, its cache, and where its token is found."
        ),
        .hidden(
            "takes_over", .choice(["nothing", "controlled", "complete", "begun"]),
            help: "Which existing file `segget-aria2c` continues."),
        .flag(
            "continues_existing", \.continuesExisting, [.typed("continue")],
            [.configuration, .socket], .never,
            help:
                "Continue a shorter file of this name that curl, wget or a browser began to download."
        ),
        .flag(
            "waits_for_network", \.waitsForNetwork, [.own("wait-for-network")], .own,
            help: "When the network is lost, wait until it is back, without limit."),
        .hidden(
            "waits_for_network_first", .flag,
            help: "Also wait for the network before the download has started."),
        .hidden(
            "ends_to_rest", .flag,
            help: "End instead of waiting for a server that refuses further requests."),
        TransferOption(
            "headers", .headers, [.everywhere("header")], .all, isSecret: true,
            help: "Add this request header; repeatable.",
            read: { options, text in
                guard (try? DownloadOptions.check(header: text)) != nil else { return false }
                options.headers.append(text)
                return true
            },
            texts: \.headers),
        .file(
            "ca_certificate", \.caCertificate, [.everywhere("ca-certificate")], .own,
            help: "PEM file with the certificates to trust, instead of the system's."),
        .seconds(
            "connect_timeout", 0.1...86_400, \.storedConnectTimeout,
            [
                .own("connect-timeout"),
                .onlyAria2("connect-timeout", .wholeSeconds(1...86_400, \.connectTimeout)),
            ],
            .all,
            help: "Longest time to connect, TLS handshake included, in seconds."),
        .seconds(
            "stall_timeout", 0.1...86_400, \.storedStallTimeout,
            [
                .own("stall-timeout"), .list("timeout"),
                .onlyAria2("timeout", .wholeSeconds(1...86_400, \.stallTimeout)),
            ], .all,
            help: "Longest time without a byte on a connection, in seconds."),
        .integer(
            "retries", 0...1000, \.givenRetries,
            [
                .own("retries"),
                // aria2 also counts the first attempt, and takes 0 for no limit.
                .aria2(
                    "max-tries",
                    .other(
                        .integer(0...1000),
                        read: { options, text in
                            guard let tries = Int(text), (0...1000).contains(tries) else {
                                return false
                            }
                            options.retries = tries == 0 ? 1000 : tries - 1
                            return true
                        },
                        texts: { ["\($0.retries >= 1000 ? 0 : $0.retries + 1)"] })),
            ], .all,
            help:
                "Further attempts without progress before giving up (default: \(DownloadOptions().retries))."
        ),
        .seconds(
            "retry_wait", 0...600, \.storedRetryWait,
            [.list("retry-wait"), .onlyAria2("retry-wait", .wholeSeconds(0...600, \.retryWait))],
            [.list, .socket, .tcp, .rpc],
            help: "Shortest time from a failed attempt to the next, in seconds."),
        .bytes(
            "stream.window", atLeast: StreamOptions.smallestWindow, atMost: 1 << 40, \.storedWindow,
            [.typed("window")], [.configuration, .socket, .tcp],
            help: "Most bytes to download ahead of the reader of standard output."),
        TransferOption(
            "mirrors", .texts("a URL"), [.typed("mirror")],
            [.configuration, .socket, .tcp], .never, isSecret: true,
            help: "Another URL of the same file; repeatable.",
            read: { options, text in
                options.mirrors.append(text)
                return !text.isEmpty
            },
            texts: \.mirrors),
    ]

    private static let readChecksum: @Sendable (inout DownloadOptions, String) -> Bool = {
        options, text in
        guard let digest = try? Digest(parsing: text) else { return false }
        options.checksum = digest
        return true
    }

    /// Returns the meaning of a fixed number of connections, which is shown as `count` returns it.
    private static func fixedConnections(
        _ count: @escaping @Sendable (DownloadOptions) -> Int
    ) -> OptionName.Meaning {
        .other(
            .integer(1...64),
            read: { options, text in
                guard let number = Int(text), (1...64).contains(number) else { return false }
                options.connections = .fixed(number)
                return true
            },
            texts: { ["\(count($0))"] })
    }
}

extension OptionName.Meaning {
    /// A time that is shown in whole seconds, as in aria2.
    fileprivate static func wholeSeconds(
        _ range: ClosedRange<Int>,
        _ path: @escaping @autoclosure @Sendable () -> TransferOption.Path<Duration>
    ) -> Self {
        .other(
            .integer(range),
            read: { options, text in
                guard let number = Int(text), range.contains(number) else { return false }
                options[keyPath: path()] = .seconds(number)
                return true
            },
            texts: { ["\(Int64($0[keyPath: path()] / .seconds(1)))"] })
    }
}

extension Aria2Option {
    /// What holds for all downloads: files, rates, output, hooks, the service.
    static let files: [Aria2Option] = [
        .init(
            "version", "v", takes: .nothing,
            here: .honoured("prints the version, and that it is segget")),
        .init(
            "help", "h", as: "TAG|KEYWORD", takes: .keyword,
            here: .honoured("prints the options: all, or those with a word in their name")),
        .init(
            "timeout", "t", as: "SEC", takes: .number(1, 600), isForItems: true,
            here: .honoured("longest time without a byte on a connection, in seconds")),
        .init(
            "dns-timeout", takes: .number(1, 60), isHidden: true,
            here: .accepted("names are looked up by the system, without blocking")),
        .init(
            "connect-timeout", as: "SEC", takes: .number(1, 600), isForItems: true,
            here: .honoured("longest time to connect, in seconds")),
        .init(
            "max-tries", "m", as: "N", takes: .number(0, nil), isForItems: true,
            here: .honoured("attempts without progress, the first one included; 0 for no limit")),
        .init(
            "auto-save-interval", as: "SEC", takes: .number(0, 600),
            here: .accepted("what has arrived is recorded all the time")),
        .init(
            "log", "l", as: "LOG", takes: .path,
            here: .honoured("file that the log is appended to; `-` is standard output")),
        .init(
            "dir", "d", as: "DIR", takes: .path, isForItems: true,
            here: .honoured("folder of the files, made if it is missing")),
        .init(
            "out", "o", as: "FILE", takes: .path, isForItems: true,
            here: .honoured(
                "name of the file, relative to `--dir` even where it begins with a slash")),
        .init(
            "split", "s", as: "N", takes: .number(1, nil), isForItems: true,
            here: .honoured("most connections for one file")),
        .init(
            "daemon", "D", takes: .flag,
            here: .service("goes on in the background")),
        .init(
            "referer", as: "REFERER", takes: .text, isForItems: true,
            here: .honoured("the `Referer` field; `*` is the URL itself")),
        .init(
            "lowest-speed-limit", as: "SPEED", takes: .size(0, nil), isForItems: true,
            here: .honoured("slowest that a download may be, in bytes a second; 0 for any")),
        .init(
            "piece-length", as: "LENGTH", takes: .size(1 << 20, 1 << 30), isForItems: true,
            here: .accepted("ranges are cut where they pay, and checked as they arrive")),
        .init(
            "max-overall-download-limit", as: "SPEED", takes: .size(0, nil),
            here: .honoured("fastest that all downloads are together, in bytes a second; 0 for any")
        ),
        .init(
            "max-download-limit", as: "SPEED", takes: .size(0, nil), isForItems: true,
            here: .honoured("fastest that each download is, in bytes a second; 0 for any")),
        .init(
            "startup-idle-time", takes: .number(1, 60), isHidden: true,
            here: .accepted("the least speed has to hold for 30 s")),
        .init(
            "file-allocation", "a", as: "METHOD",
            takes: .choice(["none", "prealloc", "trunc", "falloc"]), isForItems: true,
            here: .honoured("how space for the file is provided for")),
        .init(
            "no-file-allocation-limit", as: "SIZE", takes: .size(0, nil), isForItems: true,
            here: .accepted("space for small files is reserved too, in no time")),
        .init(
            "allow-overwrite", takes: .flag, isForItems: true,
            here: .honoured("replaces a file that is there")),
        .init(
            "realtime-chunk-checksum", takes: .flag, isForItems: true,
            here: .accepted("ranges are cut where they pay, and checked as they arrive")),
        .init(
            "check-integrity", "V", takes: .flag, isForItems: true,
            here: .honoured(
                "compares a file that is there with `--checksum`, and fetches it anew where it differs"
            )),
        .init("netrc-path", as: "FILE", takes: .path, here: .honoured("the netrc file")),
        .init(
            "continue", "c", takes: .flag, isForItems: true,
            here: .honoured("goes on with a file that is there")),
        .init(
            "no-netrc", "n", takes: .flag, isForItems: true, here: .honoured("uses no netrc file")),
        .init(
            "input-file", "i", as: "FILE", takes: .path,
            here: .honoured("list of files to fetch; `-` is standard input")),
        .init(
            "deferred-input", takes: .flag,
            here: .accepted("memory and sockets are sized by themselves")),
        .init(
            "max-concurrent-downloads", "j", as: "N", takes: .number(1, nil),
            here: .honoured("files at a time")),
        .init(
            "optimize-concurrent-downloads", as: "true|false|A:B", takes: .concurrency,
            here: .accepted("connections are found by what they bring")),
        .init(
            "force-sequential", "Z", takes: .flag,
            here: .honoured("each URL of the command line is a file of its own")),
        .init(
            "auto-file-renaming", takes: .flag, isForItems: true,
            here: .honoured("numbers a file whose name is taken: `f.1.bin`")),
        .init(
            "parameterized-uri", "P", takes: .flag, isForItems: true,
            here: .honoured("expands `{a,b}`, `[1-10]` and `[a-z:2]` in URLs")),
        .init(
            "allow-piece-length-change", takes: .flag, isForItems: true,
            here: .accepted("ranges are cut where they pay, and checked as they arrive")),
        .init("no-conf", takes: .flag, here: .honoured("reads no configuration file")),
        .init(
            "conf-path", as: "PATH", takes: .text, here: .honoured("reads this configuration file")),
        .init(
            "stop", as: "SEC", takes: .number(0, Int64(Int32.max)),
            here: .honoured("ends the run after so many seconds; 0 for never")),
        .init("quiet", "q", takes: .flag, here: .honoured("prints nothing")),
        .init(
            "async-dns", takes: .flag, isForItems: true,
            here: .accepted("names are looked up by the system, without blocking")),
        .init(
            "summary-interval", as: "SEC", takes: .number(0, Int64(Int32.max)),
            here: .honoured("seconds between two summaries; 0 for none")),
        .init(
            "log-level", as: "LEVEL", takes: .choice(["debug", "info", "notice", "warn", "error"]),
            here: .honoured("from which level on lines go to the log")),
        .init(
            "console-log-level", as: "LEVEL",
            takes: .choice(["debug", "info", "notice", "warn", "error"]),
            here: .honoured("from which level on lines are printed")),
        .init(
            "uri-selector", as: "SELECTOR", takes: .choice(["inorder", "feedback", "adaptive"]),
            isForItems: true,
            here: .accepted("the faster server gets more work, as it is measured in this run")),
        .init(
            "server-stat-timeout", as: "SEC", takes: .number(0, Int64(Int32.max)),
            here: .accepted("the faster server gets more work, as it is measured in this run")),
        .init(
            "server-stat-if", as: "FILE", takes: .path,
            here: .accepted("the faster server gets more work, as it is measured in this run")),
        .init(
            "server-stat-of", as: "FILE", takes: .path,
            here: .accepted("the faster server gets more work, as it is measured in this run")),
        .init(
            "remote-time", "R", takes: .flag, isForItems: true,
            here: .honoured("gives the file the server's time")),
        .init(
            "max-file-not-found", as: "NUM", takes: .number(0, nil), isForItems: true,
            here: .honoured(
                "decides whether a file that is not there is code 3 or 4; it is asked for once")),
        .init(
            "event-poll", as: "POLL", takes: .choice(["epoll", "poll", "select"]),
            here: .accepted("memory and sockets are sized by themselves")),
        .init(
            "enable-rpc", takes: .flag,
            here: .service("answers JSON-RPC, and waits for more to do")),
        .init(
            "rpc-listen-port", as: "PORT", takes: .number(1024, 65535),
            here: .honoured("the port of JSON-RPC")),
        .init(
            "rpc-user", as: "USER", takes: .text,
            here: .accepted("with --enable-rpc it is refused: --rpc-secret takes its place")),
        .init(
            "rpc-passwd", as: "PASSWD", takes: .text,
            here: .accepted("with --enable-rpc it is refused: --rpc-secret takes its place")),
        .init(
            "rpc-max-request-size", as: "SIZE", takes: .size(0, nil),
            here: .honoured("most bytes of a call")),
        .init(
            "rpc-listen-all", takes: .flag,
            here: .honoured("lets other machines reach it")),
        .init(
            "rpc-allow-origin-all", takes: .flag,
            here: .honoured("lets pages of any origin call")),
        .init(
            "rpc-certificate", as: "FILE", takes: .path,
            here: .accepted("with --enable-rpc it is refused: TLS is a reverse proxy's work")),
        .init(
            "rpc-private-key", as: "FILE", takes: .path,
            here: .accepted("with --enable-rpc it is refused: TLS is a reverse proxy's work")),
        .init(
            "rpc-secure", takes: .flag,
            here: .accepted("with --enable-rpc it is refused: TLS is a reverse proxy's work")),
        .init(
            "rpc-save-upload-metadata", takes: .flag, isForItems: true,
            here: .accepted("it is about BitTorrent and Metalink")),
        .init(
            "dry-run", takes: .flag, isForItems: true,
            here: .honoured("asks whether the file is there, and fetches nothing")),
        .init(
            "reuse-uri", takes: .flag, isForItems: true,
            here: .accepted("the faster server gets more work, as it is measured in this run")),
        .init(
            "on-download-start", as: "COMMAND", takes: .path,
            here: .honoured("command for the beginning of a download")),
        .init(
            "on-download-pause", as: "COMMAND", takes: .path,
            here: .honoured("command for the pause of a download")),
        .init(
            "on-download-stop", as: "COMMAND", takes: .path,
            here: .honoured("command for an end that no other one is given for")),
        .init(
            "on-download-complete", as: "COMMAND", takes: .path,
            here: .honoured("command for a complete file")),
        .init(
            "on-download-error", as: "COMMAND", takes: .path,
            here: .honoured("command for a file that failed")),
        .init(
            "interface", as: "INTERFACE", takes: .text,
            here: .honoured("interface or address that connections go out from")),
        .init(
            "multiple-interface", as: "INTERFACES", takes: .text,
            here: .warned("connections go out from one interface: give --interface")),
        .init("disable-ipv6", takes: .flag, here: .honoured("uses IPv4 only")),
        .init(
            "human-readable", takes: .flag,
            here: .honoured("prints sizes as `1.1MiB`, not in bytes")),
        .init(
            "remove-control-file", takes: .flag, isForItems: true,
            here: .honoured("starts over, whatever an earlier run has left")),
        .init(
            "always-resume", takes: .flag, isForItems: true,
            here: .accepted("what cannot be continued is fetched from the start")),
        .init(
            "max-resume-failure-tries", as: "N", takes: .number(0, nil), isForItems: true,
            here: .accepted("what cannot be continued is fetched from the start")),
        .init(
            "save-session", as: "FILE", takes: .path,
            here: .honoured("file that gets what is unfinished in the end")),
        .init(
            "max-connection-per-server", "x", as: "NUM", takes: .number(1, 16), isForItems: true,
            here: .honoured("most connections to one host for one file")),
        .init(
            "min-split-size", "k", as: "SIZE", takes: .size(1 << 20, 1 << 30), isForItems: true,
            here: .honoured("fewest bytes that a connection is worth")),
        .init(
            "conditional-get", takes: .flag, isForItems: true,
            here: .honoured(
                "fetches a file only where the server's is newer; needs `--allow-overwrite`")),
        .init(
            "select-least-used-host", takes: .flag, isHidden: true,
            here: .accepted("the faster server gets more work, as it is measured in this run")),
        .init(
            "enable-async-dns6", takes: .flag, isForItems: true,
            here: .accepted("names are looked up by the system, without blocking")),
        .init(
            "max-download-result", as: "NUM", takes: .number(0, nil),
            here: .accepted("memory and sockets are sized by themselves")),
        .init(
            "retry-wait", as: "SEC", takes: .number(0, 600), isForItems: true,
            here: .honoured("shortest time between two attempts, in seconds")),
        .init(
            "async-dns-server", as: "IPADDRESS[,...]", takes: .text,
            here: .warned("the servers of the system are asked for names")),
        .init(
            "show-console-readout", takes: .flag,
            here: .honoured("prints once a second how far the downloads are")),
        .init(
            "stream-piece-selector", as: "SELECTOR",
            takes: .choice(["default", "inorder", "random", "geom"]), isForItems: true,
            here: .accepted("ranges are cut where they pay, and checked as they arrive")),
        .init(
            "truncate-console-readout", takes: .flag,
            here: .honoured("cuts that line to the width of the terminal")),
        .init(
            "pause", takes: .flag, isForItems: true,
            here: .accepted("without --enable-rpc nothing starts paused")),
        .init(
            "download-result", as: "OPT", takes: .choice(["default", "full", "hide"]),
            here: .honoured("the table at the end: `default`, `full` or `hide`")),
        .init(
            "hash-check-only", takes: .flag, isForItems: true,
            here: .honoured("compares a file that is there with `--checksum`, and fetches nothing")),
        .init(
            "checksum", as: "TYPE=DIGEST", takes: .checksum, isForItems: true,
            here: .honoured("the digest that the file must have")),
        .init(
            "stop-with-process", as: "PID", takes: .number(0, nil),
            here: .honoured("ends the run when this process has ended")),
        .init(
            "enable-mmap", takes: .flag, isForItems: true,
            here: .accepted("memory and sockets are sized by themselves")),
        .init(
            "force-save", takes: .flag, isForItems: true,
            here: .honoured("has the session file hold what is complete too")),
        .init(
            "save-not-found", takes: .flag, isForItems: true,
            here: .honoured("has the session file hold what the server does not have")),
        .init(
            "disk-cache", as: "SIZE", takes: .size(0, nil),
            here: .accepted("memory and sockets are sized by themselves")),
        .init(
            "gid", as: "GID", takes: .text, isForItems: true,
            here: .honoured("what the download is known by: 16 hexadecimal digits")),
        .init(
            "save-session-interval", as: "SEC", takes: .number(0, nil),
            here: .honoured(
                "seconds between two times that the session file is written; 0 for the end only")),
        .init("enable-color", takes: .flag, here: .honoured("uses colours on a terminal")),
        .init(
            "rpc-secret", as: "TOKEN", takes: .text,
            here: .honoured("what clients have to know")),
        .init("dscp", as: "DSCP", takes: .number(0, nil), here: .warned("packets are not marked")),
        .init(
            "pause-metadata", takes: .flag, isForItems: true,
            here: .accepted("it is about BitTorrent, which segget does not speak")),
        .init(
            "rlimit-nofile", as: "NUM", takes: .number(1, nil),
            here: .accepted("memory and sockets are sized by themselves")),
        .init(
            "min-tls-version", as: "VERSION", takes: .choice(["TLSv1.1", "TLSv1.2", "TLSv1.3"]),
            here: .honoured("the lowest version of TLS; 1.2 at least")),
        .init(
            "socket-recv-buffer-size", as: "SIZE", takes: .size(0, 16 << 20),
            here: .accepted("memory and sockets are sized by themselves")),
        .init(
            "max-mmap-limit", as: "SIZE", takes: .size(0, nil), isForItems: true,
            here: .accepted("memory and sockets are sized by themselves")),
        .init("stderr", takes: .flag, here: .honoured("prints to standard error")),
        .init(
            "keep-unfinished-download-result", takes: .flag,
            here: .accepted("memory and sockets are sized by themselves")),
    ]
}

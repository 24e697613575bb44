extension Aria2Option {
    /// The general options: files, rates, output, hooks, the service.
    static let files: [Aria2Option] = [
        .init(
            "version", "v", takes: .nothing,
            here: .honoured("prints the version, and the name segget")),
        .init(
            "help", "h", as: "TAG|KEYWORD", takes: .keyword,
            here: .honoured("prints the options: all, or those with a word in their name")),
        .init(
            "timeout", "t", as: "SEC", takes: .number(1, 600), isForItems: true,
            here: .honoured("longest time without a byte on a connection, in seconds")),
        .init(
            "dns-timeout", takes: .number(1, 60), isHidden: true,
            here: .accepted("the system resolves names, without blocking")),
        .init(
            "connect-timeout", as: "SEC", takes: .number(1, 600), isForItems: true,
            here: .honoured("longest time to connect, in seconds")),
        .init(
            "max-tries", "m", as: "N", takes: .number(0, nil), isForItems: true,
            here: .honoured("attempts without progress, including the first; 0 for no limit")),
        .init(
            "auto-save-interval", as: "SEC", takes: .number(0, 600),
            here: .accepted("segget records received bytes continuously")),
        .init(
            "log", "l", as: "LOG", takes: .path,
            here: .honoured("file that the log is appended to; `-` is standard output")),
        .init(
            "dir", "d", as: "DIR", takes: .path, isForItems: true,
            here: .honoured("folder for the files, created if it is missing")),
        .init(
            "out", "o", as: "FILE", takes: .path, isForItems: true,
            here: .honoured(
                "name of the file, relative to `--dir` even if it begins with a slash")),
        .init(
            "split", "s", as: "N", takes: .number(1, nil), isForItems: true,
            here: .honoured("most connections for one file")),
        .init(
            "daemon", "D", takes: .flag,
            here: .service("continues in the background")),
        .init(
            "referer", as: "REFERER", takes: .text, isForItems: true,
            here: .honoured("the `Referer` field; `*` is the URL itself")),
        .init(
            "lowest-speed-limit", as: "SPEED", takes: .size(0, nil), isForItems: true,
            here: .honoured("lowest rate of a download, in bytes per second; 0 for no limit")),
        .init(
            "piece-length", as: "LENGTH", takes: .size(1 << 20, 1 << 30), isForItems: true,
            here: .accepted("segget chooses the ranges, and checks them as they arrive")),
        .init(
            "max-overall-download-limit", as: "SPEED", takes: .size(0, nil),
            here: .honoured(
                "highest rate of all downloads together, in bytes per second; 0 for no limit")
        ),
        .init(
            "max-download-limit", as: "SPEED", takes: .size(0, nil), isForItems: true,
            here: .honoured("highest rate of each download, in bytes per second; 0 for no limit")),
        .init(
            "startup-idle-time", takes: .number(1, 60), isHidden: true,
            here: .accepted("the lowest rate applies over 30 s")),
        .init(
            "file-allocation", "a", as: "METHOD",
            takes: .choice(["none", "prealloc", "trunc", "falloc"]), isForItems: true,
            here: .honoured("how to reserve space for the file")),
        .init(
            "no-file-allocation-limit", as: "SIZE", takes: .size(0, nil), isForItems: true,
            here: .accepted("space for small files is also reserved, which takes no time")),
        .init(
            "allow-overwrite", takes: .flag, isForItems: true,
            here: .honoured("replaces an existing file")),
        .init(
            "realtime-chunk-checksum", takes: .flag, isForItems: true,
            here: .accepted("segget chooses the ranges, and checks them as they arrive")),
        .init(
            "check-integrity", "V", takes: .flag, isForItems: true,
            here: .honoured(
                "compares an existing file with `--checksum`, and downloads it again if it differs"
            )),
        .init("netrc-path", as: "FILE", takes: .path, here: .honoured("the netrc file")),
        .init(
            "continue", "c", takes: .flag, isForItems: true,
            here: .honoured("continues an existing file")),
        .init(
            "no-netrc", "n", takes: .flag, isForItems: true, here: .honoured("uses no netrc file")),
        .init(
            "input-file", "i", as: "FILE", takes: .path,
            here: .honoured("list of files to download; `-` is standard input")),
        .init(
            "deferred-input", takes: .flag,
            here: .accepted("segget sizes memory and sockets itself")),
        .init(
            "max-concurrent-downloads", "j", as: "N", takes: .number(1, nil),
            here: .honoured("number of files to download at a time")),
        .init(
            "optimize-concurrent-downloads", as: "true|false|A:B", takes: .concurrency,
            here: .accepted("segget chooses the number of connections by throughput")),
        .init(
            "force-sequential", "Z", takes: .flag,
            here: .honoured("each URL of the command line is a separate file")),
        .init(
            "auto-file-renaming", takes: .flag, isForItems: true,
            here: .honoured("adds a number if the name is taken: `f.1.bin`")),
        .init(
            "parameterized-uri", "P", takes: .flag, isForItems: true,
            here: .honoured("expands `{a,b}`, `[1-10]` and `[a-z:2]` in URLs")),
        .init(
            "allow-piece-length-change", takes: .flag, isForItems: true,
            here: .accepted("segget chooses the ranges, and checks them as they arrive")),
        .init("no-conf", takes: .flag, here: .honoured("reads no configuration file")),
        .init(
            "conf-path", as: "PATH", takes: .text, here: .honoured("reads this configuration file")),
        .init(
            "stop", as: "SEC", takes: .number(0, Int64(Int32.max)),
            here: .honoured("ends the run after this many seconds; 0 for never")),
        .init("quiet", "q", takes: .flag, here: .honoured("prints nothing")),
        .init(
            "async-dns", takes: .flag, isForItems: true,
            here: .accepted("the system resolves names, without blocking")),
        .init(
            "summary-interval", as: "SEC", takes: .number(0, Int64(Int32.max)),
            here: .honoured("seconds between two summaries; 0 for none")),
        .init(
            "log-level", as: "LEVEL", takes: .choice(["debug", "info", "notice", "warn", "error"]),
            here: .honoured("lowest level of lines in the log")),
        .init(
            "console-log-level", as: "LEVEL",
            takes: .choice(["debug", "info", "notice", "warn", "error"]),
            here: .honoured("lowest level of lines that are printed")),
        .init(
            "uri-selector", as: "SELECTOR", takes: .choice(["inorder", "feedback", "adaptive"]),
            isForItems: true,
            here: .accepted("the faster server gets more work, by this run's measurements")),
        .init(
            "server-stat-timeout", as: "SEC", takes: .number(0, Int64(Int32.max)),
            here: .accepted("the faster server gets more work, by this run's measurements")),
        .init(
            "server-stat-if", as: "FILE", takes: .path,
            here: .accepted("the faster server gets more work, by this run's measurements")),
        .init(
            "server-stat-of", as: "FILE", takes: .path,
            here: .accepted("the faster server gets more work, by this run's measurements")),
        .init(
            "remote-time", "R", takes: .flag, isForItems: true,
            here: .honoured("gives the file the time of the server's `Last-Modified`")),
        .init(
            "max-file-not-found", as: "NUM", takes: .number(0, nil), isForItems: true,
            here: .honoured(
                "decides between exit codes 3 and 4 for a missing file; segget requests it once")),
        .init(
            "event-poll", as: "POLL", takes: .choice(["epoll", "poll", "select"]),
            here: .accepted("segget sizes memory and sockets itself")),
        .init(
            "enable-rpc", takes: .flag,
            here: .service("serves JSON-RPC, and waits for more downloads")),
        .init(
            "rpc-listen-port", as: "PORT", takes: .number(1024, 65535),
            here: .honoured("the port of JSON-RPC")),
        .init(
            "rpc-user", as: "USER", takes: .text,
            here: .accepted("refused with --enable-rpc; use --rpc-secret instead")),
        .init(
            "rpc-passwd", as: "PASSWD", takes: .text,
            here: .accepted("refused with --enable-rpc; use --rpc-secret instead")),
        .init(
            "rpc-max-request-size", as: "SIZE", takes: .size(0, nil),
            here: .honoured("largest request, in bytes")),
        .init(
            "rpc-listen-all", takes: .flag,
            here: .honoured("listens on all interfaces")),
        .init(
            "rpc-allow-origin-all", takes: .flag,
            here: .honoured("accepts requests from web pages of any origin")),
        .init(
            "rpc-certificate", as: "FILE", takes: .path,
            here: .accepted("refused with --enable-rpc; use a reverse proxy for TLS")),
        .init(
            "rpc-private-key", as: "FILE", takes: .path,
            here: .accepted("refused with --enable-rpc; use a reverse proxy for TLS")),
        .init(
            "rpc-secure", takes: .flag,
            here: .accepted("refused with --enable-rpc; use a reverse proxy for TLS")),
        .init(
            "rpc-save-upload-metadata", takes: .flag, isForItems: true,
            here: .accepted("it is about BitTorrent and Metalink")),
        .init(
            "dry-run", takes: .flag, isForItems: true,
            here: .honoured("checks that the file exists, and downloads nothing")),
        .init(
            "reuse-uri", takes: .flag, isForItems: true,
            here: .accepted("the faster server gets more work, by this run's measurements")),
        .init(
            "on-download-start", as: "COMMAND", takes: .path,
            here: .honoured("command to run when a download starts")),
        .init(
            "on-download-pause", as: "COMMAND", takes: .path,
            here: .honoured("command to run when a download is paused")),
        .init(
            "on-download-stop", as: "COMMAND", takes: .path,
            here: .honoured("command to run when a download ends and no other command is given")),
        .init(
            "on-download-complete", as: "COMMAND", takes: .path,
            here: .honoured("command to run when a file is complete")),
        .init(
            "on-download-error", as: "COMMAND", takes: .path,
            here: .honoured("command to run when a file fails")),
        .init(
            "interface", as: "INTERFACE", takes: .text,
            here: .honoured("interface or address to connect from")),
        .init(
            "multiple-interface", as: "INTERFACES", takes: .text,
            here: .warned("segget uses one interface; give --interface")),
        .init("disable-ipv6", takes: .flag, here: .honoured("uses IPv4 only")),
        .init(
            "human-readable", takes: .flag,
            here: .honoured("prints sizes as `1.1MiB` instead of in bytes")),
        .init(
            "remove-control-file", takes: .flag, isForItems: true,
            here: .honoured("starts over instead of resuming an earlier run")),
        .init(
            "always-resume", takes: .flag, isForItems: true,
            here: .accepted("files that cannot be continued are downloaded from the start")),
        .init(
            "max-resume-failure-tries", as: "N", takes: .number(0, nil), isForItems: true,
            here: .accepted("files that cannot be continued are downloaded from the start")),
        .init(
            "save-session", as: "FILE", takes: .path,
            here: .honoured("file to save unfinished downloads in")),
        .init(
            "max-connection-per-server", "x", as: "NUM", takes: .number(1, 16), isForItems: true,
            here: .honoured("most connections to one host for one file")),
        .init(
            "min-split-size", "k", as: "SIZE", takes: .size(1 << 20, 1 << 30), isForItems: true,
            here: .honoured("fewest bytes to open a further connection for")),
        .init(
            "conditional-get", takes: .flag, isForItems: true,
            here: .honoured(
                "downloads a file only if the server's is newer; requires `--allow-overwrite`")),
        .init(
            "select-least-used-host", takes: .flag, isHidden: true,
            here: .accepted("the faster server gets more work, by this run's measurements")),
        .init(
            "enable-async-dns6", takes: .flag, isForItems: true,
            here: .accepted("the system resolves names, without blocking")),
        .init(
            "max-download-result", as: "NUM", takes: .number(0, nil),
            here: .accepted("segget sizes memory and sockets itself")),
        .init(
            "retry-wait", as: "SEC", takes: .number(0, 600), isForItems: true,
            here: .honoured("shortest time between two attempts, in seconds")),
        .init(
            "async-dns-server", as: "IPADDRESS[,...]", takes: .text,
            here: .warned("segget uses the system's DNS servers")),
        .init(
            "show-console-readout", takes: .flag,
            here: .honoured("prints the progress once a second")),
        .init(
            "stream-piece-selector", as: "SELECTOR",
            takes: .choice(["default", "inorder", "random", "geom"]), isForItems: true,
            here: .accepted("segget chooses the ranges, and checks them as they arrive")),
        .init(
            "truncate-console-readout", takes: .flag,
            here: .honoured("truncates the progress line to the width of the terminal")),
        .init(
            "pause", takes: .flag, isForItems: true,
            here: .accepted("without --enable-rpc, no download starts paused")),
        .init(
            "download-result", as: "OPT", takes: .choice(["default", "full", "hide"]),
            here: .honoured("the table at the end: `default`, `full` or `hide`")),
        .init(
            "hash-check-only", takes: .flag, isForItems: true,
            here: .honoured("compares an existing file with `--checksum`, and downloads nothing")),
        .init(
            "checksum", as: "TYPE=DIGEST", takes: .checksum, isForItems: true,
            here: .honoured("the digest that the file must have")),
        .init(
            "stop-with-process", as: "PID", takes: .number(0, nil),
            here: .honoured("ends the run when this process ends")),
        .init(
            "enable-mmap", takes: .flag, isForItems: true,
            here: .accepted("segget sizes memory and sockets itself")),
        .init(
            "force-save", takes: .flag, isForItems: true,
            here: .honoured("keeps completed downloads in the session file too")),
        .init(
            "save-not-found", takes: .flag, isForItems: true,
            here: .honoured("keeps downloads that the server does not have in the session file")),
        .init(
            "disk-cache", as: "SIZE", takes: .size(0, nil),
            here: .accepted("segget sizes memory and sockets itself")),
        .init(
            "gid", as: "GID", takes: .text, isForItems: true,
            here: .honoured("identifier of the download: 16 hexadecimal digits")),
        .init(
            "save-session-interval", as: "SEC", takes: .number(0, nil),
            here: .honoured(
                "seconds between two writes of the session file; 0 to write only at the end")),
        .init("enable-color", takes: .flag, here: .honoured("uses colours on a terminal")),
        .init(
            "rpc-secret", as: "TOKEN", takes: .text,
            here: .honoured("secret that clients must send")),
        .init(
            "dscp", as: "DSCP", takes: .number(0, nil),
            here: .warned("segget does not mark packets")),
        .init(
            "pause-metadata", takes: .flag, isForItems: true,
            here: .accepted("it is about BitTorrent, which segget does not support")),
        .init(
            "rlimit-nofile", as: "NUM", takes: .number(1, nil),
            here: .accepted("segget sizes memory and sockets itself")),
        .init(
            "min-tls-version", as: "VERSION", takes: .choice(["TLSv1.1", "TLSv1.2", "TLSv1.3"]),
            here: .honoured("lowest version of TLS; at least 1.2")),
        .init(
            "socket-recv-buffer-size", as: "SIZE", takes: .size(0, 16 << 20),
            here: .accepted("segget sizes memory and sockets itself")),
        .init(
            "max-mmap-limit", as: "SIZE", takes: .size(0, nil), isForItems: true,
            here: .accepted("segget sizes memory and sockets itself")),
        .init("stderr", takes: .flag, here: .honoured("prints to standard error")),
        .init(
            "keep-unfinished-download-result", takes: .flag,
            here: .accepted("segget sizes memory and sockets itself")),
    ]
}

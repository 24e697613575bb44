extension Aria2Option {
    /// What holds for all downloads: files, rates, output, hooks, the service.
    static let files: [Aria2Option] = [
        .init("version", "v", takes: .nothing, here: .honoured),
        .init("help", "h", as: "TAG|KEYWORD", takes: .keyword, here: .honoured),
        .init("timeout", "t", as: "SEC", takes: .number(1, 600), isForItems: true, here: .honoured),
        .init(
            "dns-timeout", takes: .number(1, 60), isHidden: true,
            here: .accepted("names are looked up by the system, without blocking")),
        .init(
            "connect-timeout", as: "SEC", takes: .number(1, 600), isForItems: true, here: .honoured),
        .init("max-tries", "m", as: "N", takes: .number(0, nil), isForItems: true, here: .honoured),
        .init(
            "auto-save-interval", as: "SEC", takes: .number(0, 600),
            here: .accepted("what has arrived is recorded all the time")),
        .init("log", "l", as: "LOG", takes: .path, here: .honoured),
        .init("dir", "d", as: "DIR", takes: .path, isForItems: true, here: .honoured),
        .init("out", "o", as: "FILE", takes: .path, isForItems: true, here: .honoured),
        .init("split", "s", as: "N", takes: .number(1, nil), isForItems: true, here: .honoured),
        .init("daemon", "D", takes: .flag, here: .service),
        .init("referer", as: "REFERER", takes: .text, isForItems: true, here: .honoured),
        .init(
            "lowest-speed-limit", as: "SPEED", takes: .size(0, nil), isForItems: true,
            here: .honoured),
        .init(
            "piece-length", as: "LENGTH", takes: .size(1 << 20, 1 << 30), isForItems: true,
            here: .accepted("ranges are cut where they pay, and checked as they arrive")),
        .init("max-overall-download-limit", as: "SPEED", takes: .size(0, nil), here: .honoured),
        .init(
            "max-download-limit", as: "SPEED", takes: .size(0, nil), isForItems: true,
            here: .honoured),
        .init(
            "startup-idle-time", takes: .number(1, 60), isHidden: true,
            here: .accepted("the least speed has to hold for 30 s")),
        .init(
            "file-allocation", "a", as: "METHOD",
            takes: .choice(["none", "prealloc", "trunc", "falloc"]), isForItems: true,
            here: .honoured),
        .init(
            "no-file-allocation-limit", as: "SIZE", takes: .size(0, nil), isForItems: true,
            here: .accepted("space for small files is reserved too, in no time")),
        .init("allow-overwrite", takes: .flag, isForItems: true, here: .honoured),
        .init(
            "realtime-chunk-checksum", takes: .flag, isForItems: true,
            here: .accepted("ranges are cut where they pay, and checked as they arrive")),
        .init("check-integrity", "V", takes: .flag, isForItems: true, here: .honoured),
        .init("netrc-path", as: "FILE", takes: .path, here: .honoured),
        .init("continue", "c", takes: .flag, isForItems: true, here: .honoured),
        .init("no-netrc", "n", takes: .flag, isForItems: true, here: .honoured),
        .init("input-file", "i", as: "FILE", takes: .path, here: .honoured),
        .init(
            "deferred-input", takes: .flag,
            here: .accepted("memory and sockets are sized by themselves")),
        .init("max-concurrent-downloads", "j", as: "N", takes: .number(1, nil), here: .honoured),
        .init(
            "optimize-concurrent-downloads", as: "true|false|A:B", takes: .concurrency,
            here: .accepted("connections are found by what they bring")),
        .init("force-sequential", "Z", takes: .flag, here: .honoured),
        .init("auto-file-renaming", takes: .flag, isForItems: true, here: .honoured),
        .init("parameterized-uri", "P", takes: .flag, isForItems: true, here: .honoured),
        .init(
            "allow-piece-length-change", takes: .flag, isForItems: true,
            here: .accepted("ranges are cut where they pay, and checked as they arrive")),
        .init("no-conf", takes: .flag, here: .honoured),
        .init("conf-path", as: "PATH", takes: .text, here: .honoured),
        .init("stop", as: "SEC", takes: .number(0, Int64(Int32.max)), here: .honoured),
        .init("quiet", "q", takes: .flag, here: .honoured),
        .init(
            "async-dns", takes: .flag, isForItems: true,
            here: .accepted("names are looked up by the system, without blocking")),
        .init("summary-interval", as: "SEC", takes: .number(0, Int64(Int32.max)), here: .honoured),
        .init(
            "log-level", as: "LEVEL", takes: .choice(["debug", "info", "notice", "warn", "error"]),
            here: .honoured),
        .init(
            "console-log-level", as: "LEVEL",
            takes: .choice(["debug", "info", "notice", "warn", "error"]), here: .honoured),
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
        .init("remote-time", "R", takes: .flag, isForItems: true, here: .honoured),
        .init(
            "max-file-not-found", as: "NUM", takes: .number(0, nil), isForItems: true,
            here: .honoured),
        .init(
            "event-poll", as: "POLL", takes: .choice(["epoll", "poll", "select"]),
            here: .accepted("memory and sockets are sized by themselves")),
        .init("enable-rpc", takes: .flag, here: .service),
        .init(
            "rpc-listen-port", as: "PORT", takes: .number(1024, 65535),
            here: .accepted("it is about the service, which is not on")),
        .init(
            "rpc-user", as: "USER", takes: .text,
            here: .accepted("it is about the service, which is not on")),
        .init(
            "rpc-passwd", as: "PASSWD", takes: .text,
            here: .accepted("it is about the service, which is not on")),
        .init(
            "rpc-max-request-size", as: "SIZE", takes: .size(0, nil),
            here: .accepted("it is about the service, which is not on")),
        .init(
            "rpc-listen-all", takes: .flag,
            here: .accepted("it is about the service, which is not on")),
        .init(
            "rpc-allow-origin-all", takes: .flag,
            here: .accepted("it is about the service, which is not on")),
        .init(
            "rpc-certificate", as: "FILE", takes: .path,
            here: .accepted("it is about the service, which is not on")),
        .init(
            "rpc-private-key", as: "FILE", takes: .path,
            here: .accepted("it is about the service, which is not on")),
        .init(
            "rpc-secure", takes: .flag, here: .accepted("it is about the service, which is not on")),
        .init(
            "rpc-save-upload-metadata", takes: .flag, isForItems: true,
            here: .accepted("it is about the service, which is not on")),
        .init("dry-run", takes: .flag, isForItems: true, here: .honoured),
        .init(
            "reuse-uri", takes: .flag, isForItems: true,
            here: .accepted("the faster server gets more work, as it is measured in this run")),
        .init("on-download-start", as: "COMMAND", takes: .path, here: .honoured),
        .init(
            "on-download-pause", as: "COMMAND", takes: .path,
            here: .accepted("without the service nothing pauses")),
        .init("on-download-stop", as: "COMMAND", takes: .path, here: .honoured),
        .init("on-download-complete", as: "COMMAND", takes: .path, here: .honoured),
        .init("on-download-error", as: "COMMAND", takes: .path, here: .honoured),
        .init("interface", as: "INTERFACE", takes: .text, here: .honoured),
        .init(
            "multiple-interface", as: "INTERFACES", takes: .text,
            here: .warned("connections go out from one interface: give --interface")),
        .init("disable-ipv6", takes: .flag, here: .honoured),
        .init("human-readable", takes: .flag, here: .honoured),
        .init("remove-control-file", takes: .flag, isForItems: true, here: .honoured),
        .init(
            "always-resume", takes: .flag, isForItems: true,
            here: .accepted("what cannot be continued is fetched from the start")),
        .init(
            "max-resume-failure-tries", as: "N", takes: .number(0, nil), isForItems: true,
            here: .accepted("what cannot be continued is fetched from the start")),
        .init("save-session", as: "FILE", takes: .path, here: .honoured),
        .init(
            "max-connection-per-server", "x", as: "NUM", takes: .number(1, 16), isForItems: true,
            here: .honoured),
        .init(
            "min-split-size", "k", as: "SIZE", takes: .size(1 << 20, 1 << 30), isForItems: true,
            here: .honoured),
        .init("conditional-get", takes: .flag, isForItems: true, here: .honoured),
        .init(
            "select-least-used-host", takes: .flag, isHidden: true,
            here: .accepted("the faster server gets more work, as it is measured in this run")),
        .init(
            "enable-async-dns6", takes: .flag, isForItems: true,
            here: .accepted("names are looked up by the system, without blocking")),
        .init(
            "max-download-result", as: "NUM", takes: .number(0, nil),
            here: .accepted("memory and sockets are sized by themselves")),
        .init("retry-wait", as: "SEC", takes: .number(0, 600), isForItems: true, here: .honoured),
        .init(
            "async-dns-server", as: "IPADDRESS[,...]", takes: .text,
            here: .warned("the servers of the system are asked for names")),
        .init("show-console-readout", takes: .flag, here: .honoured),
        .init(
            "stream-piece-selector", as: "SELECTOR",
            takes: .choice(["default", "inorder", "random", "geom"]), isForItems: true,
            here: .accepted("ranges are cut where they pay, and checked as they arrive")),
        .init("truncate-console-readout", takes: .flag, here: .honoured),
        .init(
            "pause", takes: .flag, isForItems: true,
            here: .accepted("without the service nothing starts paused")),
        .init(
            "download-result", as: "OPT", takes: .choice(["default", "full", "hide"]),
            here: .honoured),
        .init("hash-check-only", takes: .flag, isForItems: true, here: .honoured),
        .init("checksum", as: "TYPE=DIGEST", takes: .checksum, isForItems: true, here: .honoured),
        .init("stop-with-process", as: "PID", takes: .number(0, nil), here: .honoured),
        .init(
            "enable-mmap", takes: .flag, isForItems: true,
            here: .accepted("memory and sockets are sized by themselves")),
        .init("force-save", takes: .flag, isForItems: true, here: .honoured),
        .init("save-not-found", takes: .flag, isForItems: true, here: .honoured),
        .init(
            "disk-cache", as: "SIZE", takes: .size(0, nil),
            here: .accepted("memory and sockets are sized by themselves")),
        .init("gid", as: "GID", takes: .text, isForItems: true, here: .honoured),
        .init("save-session-interval", as: "SEC", takes: .number(0, nil), here: .honoured),
        .init("enable-color", takes: .flag, here: .honoured),
        .init(
            "rpc-secret", as: "TOKEN", takes: .text,
            here: .accepted("it is about the service, which is not on")),
        .init("dscp", as: "DSCP", takes: .number(0, nil), here: .warned("packets are not marked")),
        .init(
            "pause-metadata", takes: .flag, isForItems: true,
            here: .accepted("it is about BitTorrent, which segget does not speak")),
        .init(
            "rlimit-nofile", as: "NUM", takes: .number(1, nil),
            here: .accepted("memory and sockets are sized by themselves")),
        .init(
            "min-tls-version", as: "VERSION", takes: .choice(["TLSv1.1", "TLSv1.2", "TLSv1.3"]),
            here: .honoured),
        .init(
            "socket-recv-buffer-size", as: "SIZE", takes: .size(0, 16 << 20),
            here: .accepted("memory and sockets are sized by themselves")),
        .init(
            "max-mmap-limit", as: "SIZE", takes: .size(0, nil), isForItems: true,
            here: .accepted("memory and sockets are sized by themselves")),
        .init("stderr", takes: .flag, here: .honoured),
        .init(
            "keep-unfinished-download-result", takes: .flag,
            here: .accepted("memory and sockets are sized by themselves")),
    ]
}

extension Aria2Option {
    /// The options for BitTorrent and Metalink.
    static let torrents: [Aria2Option] = [
        .init(
            "peer-connection-timeout", takes: .number(1, 600), isHidden: true,
            here: .accepted("it is about BitTorrent, which segget does not support")),
        .init(
            "bt-timeout", takes: .number(1, 600), isHidden: true,
            here: .accepted("it is about BitTorrent, which segget does not support")),
        .init(
            "bt-request-timeout", takes: .number(1, 600), isHidden: true,
            here: .accepted("it is about BitTorrent, which segget does not support")),
        .init(
            "show-files", "S", takes: .flag,
            here: .refused("this shows BitTorrent and Metalink files: use aria2c for it")),
        .init(
            "max-overall-upload-limit", as: "SPEED", takes: .size(0, nil),
            here: .accepted("it is about BitTorrent, which segget does not support")),
        .init(
            "max-upload-limit", "u", as: "SPEED", takes: .size(0, nil), isForItems: true,
            here: .accepted("it is about BitTorrent, which segget does not support")),
        .init(
            "torrent-file", "T", as: "TORRENT_FILE", takes: .path,
            here: .refused("this is BitTorrent: use aria2c for it")),
        .init(
            "listen-port", as: "PORT...", takes: .ranges(1024, 65535),
            here: .accepted("it is about BitTorrent, which segget does not support")),
        .init(
            "follow-torrent", as: "true|false|mem", takes: .choice(["true", "mem", "false"]),
            isForItems: true,
            here: .accepted("it is about BitTorrent, which segget does not support")
        ),
        .init(
            "select-file", as: "INDEX...", takes: .ranges(1, 1048576), isForItems: true,
            here: .accepted("it is about BitTorrent, which segget does not support")),
        .init(
            "seed-time", as: "MINUTES", takes: .decimal(0), isForItems: true,
            here: .accepted("it is about BitTorrent, which segget does not support")),
        .init(
            "seed-ratio", as: "RATIO", takes: .decimal(0), isForItems: true,
            here: .accepted("it is about BitTorrent, which segget does not support")),
        .init(
            "bt-keep-alive-interval", takes: .number(1, 120), isHidden: true,
            here: .accepted("it is about BitTorrent, which segget does not support")),
        .init(
            "peer-id-prefix", as: "PEER_ID_PREFIX", takes: .text,
            here: .accepted("it is about BitTorrent, which segget does not support")),
        .init(
            "peer-agent", as: "PEER_AGENT", takes: .text,
            here: .accepted("it is about BitTorrent, which segget does not support")),
        .init(
            "enable-peer-exchange", takes: .flag, isForItems: true,
            here: .accepted("it is about BitTorrent, which segget does not support")),
        .init(
            "enable-dht", takes: .flag,
            here: .accepted("it is about BitTorrent, which segget does not support")),
        .init(
            "dht-listen-addr", takes: .text, isHidden: true,
            here: .accepted("it is about BitTorrent, which segget does not support")),
        .init(
            "dht-listen-port", as: "PORT...", takes: .ranges(1024, 65535),
            here: .accepted("it is about BitTorrent, which segget does not support")),
        .init(
            "dht-entry-point", as: "HOST:PORT", takes: .hostPort,
            here: .accepted("it is about BitTorrent, which segget does not support")),
        .init(
            "dht-file-path", as: "PATH", takes: .path,
            here: .accepted("it is about BitTorrent, which segget does not support")),
        .init(
            "enable-dht6", takes: .flag,
            here: .accepted("it is about BitTorrent, which segget does not support")),
        .init(
            "dht-listen-addr6", as: "ADDR", takes: .text,
            here: .accepted("it is about BitTorrent, which segget does not support")),
        .init(
            "dht-entry-point6", as: "HOST:PORT", takes: .hostPort,
            here: .accepted("it is about BitTorrent, which segget does not support")),
        .init(
            "dht-file-path6", as: "PATH", takes: .path,
            here: .accepted("it is about BitTorrent, which segget does not support")),
        .init(
            "bt-min-crypto-level", as: "plain|arc4", takes: .choice(["plain", "arc4"]),
            isForItems: true,
            here: .accepted("it is about BitTorrent, which segget does not support")
        ),
        .init(
            "bt-require-crypto", takes: .flag, isForItems: true,
            here: .accepted("it is about BitTorrent, which segget does not support")),
        .init(
            "bt-request-peer-speed-limit", as: "SPEED", takes: .size(0, nil), isForItems: true,
            here: .accepted("it is about BitTorrent, which segget does not support")),
        .init(
            "bt-max-open-files", as: "NUM", takes: .number(1, nil),
            here: .accepted("it is about BitTorrent, which segget does not support")),
        .init(
            "bt-seed-unverified", takes: .flag, isForItems: true,
            here: .accepted("it is about BitTorrent, which segget does not support")),
        .init(
            "bt-hash-check-seed", takes: .flag, isForItems: true,
            here: .accepted("it is about BitTorrent, which segget does not support")),
        .init(
            "bt-max-peers", as: "NUM", takes: .number(0, nil), isForItems: true,
            here: .accepted("it is about BitTorrent, which segget does not support")),
        .init(
            "bt-external-ip", as: "IPADDRESS", takes: .text, isForItems: true,
            here: .accepted("it is about BitTorrent, which segget does not support")),
        .init(
            "index-out", "O", as: "INDEX=PATH", takes: .indexPath, isForItems: true,
            here: .accepted("it is about BitTorrent, which segget does not support")),
        .init(
            "bt-tracker-interval", as: "SEC", takes: .number(0, nil), isForItems: true,
            here: .accepted("it is about BitTorrent, which segget does not support")),
        .init(
            "bt-stop-timeout", as: "SEC", takes: .number(0, nil), isForItems: true,
            here: .accepted("it is about BitTorrent, which segget does not support")),
        .init(
            "bt-prioritize-piece", as: "head[=SIZE],tail[=SIZE]", takes: .pieces, isForItems: true,
            here: .accepted("it is about BitTorrent, which segget does not support")),
        .init(
            "bt-save-metadata", takes: .flag, isForItems: true,
            here: .accepted("it is about BitTorrent, which segget does not support")),
        .init(
            "bt-metadata-only", takes: .flag, isForItems: true,
            here: .accepted("it is about BitTorrent, which segget does not support")),
        .init(
            "bt-enable-lpd", takes: .flag, isForItems: true,
            here: .accepted("it is about BitTorrent, which segget does not support")),
        .init(
            "bt-lpd-interface", as: "INTERFACE", takes: .text,
            here: .accepted("it is about BitTorrent, which segget does not support")),
        .init(
            "bt-tracker-timeout", as: "SEC", takes: .number(1, 600), isForItems: true,
            here: .accepted("it is about BitTorrent, which segget does not support")),
        .init(
            "bt-tracker-connect-timeout", as: "SEC", takes: .number(1, 600), isForItems: true,
            here: .accepted("it is about BitTorrent, which segget does not support")),
        .init(
            "dht-message-timeout", as: "SEC", takes: .number(1, 60),
            here: .accepted("it is about BitTorrent, which segget does not support")),
        .init(
            "on-bt-download-complete", as: "COMMAND", takes: .path,
            here: .accepted("it is about BitTorrent, which segget does not support")),
        .init(
            "bt-tracker", as: "URI[,...]", takes: .text, isForItems: true,
            here: .accepted("it is about BitTorrent, which segget does not support")),
        .init(
            "bt-exclude-tracker", as: "URI[,...]", takes: .text, isForItems: true,
            here: .accepted("it is about BitTorrent, which segget does not support")),
        .init(
            "bt-remove-unselected-file", takes: .flag, isForItems: true,
            here: .accepted("it is about BitTorrent, which segget does not support")),
        .init(
            "bt-detach-seed-only", takes: .flag,
            here: .accepted("it is about BitTorrent, which segget does not support")),
        .init(
            "bt-force-encryption", takes: .flag, isForItems: true,
            here: .accepted("it is about BitTorrent, which segget does not support")),
        .init(
            "bt-enable-hook-after-hash-check", takes: .flag, isForItems: true,
            here: .accepted("it is about BitTorrent, which segget does not support")),
        .init(
            "bt-load-saved-metadata", takes: .flag, isForItems: true,
            here: .accepted("it is about BitTorrent, which segget does not support")),
        .init(
            "metalink-file", "M", as: "METALINK_FILE", takes: .path,
            here: .refused("this is Metalink: use aria2c for it")),
        .init(
            "metalink-version", as: "VERSION", takes: .text, isForItems: true,
            here: .accepted("it is about Metalink, which segget does not support")),
        .init(
            "metalink-language", as: "LANGUAGE", takes: .text, isForItems: true,
            here: .accepted("it is about Metalink, which segget does not support")),
        .init(
            "metalink-os", as: "OS", takes: .text, isForItems: true,
            here: .accepted("it is about Metalink, which segget does not support")),
        .init(
            "metalink-location", as: "LOCATION[,...]", takes: .text, isForItems: true,
            here: .accepted("it is about Metalink, which segget does not support")),
        .init(
            "follow-metalink", as: "true|false|mem", takes: .choice(["true", "mem", "false"]),
            isForItems: true, here: .accepted("it is about Metalink, which segget does not support")
        ),
        .init(
            "metalink-preferred-protocol", as: "PROTO",
            takes: .choice(["http", "https", "ftp", "none"]), isForItems: true,
            here: .accepted("it is about Metalink, which segget does not support")),
        .init(
            "metalink-enable-unique-protocol", takes: .flag, isForItems: true,
            here: .accepted("it is about Metalink, which segget does not support")),
        .init(
            "metalink-base-uri", as: "URI", takes: .text, isForItems: true,
            here: .accepted("it is about Metalink, which segget does not support")),
    ]
}

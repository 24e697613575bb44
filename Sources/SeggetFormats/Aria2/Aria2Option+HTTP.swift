extension Aria2Option {
    /// What is about HTTP, FTP and proxies.
    static let http: [Aria2Option] = [
        .init(
            "ftp-user", as: "USER", takes: .text, isForItems: true,
            here: .accepted("it is about FTP, which segget does not speak")),
        .init(
            "ftp-passwd", as: "PASSWD", takes: .text, isForItems: true,
            here: .accepted("it is about FTP, which segget does not speak")),
        .init(
            "ftp-type", as: "TYPE", takes: .choice(["binary", "ascii"]), isForItems: true,
            here: .accepted("it is about FTP, which segget does not speak")),
        .init(
            "ftp-pasv", "p", takes: .flag, isForItems: true,
            here: .accepted("it is about FTP, which segget does not speak")),
        .init(
            "ftp-reuse-connection", takes: .flag, isForItems: true,
            here: .accepted("it is about FTP, which segget does not speak")),
        .init(
            "ssh-host-key-md", as: "TYPE=DIGEST", takes: .hostKey, isForItems: true,
            here: .accepted("it is about FTP, which segget does not speak")),
        .init(
            "http-user", as: "USER", takes: .text, isForItems: true,
            here: .honoured("user for servers")),
        .init(
            "http-passwd", as: "PASSWD", takes: .text, isForItems: true,
            here: .honoured("password for servers")),
        .init(
            "user-agent", "U", as: "USER_AGENT", takes: .text, isForItems: true,
            here: .honoured("the `User-Agent` field")),
        .init(
            "load-cookies", as: "FILE", takes: .path,
            here: .honoured("file with cookies in Netscape's format")),
        .init(
            "save-cookies", as: "FILE", takes: .path,
            here: .warned("cookies that servers set are not kept for later runs")),
        .init(
            "enable-http-keep-alive", takes: .flag, isForItems: true,
            here: .accepted("connections are always used again")),
        .init(
            "enable-http-pipelining", takes: .flag, isForItems: true,
            here: .accepted("connections are always used again")),
        .init(
            "max-http-pipelining", takes: .number(1, 8), isHidden: true,
            here: .accepted("connections are always used again")),
        .init(
            "header", as: "HEADER", takes: .text, isForItems: true,
            here: .honoured("a further request header")),
        .init(
            "certificate", as: "FILE", takes: .path,
            here: .honoured("file with the client's certificate")),
        .init(
            "private-key", as: "FILE", takes: .path, here: .honoured("file with the client's key")),
        .init(
            "ca-certificate", as: "FILE", takes: .path,
            here: .honoured("file with the certificates to trust")),
        .init(
            "check-certificate", takes: .flag,
            here: .honoured("refuses servers whose certificate is not trusted")),
        .init(
            "use-head", takes: .flag, isForItems: true,
            here: .honoured(
                "`false` with `-s1` and `-x1`, and one URL, sends one request without a range")),
        .init(
            "http-auth-challenge", takes: .flag, isForItems: true,
            here: .accepted("the server says which way of login it wants")),
        .init(
            "http-no-cache", takes: .flag, isForItems: true,
            here: .honoured("asks caches for the server's own reply")),
        .init(
            "http-accept-gzip", takes: .flag, isForItems: true,
            here: .accepted("a file is fetched as it is, and never unpacked")),
        .init(
            "content-disposition-default-utf8", takes: .flag, isForItems: true,
            here: .accepted("names are read as UTF-8, else as ISO-8859-1")),
        .init(
            "no-want-digest-header", takes: .flag, isForItems: true,
            here: .accepted("a digest that the server offers is always compared")),
        .init(
            "http-proxy", as: "PROXY", takes: .proxy, isForItems: true,
            here: .honoured("proxy for http URLs")),
        .init(
            "https-proxy", as: "PROXY", takes: .proxy, isForItems: true,
            here: .honoured("proxy for https URLs")),
        .init(
            "ftp-proxy", as: "PROXY", takes: .proxy, isForItems: true,
            here: .accepted("it is about FTP, which segget does not speak")),
        .init(
            "all-proxy", as: "PROXY", takes: .proxy, isForItems: true,
            here: .honoured("proxy for all other URLs")),
        .init(
            "no-proxy", as: "DOMAINS", takes: .text, isForItems: true,
            here: .honoured("hosts that are reached without a proxy")),
        .init(
            "proxy-method", as: "METHOD", takes: .choice(["get", "tunnel"]), isForItems: true,
            here: .accepted("https goes through a tunnel, http as the proxy expects it")),
        .init(
            "http-proxy-user", as: "USER", takes: .text, isForItems: true,
            here: .honoured("user for that proxy")),
        .init(
            "http-proxy-passwd", as: "PASSWD", takes: .text, isForItems: true,
            here: .honoured("password for that proxy")),
        .init(
            "https-proxy-user", as: "USER", takes: .text, isForItems: true,
            here: .honoured("user for that proxy")),
        .init(
            "https-proxy-passwd", as: "PASSWD", takes: .text, isForItems: true,
            here: .honoured("password for that proxy")),
        .init(
            "ftp-proxy-user", as: "USER", takes: .text, isForItems: true,
            here: .accepted("it is about FTP, which segget does not speak")),
        .init(
            "ftp-proxy-passwd", as: "PASSWD", takes: .text, isForItems: true,
            here: .accepted("it is about FTP, which segget does not speak")),
        .init(
            "all-proxy-user", as: "USER", takes: .text, isForItems: true,
            here: .honoured("user for that proxy")),
        .init(
            "all-proxy-passwd", as: "PASSWD", takes: .text, isForItems: true,
            here: .honoured("password for that proxy")),
    ]
}

extension Aria2Option {
    /// The options for HTTP, FTP and proxies.
    static let http: [Aria2Option] = [
        .init(
            "ftp-user", as: "USER", takes: .text, isForItems: true,
            here: .accepted("it is about FTP, which segget does not support")),
        .init(
            "ftp-passwd", as: "PASSWD", takes: .text, isForItems: true,
            here: .accepted("it is about FTP, which segget does not support")),
        .init(
            "ftp-type", as: "TYPE", takes: .choice(["binary", "ascii"]), isForItems: true,
            here: .accepted("it is about FTP, which segget does not support")),
        .init(
            "ftp-pasv", "p", takes: .flag, isForItems: true,
            here: .accepted("it is about FTP, which segget does not support")),
        .init(
            "ftp-reuse-connection", takes: .flag, isForItems: true,
            here: .accepted("it is about FTP, which segget does not support")),
        .init(
            "ssh-host-key-md", as: "TYPE=DIGEST", takes: .hostKey, isForItems: true,
            here: .accepted("it is about FTP, which segget does not support")),
        .init(
            "http-user", as: "USER", takes: .text, isForItems: true,
            here: .honoured("user name for servers")),
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
            here: .warned("cookies from servers are not saved for later runs")),
        .init(
            "enable-http-keep-alive", takes: .flag, isForItems: true,
            here: .accepted("connections are always reused")),
        .init(
            "enable-http-pipelining", takes: .flag, isForItems: true,
            here: .accepted("connections are always reused")),
        .init(
            "max-http-pipelining", takes: .number(1, 8), isHidden: true,
            here: .accepted("connections are always reused")),
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
            here: .accepted("the server states which login method it requires")),
        .init(
            "http-no-cache", takes: .flag, isForItems: true,
            here: .honoured("asks caches to get a new response from the server")),
        .init(
            "http-accept-gzip", takes: .flag, isForItems: true,
            here: .accepted("a file is saved as sent, and never decompressed")),
        .init(
            "content-disposition-default-utf8", takes: .flag, isForItems: true,
            here: .accepted("names are read as UTF-8, else as ISO-8859-1")),
        .init(
            "no-want-digest-header", takes: .flag, isForItems: true,
            here: .accepted("a digest from the server is always compared")),
        .init(
            "http-proxy", as: "PROXY", takes: .proxy, isForItems: true,
            here: .honoured("proxy for http URLs")),
        .init(
            "https-proxy", as: "PROXY", takes: .proxy, isForItems: true,
            here: .honoured("proxy for https URLs")),
        .init(
            "ftp-proxy", as: "PROXY", takes: .proxy, isForItems: true,
            here: .accepted("it is about FTP, which segget does not support")),
        .init(
            "all-proxy", as: "PROXY", takes: .proxy, isForItems: true,
            here: .honoured("proxy for all other URLs")),
        .init(
            "no-proxy", as: "DOMAINS", takes: .text, isForItems: true,
            here: .honoured("hosts to reach without a proxy")),
        .init(
            "proxy-method", as: "METHOD", takes: .choice(["get", "tunnel"]), isForItems: true,
            here: .accepted("segget sends https through a tunnel, http as a proxy request")),
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
            here: .accepted("it is about FTP, which segget does not support")),
        .init(
            "ftp-proxy-passwd", as: "PASSWD", takes: .text, isForItems: true,
            here: .accepted("it is about FTP, which segget does not support")),
        .init(
            "all-proxy-user", as: "USER", takes: .text, isForItems: true,
            here: .honoured("user for that proxy")),
        .init(
            "all-proxy-passwd", as: "PASSWD", takes: .text, isForItems: true,
            here: .honoured("password for that proxy")),
    ]
}

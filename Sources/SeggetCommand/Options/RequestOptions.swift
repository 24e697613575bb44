package import ArgumentParser
import Assembler
import SeggetReports
package import Segmenter

/// The options that every request obeys, whichever command makes it.
package struct RequestOptions: ParsableArguments {
    @Option(
        name: [.customShort("H", allowingJoined: true), .long],
        help: ArgumentHelp(
            "Send this header too; repeatable.",
            discussion: """
                It goes to the origin of the URL only, never to where a redirect leads, unless it is \
                `User-Agent`, `Accept`, `Accept-Language` or the like, or `--header-cross-origin` is \
                given.
                """,
            valueName: "K: V"))
    package var header: [String] = []

    @Option(
        help: ArgumentHelp(
            "PEM file with the certificates to trust, in place of the system's.",
            valueName: "file"),
        completion: .file(), transform: PathArgument.file)
    package var caCertificate: String?

    @Option(
        help: ArgumentHelp(
            "Longest time to connect, TLS handshake included, in seconds.", valueName: "s"))
    package var connectTimeout = DownloadOptions().connectTimeout.inSeconds

    @Option(
        help: ArgumentHelp(
            "Longest time without a byte on a connection, in seconds.", valueName: "s"))
    package var stallTimeout = DownloadOptions().stallTimeout.inSeconds

    @Option(
        help: ArgumentHelp(
            "Further attempts without progress before giving up (default: \(DownloadOptions().retries)).",
            discussion: """
                By default a server from which nothing has come yet gets three tries within about \
                5 s, unless it asks for more time, or an earlier run's part is continued. A name \
                that does not exist is not tried again.
                """,
            valueName: "n"))
    package var retries: Int?

    package init() {}

    package func validate() throws {
        // Here, not while parsing: the parser's own message would show a header's secret value.
        for header in header {
            do throws(HeaderSyntaxError) {
                try DownloadOptions.check(header: header)
            } catch {
                throw ValidationError(Diagnostic.describe(error))
            }
        }
        for (name, value) in [
            ("--connect-timeout", connectTimeout), ("--stall-timeout", stallTimeout),
        ] where !(0.1...86_400).contains(value) {
            throw ValidationError("`\(name)` takes 0.1 to 86400 seconds, not \(value)")
        }
        if let retries, !(0...1000).contains(retries) {
            throw ValidationError("`--retries` takes 0 to 1000, not \(retries)")
        }
        guard caCertificate != "" else {
            throw ValidationError("`--ca-certificate` needs the name of a file")
        }
    }

    /// The library's options with what was given here.
    package var downloadOptions: DownloadOptions {
        var options = DownloadOptions()
        options.headers = header
        options.caCertificate = caCertificate
        options.connectTimeout = .seconds(connectTimeout)
        options.stallTimeout = .seconds(stallTimeout)
        if let retries { options.retries = retries }
        return options
    }
}

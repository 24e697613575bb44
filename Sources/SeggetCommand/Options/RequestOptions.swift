package import ArgumentParser
import Assembler
import SeggetFormats
import SeggetReports
package import Segmenter

/// The options that every request obeys, whichever command makes it.
package struct RequestOptions: ParsableArguments {
    @Option(
        name: [.customShort("H", allowingJoined: true), .long],
        help: .row(
            "header",
            discussion: """
                It goes to the origin of the URL only, never to where a redirect leads, unless it is \
                `User-Agent`, `Accept`, `Accept-Language` or the like, or `--header-cross-origin` is \
                given.
                """,
            valueName: "K: V"))
    package var header: [String] = []

    @Option(
        help: .row("ca-certificate", valueName: "file"),
        completion: .file(), transform: PathArgument.file)
    package var caCertificate: String?

    @Option(
        help: .row("connect-timeout", valueName: "s"))
    package var connectTimeout = DownloadOptions().connectTimeout.inSeconds

    @Option(
        help: .row("stall-timeout", valueName: "s"))
    package var stallTimeout = DownloadOptions().stallTimeout.inSeconds

    @Option(
        help: .row(
            "retries",
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
        try TransferOption.check("connect-timeout", connectTimeout)
        try TransferOption.check("stall-timeout", stallTimeout)
        try TransferOption.check("retries", retries)
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

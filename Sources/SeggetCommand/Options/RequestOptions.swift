package import ArgumentParser
import Assembler
import SeggetFormats
import SeggetReports
package import Segmenter

/// The options that apply to all requests of every command.
package struct RequestOptions: ParsableArguments {
    @Option(
        name: [.customShort("H", allowingJoined: true), .long],
        help: .row(
            "header",
            discussion: """
                The header is sent only to the origin of the URL, and not to redirect targets at other \
                origins. Exceptions are harmless headers such as `User-Agent`, `Accept` and \
                `Accept-Language`, and all headers with `--header-cross-origin`.
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
                By default, a server that has not sent anything yet gets three attempts within about \
                5 s, unless it asks for more time, or a part of an earlier run is resumed. A host name \
                that does not exist is not retried.
                """,
            valueName: "n"))
    package var retries: Int?

    package init() {}

    package func validate() throws {
        // Checked here instead of by the parser, whose message would show a header's secret value.
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

    /// The library's options with these values.
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

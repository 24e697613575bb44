import Segmenter

// Links that hold for a time.
extension Diagnostic {
    /// Words the refusal of a link whose time is over.
    init(expiredLink error: DownloadError, _ code: Int, url: String) {
        let isRefusal = Segmenter.isRefusal(code)
        let name = error.path?.split(separator: "/").last.map {
            ", with `--output \(PrintableText.escape(String($0)))` where its path is another one"
        }
        let resumes = error.bytesKept > 0 ? " to resume" : ""
        self.init(
            isRefusal ? .refused : .unavailable, isRefusal ? "refused" : "status",
            "the link \(url) has expired: the server answered \(Self.describe(status: code))",
            hint: "get a fresh link for the same file, and run the same command with that\(resumes)"
                + (error.bytesWritten == nil ? name ?? "" : ""))
    }
}

import Segmenter

// Messages about limits that the caller has set.
extension Diagnostic {
    /// Creates the message for an exceeded limit.
    init(limit reason: DownloadError.Reason, url: String, again: String) {
        switch reason {
        case .tooLarge(let size, let limit):
            let length = size.map { " is \(Self.exact($0)) long" } ?? " is longer than announced"
            self.init(
                .unavailable, "too_large",
                "\(url)\(length), and `--max-size` allows \(Self.exact(limit))",
                hint: "give a larger `--max-size`, or none")
        case .tooSlow(let rate, let minimum, let period):
            self.init(
                .unavailable, "too_slow",
                "\(url) was received at \(Units.speed(rate)) for \(Units.elapsed(period)), new "
                    + "connections included, and `--min-rate` requires \(Units.speed(minimum))",
                hint: "\(again) later, or with a lower `--min-rate`")
        case .timeIsUp(let time):
            self.init(
                .stopped, "time_is_up",
                "the download of \(url) was stopped after \(Units.elapsed(time)), the limit of "
                    + "`--max-time`", hint: again)
        default: preconditionFailure("not a limit")
        }
    }
}

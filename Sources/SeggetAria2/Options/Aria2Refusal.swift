/// The error that prevents the start of a run of the drop-in for aria2c.
package struct Aria2Refusal: Error, Sendable, Hashable {
    /// aria2's exit code.
    package var code: Int32
    /// The lines for standard error.
    package var lines: [String]

    package init(code: Int32 = 1, _ lines: [String]) {
        self.code = code
        self.lines = lines
    }

    /// aria2's exit code for options that cannot be parsed.
    static let optionError: Int32 = 28

    /// aria2's lines after an error in the command line.
    static let usage = ["Usage: aria2c [OPTIONS] [URI]...", "See 'aria2c -h'."]

    /// Returns the refusal for an error in the syntax of the command line.
    static func commandLine(_ line: String) -> Aria2Refusal {
        Aria2Refusal(code: optionError, [line] + usage)
    }

    /// Returns the refusal for an invalid value of an option.
    static func value(_ option: Aria2Option, _ problem: Aria2Option.BadValue) -> Aria2Refusal {
        Aria2Refusal(
            code: optionError,
            lines(about: option, problem) + ["Usage:"] + Aria2Help.lines(for: option))
    }

    /// Returns aria2's lines about an invalid value, without the usage of the option.
    static func lines(about option: Aria2Option, _ problem: Aria2Option.BadValue) -> [String] {
        [
            "Exception: errorCode=28 We encountered a problem while processing the option "
                + "'--\(option.name)'.",
            "  -> errorCode=1 \(problem.text)",
        ]
    }

    /// Returns the refusal for an exception that ends aria2.
    static func exception(_ text: String) -> Aria2Refusal {
        Aria2Refusal(["Exception caught", "Exception: errorCode=1 \(text)"])
    }
}

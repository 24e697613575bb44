/// Why a run in aria2's manner does not begin.
package struct Aria2Refusal: Error, Sendable, Hashable {
    /// aria2's exit code.
    package var code: Int32
    /// What standard error gets, line by line.
    package var lines: [String]

    package init(code: Int32 = 1, _ lines: [String]) {
        self.code = code
        self.lines = lines
    }

    /// aria2's code for options that cannot be read.
    static let optionError: Int32 = 28

    /// What aria2 says where the command line is wrong.
    static let usage = ["Usage: aria2c [OPTIONS] [URI]...", "See 'aria2c -h'."]

    /// A mistake on the command line itself.
    static func commandLine(_ line: String) -> Aria2Refusal {
        Aria2Refusal(code: optionError, [line] + usage)
    }

    /// A value that an option does not take.
    static func value(_ option: Aria2Option, _ problem: Aria2Option.BadValue) -> Aria2Refusal {
        Aria2Refusal(
            code: optionError,
            lines(about: option, problem) + ["Usage:"] + Aria2Help.lines(for: option))
    }

    /// The same in aria2's words, without how the option is used.
    static func lines(about option: Aria2Option, _ problem: Aria2Option.BadValue) -> [String] {
        [
            "Exception: errorCode=28 We encountered a problem while processing the option "
                + "'--\(option.name)'.",
            "  -> errorCode=1 \(problem.text)",
        ]
    }

    /// An exception of aria2's that ends it.
    static func exception(_ text: String) -> Aria2Refusal {
        Aria2Refusal(["Exception caught", "Exception: errorCode=1 \(text)"])
    }
}

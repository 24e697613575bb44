import CLinux
import Glibc

/// A command line, parsed by getopt_long(3) as in aria2.
struct Aria2CommandLine {
    /// The options, in order; the value is empty if none was given.
    private(set) var options: [(option: Aria2Option, value: String)] = []
    /// The arguments that are not options, in order.
    private(set) var uris: [String] = []

    private static let known = Aria2Option.table.filter { !$0.isHidden }

    /// Parses the arguments after the program's name.
    ///
    /// - Throws: `Aria2Refusal`, with the message of getopt_long(3).
    init(_ words: [String], program: String) throws(Aria2Refusal) {
        let known = Self.known
        var arguments = ([program] + words).map { strdup($0) } + [nil]
        let names = known.map { strdup($0.name) }
        // getopt_long(3) reorders the pointers in `arguments`, but never replaces them.
        let all = arguments + names
        defer { for text in all { free(text) } }
        var found = [segget_found_option](
            repeating: .init(), count: words.reduce(1) { $0 + $1.utf8.count })
        let read = segget_read_command_line(
            Int32(words.count + 1), &arguments, Int32(known.count),
            names.map { UnsafePointer($0) }, known.map { Int32($0.letter?.asciiValue ?? 0) },
            known.map(\.arity.rawValue), &found)
        let texts = arguments.compactMap { $0.map { String(cString: $0) } }
        guard read.problem == 0 else { throw Self.refusal(read, texts, program) }
        options = found[..<Int(read.count)].map {
            (known[Int($0.option)], $0.value.map { String(cString: $0) } ?? "")
        }
        uris = Array(texts[Int(read.rest)...])
    }

    private static func refusal(
        _ read: segget_command_line, _ arguments: [String], _ program: String
    ) -> Aria2Refusal {
        let argument = arguments[Int(read.place)]
        let option = read.option >= 0 ? known[Int(read.option)] : nil
        let isMissing = read.problem == Int32(UInt8(ascii: ":"))
        if read.letter != 0 {
            let letter = Character(Unicode.Scalar(UInt8(truncatingIfNeeded: read.letter)))
            let text = isMissing ? "option requires an argument" : "invalid option"
            return .commandLine("\(program): \(text) -- '\(letter)'")
        }
        if let option {
            let text = isMissing ? "requires an argument" : "doesn't allow an argument"
            return .commandLine("\(program): option '--\(option.name)' \(text)")
        }
        let name = argument.drop { $0 == "-" }.prefix { $0 != "=" }
        let candidates = known.filter { $0.name.hasPrefix(name) }.map { " '--\($0.name)'" }
        guard candidates.count > 1 else {
            return .commandLine("\(program): unrecognized option '--\(name)'")
        }
        return .commandLine(
            "\(program): option '--\(name)' is ambiguous; possibilities:\(candidates.joined())")
    }
}

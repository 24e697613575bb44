import Testing

@testable import SeggetCommand

/// Tests the order of words on the command line.
struct InvocationTests {
    @Test(
        arguments: [
            (["--no-config", "verify", "f"], ["verify", "--no-config", "f"]),
            (
                ["-q", "--connections", "4", "--header=a: b", "repair", "f", "u"],
                ["repair", "-q", "--connections", "4", "--header=a: b", "f", "u"]
            ),
            // The word is a value, follows a URL or an unknown option, or is already first.
            (["-o", "verify", "u"], ["-o", "verify", "u"]),
            (["--output", "probe"], ["--output", "probe"]),
            (["u", "verify"], ["u", "verify"]), (["-q", "u", "verify"], ["-q", "u", "verify"]),
            (["--wibble", "verify"], ["--wibble", "verify"]),
            (["--", "verify"], ["--", "verify"]), (["verify", "f"], ["verify", "f"]), ([], []),
        ] as [([String], [String])])
    func commandComesFirst(typed: [String], meant: [String]) {
        #expect(Invocation.commandFirst(typed, of: .segget) == meant)
    }
}

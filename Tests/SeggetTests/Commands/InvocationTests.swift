import Testing

@testable import SeggetCommand

/// What is typed, in which order.
struct InvocationTests {
    @Test(
        arguments: [
            (["--no-config", "verify", "f"], ["verify", "--no-config", "f"]),
            (
                ["-q", "--connections", "4", "--header=a: b", "repair", "f", "u"],
                ["repair", "-q", "--connections", "4", "--header=a: b", "f", "u"]
            ),
            // A value, a URL, nothing of segget's, or nothing in front.
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

import Glibc

/// Feeds one reader with what libFuzzer makes up: `SEGGET_FUZZ=TARGET segget-fuzz [OPTION…] CORPUS…`.
///
/// `scripts/fuzz.sh` runs all of them. Whatever is fed, a reader must not crash, must come to an end,
/// and what it has read must hold what its target says.
@main
enum Fuzzing {
    /// What is done with one input, by the name of the target.
    static let targets: [String: @Sendable ([UInt8]) -> Void] = [
        "aria2": AdoptionTargets.controlFile,
        "aria2-list": Aria2Targets.list,
        "aria2-words": Aria2Targets.words,
        "checksum-file": TextTargets.checksumFile,
        "command-words": TextTargets.commandWords,
        "configuration": TextTargets.configuration,
        "content-range": HeaderTargets.contentRange,
        "date": HeaderTargets.date,
        "digests": HeaderTargets.digests,
        "disposition": NameTargets.disposition,
        "fleet": FleetTargets.fleet,
        "fleet-mark": FleetTargets.mark,
        "folder-names": NameTargets.folderNames,
        "input-file": TextTargets.inputFile,
        "ledger": LedgerTargets.ledger,
        "manifest": ManifestTargets.manifest,
        "manifest-sealed": ManifestTargets.sealed,
        "hub": HubTargets.hub,
        "plan": PlanTargets.plan,
        "printable": TextTargets.printable,
        "quantity": TextTargets.quantity,
        "reply": HeaderTargets.reply,
        "request-header": HeaderTargets.requestHeader,
        "rpc-message": RPCTargets.message,
        "rpc-query": RPCTargets.query,
        "url": NameTargets.url,
        "websocket": WebSocketTargets.frames,
    ]

    /// The target of this process; without one, it ends with a list of them.
    static let chosen: @Sendable ([UInt8]) -> Void = {
        let name = getenv("SEGGET_FUZZ").map { String(cString: $0) } ?? ""
        if let target = targets[name] { return target }
        for name in targets.keys.sorted() { print(name) }
        exit(name == "list" ? 0 : 64)
    }()

    static func main() {
        _ = chosen
        var count = CommandLine.argc
        var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? =
            CommandLine.unsafeArgv
        exit(runFuzzer(&count, &arguments, testOneInput))
    }
}

/// Feeds one input to the target; libFuzzer's own `main`, which is not used, knows it by this name.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    Fuzzing.chosen(Array(UnsafeBufferPointer(start: start, count: count)))
    return 0
}

/// `LLVMFuzzerRunDriver` of libFuzzer's library.
@_silgen_name("LLVMFuzzerRunDriver")
private func runFuzzer(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>,
    _ test: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

/// Ends the process, which libFuzzer reports with the input, unless the condition holds.
func expect(
    _ condition: Bool, _ broken: @autoclosure () -> String, line: UInt = #line,
    file: StaticString = #file
) {
    guard !condition else { return }
    fatalError(broken(), file: file, line: line)
}

/// The bytes as text, as what comes from outside is read.
func text(_ bytes: some Collection<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }

/// The lines of the input as texts.
func lines(_ bytes: [UInt8]) -> [String] {
    bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map { text($0) }
}

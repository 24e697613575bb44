import Crypto
import Foundation
import TestSupport
import Testing

/// Runs command lines of programs that call aria2c with aria2c and with segget.
///
/// Both must return the same exit code, the same files, and the same lines in output that programs
/// read.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct Aria2CallerTests {
    @Test(arguments: Aria2Caller.media) func mediaCallersGetSameResults(_ caller: Aria2Caller)
        throws
    {
        try expectSame(caller)
    }

    @Test(arguments: Aria2Caller.systems) func systemCallersGetSameResults(_ caller: Aria2Caller)
        throws
    {
        try expectSame(caller)
    }

    @Test(arguments: Aria2Caller.science) func scienceCallersGetSameResults(_ caller: Aria2Caller)
        throws
    {
        try expectSame(caller)
    }

    /// Compares both programs in a first run, and in a run with all files present.
    private func expectSame(_ caller: Aria2Caller) throws {
        let pair = try Aria2Pair()
        let content = pair.content("/a.bin").bytes(0..<pair.size)
        for (name, text) in caller.files {
            let text = text.replacingOccurrences(
                of: "$SHA512", with: hex(SHA512.hash(data: content))
            )
            .replacingOccurrences(of: "$SHA1", with: hex(Insecure.SHA1.hash(data: content)))
            try pair.write(text, to: name)
        }
        for round in ["first", "again"] {
            let (aria2c, segget) = try pair.both(caller.line)
            let words = "\(round): \(segget.text.lines) \(segget.errors)"
            #expect(aria2c.code == caller.code, "\(round): \(aria2c.text.lines) \(aria2c.errors)")
            #expect(segget.code == caller.code, "\(words)")
            #expect(segget.text.told == aria2c.text.told, "\(words)")
            var (theirs, ours) = (aria2c.tree, segget.tree)
            for name in caller.own {
                #expect(
                    (theirs.removeValue(forKey: name) == nil)
                        == (ours.removeValue(forKey: name) == nil))
            }
            #expect(ours == theirs, "\(words)")
            for (name, source) in caller.wanted { #expect(ours[name] == source, "\(words)") }
        }
    }

    private func hex(_ digest: some Digest) -> String {
        digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}

import Foundation
import SeggetFormats
import Testing

/// Compares the options that the page's form sends with the catalogue.
struct PageOptionsTests {
    /// Returns the storage keys of the options that `add.js` sends.
    private static func keys() throws -> Set<String> {
        let form = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../../Sources/CPage/files/add.js")
        let text = try String(contentsOf: form, encoding: .utf8)
        var keys: Set<String> = []
        for match in text.matches(of: #/\b(options|access)\.([a-z_]+) = (\{ ([a-z_]+):)?/#) {
            let name = String(match.2)
            switch (match.1, name) {
            case ("access", _): keys.insert("access.\(name)")
            // Its members are matched separately.
            case (_, "access"): continue
            case (_, let group): keys.insert(match.4.map { "\(group).\($0)" } ?? group)
            }
        }
        return keys
    }

    @Test func formSendsOptionsThatTCPClientsMaySet() throws {
        let keys = try Self.keys()
        let expected: Set = ["headers", "connections", "limits.rate", "access.user_agent"]
        #expect(keys.isSuperset(of: expected))
        for key in keys {
            let option = TransferOption[key]
            #expect(option?.places.contains(.tcp) == true, "add.js sends `\(key)`")
        }
    }
}

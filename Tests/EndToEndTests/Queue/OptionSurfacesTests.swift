import Foundation
import TestSupport
import Testing

/// Tests that each download option has the same value in `segget set`, in lists and in the API.
@Suite(.timeLimit(.minutes(5)))
struct OptionSurfacesTests {
    /// A row of docs/options.md, as `segget-manager options` prints it.
    private struct Row {
        let key: String
        let lists: [String]
        let takes: String
        let change: String

        /// Reads a line of the table.
        init(_ line: Substring) {
            let cells = line.split(separator: " | ", omittingEmptySubsequences: false).map {
                $0.trimmingCharacters(in: .init(charactersIn: "| "))
            }
            func names(_ cell: String) -> [String] {
                cell.split(separator: ",").map {
                    $0.trimmingCharacters(in: .init(charactersIn: "` "))
                }
            }
            key = names(cells[0])[0]
            (lists, takes, change) = (names(cells[2]), cells[4], cells[6])
        }

        /// A value that is not the default.
        var value: String {
            switch takes {
            // Lists call it `xattr`.
            case _ where key == "files.attributes": "true"
            case "`true` or `false`":
                key == "resume" || key == "files.remote_time" ? "false" : "true"
            case "1 to 64, `auto` or `auto:N`": "7"
            case "the path of a file, not a URL": "/etc/hostname"
            case "USER or USER:PASS": "me:word"
            case "`Name: value`": "Accept: text/x"
            case _ where takes.hasPrefix("ALGO"): "sha-1=" + String(repeating: "ab", count: 20)
            case _ where takes.hasPrefix("a number of bytes"): "1234567"
            case _ where takes.hasPrefix("a rate"): "123456"
            case _ where takes.hasPrefix("cookies"): "a=b"
            case _ where takes.hasPrefix("`sha256"):
                "sha256//" + String(repeating: "A", count: 43) + "="
            case _ where takes.hasPrefix("the URL of a proxy"): "http://proxy.example/"
            case _ where takes.hasPrefix("`"):
                takes.split(separator: "`").filter { $0.allSatisfy { $0 != " " } }
                    .first { !["any", "auto", "1.2", "none"].contains($0) }.map(String.init) ?? ""
            case _ where takes.first?.isNumber == true: "17"
            default: "name"
            }
        }
    }

    /// Returns the value of a dotted key.
    private static func value(_ key: String, in options: NSDictionary) -> NSObject? {
        key.split(separator: ".").reduce(options as NSObject?) { value, name in
            (value as? NSDictionary)?[String(name)] as? NSObject
        }
    }

    @Test func listAndSetGiveSameOptions() throws {
        let stage = try QueueStage(size: 1000)
        let manager = try Segget.binary().replacing(#/segget$/#, with: "segget-manager")
        let table = try Run(manager, ["options"], in: stage.folder).wait().output
        let rows = table.split(separator: "\n").map(Row.init).filter {
            // In `segget set`, `continue` is a different option from the one in lists.
            !$0.lists.isEmpty && $0.change != "no" && $0.key != "resume"
        }
        #expect(rows.count > 35)
        func options(_ id: String) throws -> NSDictionary {
            let data = Data(try stage.done("show", "--json", id).utf8)
            let detail = try JSONSerialization.jsonObject(with: data) as? [String: Any]
            return detail?["options"] as? NSDictionary ?? [:]
        }
        let settings = rows.map { "\($0.lists[0])=\($0.value)" }
        let list = ([stage.origin.url("/list")] + settings.map { " \($0)" }).joined(separator: "\n")
        try stage.home.write("list", list)
        let listed = try stage.done("add", "--paused", "-i", stage.home.path("list"))
            .trimmingCharacters(in: .newlines)
        let changed = try stage.add("/set", "--paused")
        let set = ["set", changed] + settings.flatMap { ["--option", $0] }
        let outcome = try stage.start(set).wait(timeout: 300)
        try #require(outcome.end == .exit(0), "\(outcome.errorOutput)")
        let (inList, inSet) = (try options(listed), try options(changed))
        for row in rows {
            let value = Self.value(row.key, in: inSet)
            // Secrets are stored, and never printed.
            let isSecret = ["access.credentials", "access.cookies"].contains(row.key)
            #expect((value == nil) == isSecret, "\(row.key)")
            #expect(Self.value(row.key, in: inList) == value, "\(row.key)")
        }
    }

    @Test func emptyValueResetsToDefault() throws {
        let stage = try QueueStage(size: 1000)
        let id = try stage.add(
            "/a", "--paused", "--stall-timeout", "7", "--proxy", "http://p.example/")
        try stage.done("set", id, "--option", "retries=3", "--option", "timeout=8")
        let set = try stage.done("show", id)
        for text in ["retries=3", "stall-timeout=8", "proxy=http://p.example/"] {
            #expect(set.contains("option        \(text)\n"), "\(set)")
        }
        try stage.done("set", id, "--option", "retries=", "--option", "stall-timeout=")
        let reset = try stage.done("show", id)
        #expect(!reset.contains("retries") && !reset.contains("timeout"), "\(reset)")
        #expect(reset.contains("proxy=http://p.example/"))
    }
}

import ArgumentParser
import Foundation
import Testing

@testable import SeggetCommand
@testable import segget_manager

/// Tests the options that take the path of a file or folder.
struct PathOptionTests {
    private struct Dump: Decodable {
        struct Command: Decodable {
            var commandName: String
            var subcommands: [Command]?
            var arguments: [Argument]?
        }
        struct Argument: Decodable {
            struct Name: Decodable {
                var kind: String
                var name: String
            }
            var kind: String
            var names: [Name]?
            var valueName: String?
            var completionKind: Completion?
        }
        /// How a shell completes a value: `{"file": …}` or `{"directory": …}` for paths.
        struct Completion: Decodable {
            let isPath: Bool

            init(from decoder: any Decoder) throws {
                let kinds = try? decoder.container(keyedBy: Kind.self)
                isPath =
                    kinds?.allKeys.contains { ["file", "directory"].contains($0.stringValue) }
                    ?? false
            }
        }
        struct Kind: CodingKey {
            var stringValue: String
            var intValue: Int? { nil }
            init(stringValue: String) { self.stringValue = stringValue }
            init?(intValue: Int) { nil }
        }
        var command: Command
    }

    /// Returns every option that takes a path, by its completion or by the name of its value.
    private func options() throws -> [(command: String, option: String)] {
        var text = ""
        do {
            _ = try Manager.parseAsRoot(["--experimental-dump-help"])
        } catch {
            text = Manager.fullMessage(for: error)
        }
        let dump = try JSONDecoder().decode(Dump.self, from: Data(text.utf8))
        return (dump.command.subcommands ?? []).flatMap { command in
            (command.arguments ?? []).compactMap { argument in
                let isPath =
                    argument.completionKind?.isPath == true
                    || ["file", "dir", "part", "path", "key"].contains(argument.valueName ?? "")
                let name = argument.names?.first { $0.kind == "long" }?.name
                return argument.kind == "option" && isPath
                    ? name.map { (command.commandName, $0) } : nil
            }
        }
    }

    @Test func pathOptionsRefuseURLs() throws {
        let options = try options()
        let names = Set(options.map(\.option))
        for name in [
            "queue", "output", "directory", "adopt", "continue-from", "ca-certificate", "cookie",
            "cookie-jar", "netrc-file", "client-certificate", "client-key", "pinned-public-key",
            "config", "input-file", "plan", "recover", "ui", "allow-dir", "pid-file", "log-file",
            "disk",
            "report", "sums",
        ] {
            #expect(names.contains(name), "\(name)")
        }
        for (command, option) in options {
            let error = #expect(throws: (any Error).self) {
                try Manager.parseAsRoot([command, "--\(option)", "https://example.org/x"])
            }
            let text = error.map { Manager.message(for: $0) } ?? ""
            #expect(
                text.contains("--\(option) <") && text.contains(", not a URL"),
                "\(command) --\(option): \(text)")
        }
    }
}

import ArgumentParser
import SeggetFormats
import SeggetReports
import Testing

@testable import SeggetCommand
@testable import SeggetQueue
@testable import segget_manager

/// Tests what the manager has in addition to the commands of `segget`.
struct ManagerTests {
    private static let program = Program(Manager.self)

    @Test func hasEveryCommandOfSegget() {
        let lean = Program.segget.tree.commands
        #expect(
            Array(Self.program.tree.commands.prefix(lean.count)).map(\.name) == lean.map(\.name))
    }

    /// `segget` passes these commands to the manager.
    @Test func ownCommandsAreHandedOver() {
        for type in Manager.queue {
            let configuration = type.configuration
            let command = configuration.commandName.flatMap(QueueCommandName.init)
            #expect(command != nil, "\(type)")
            #expect(configuration.abstract == command?.abstract)
        }
    }

    /// `segget` ignores these options in a configuration file.
    @Test func ownOptionsAreKnownToSegget() {
        let own = Self.program.tree.allNames.subtracting(Program.segget.tree.allNames)
        #expect(own == QueueCommandName.options)
    }

    /// The queue's path is not read as a URL, nor a URL as a command.
    @Test func queueOptionMayPrecedeTheCommand() {
        let typed = ["--queue", "q", "list", "--json"]
        #expect(
            Invocation.commandFirst(typed, of: Self.program) == ["list", "--queue", "q", "--json"])
        let urls = ["--queue", "http://h/list"]
        #expect(Invocation.commandFirst(urls, of: Self.program) == urls)
    }

    /// `segget settings` has the settings of the catalogue, with their names and ranges.
    @Test func settingsMatchTheCatalogue() throws {
        let command = try #require(Self.program.tree.commands.first { $0.name == "settings" })
        let names = Set(command.options.filter(\.isShown).flatMap(\.names))
        #expect(
            names.subtracting(["json", "queue", "config", "no-config", "help", "version"])
                == Set(QueueOption.table.compactMap(\.commandLine)))
        for (name, values) in [
            ("max-running", ["0", "65"]), ("limit-schedule", ["8", "25:00-26:00=1M"]),
            ("rule", ["metered", "metered=0"]),
        ] {
            let option = try #require(QueueOption.typed(name))
            for value in values {
                let error = #expect(throws: (any Error).self) {
                    try Manager.parseAsRoot(["settings", "--\(name)=\(value)"])
                }
                #expect(
                    error.map { Manager.message(for: $0) }
                        == Diagnostic.describe("--\(name)", takes: option.kind))
            }
        }
        for value in ["1", "64"] {
            _ = try Manager.parseAsRoot(["settings", "--max-running", value])
        }
    }

    /// `segget set` changes each option that can change, by its own name and by its name in lists.
    @Test func setTakesEachChangeableOption() throws {
        let names = TransferOption.table.filter {
            $0.effect != .never && $0.places.contains(.socket)
        }.flatMap { option in
            option.names.filter { name in
                if case .part = name.meaning { return false }
                // On the command line this name is another option, which cannot change.
                return name.text != "continue"
                    && !name.surfaces.isDisjoint(with: [.commandLine, .list])
            }.map(\.text)
        }
        #expect(names.count > 60)
        for name in names {
            _ = try Manager.parseAsRoot(["set", "1", "--option", "\(name)="])
        }
        for text in [
            "adopt=f", "password-fd=3", "no-such-option=1", "retries=1001", "retries",
            "continue=true", "no-resume=yes", "max-redirs=101",
        ] {
            #expect(throws: (any Error).self, "\(text)") {
                try Manager.parseAsRoot(["set", "1", "--option", text])
            }
        }
    }

    @Test func helpFitsTheScreen() {
        let text = HelpText.overview(Self.program)
        #expect(text.split(separator: "\n").count <= 41)
        #expect(text.split(separator: "\n").allSatisfy { $0.count < 90 })
    }
}

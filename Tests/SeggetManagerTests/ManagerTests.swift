import ArgumentParser
import Testing

@testable import SeggetCommand
@testable import segget_manager

/// What the manager has beside the lean program's commands.
struct ManagerTests {
    private static let program = Program(Manager.self)

    @Test func itHasEveryCommandOfTheLeanProgram() {
        let lean = Program.segget.tree.commands
        #expect(
            Array(Self.program.tree.commands.prefix(lean.count)).map(\.name) == lean.map(\.name))
    }

    /// By these names the lean program knows whom to hand over to.
    @Test func itsOwnCommandsAreThoseThatAreHandedOver() {
        for type in Manager.queue {
            let configuration = type.configuration
            let command = configuration.commandName.flatMap(QueueCommandName.init)
            #expect(command != nil, "\(type)")
            #expect(configuration.abstract == command?.abstract)
        }
    }

    /// In a configuration file the lean program passes them over.
    @Test func itsOwnOptionsAreKnownToTheLeanProgram() {
        let own = Self.program.tree.allNames.subtracting(Program.segget.tree.allNames)
        #expect(own == QueueCommandName.options)
    }

    /// The queue's name is not taken for a URL, nor a URL for a command.
    @Test func theQueueMayStandInFrontOfACommand() {
        let typed = ["--queue", "q", "list", "--json"]
        #expect(
            Invocation.commandFirst(typed, of: Self.program) == ["list", "--queue", "q", "--json"])
        let urls = ["--queue", "http://h/list"]
        #expect(Invocation.commandFirst(urls, of: Self.program) == urls)
    }

    @Test func itsHelpFitsAScreen() {
        let text = HelpText.overview(Self.program)
        #expect(text.split(separator: "\n").count <= 40)
        #expect(text.split(separator: "\n").allSatisfy { $0.count < 90 })
    }
}

import ArgumentParser
import Glibc
import SeggetCommand
import SeggetFormats

/// `segget-manager options`: prints the catalogue of options, for `make docs`.
struct OptionsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "options", abstract: "Print the options of a download as a table.",
        shouldDisplay: false)

    func run() throws {
        let lines = TransferOption.table.filter { !$0.places.isEmpty || !$0.names.isEmpty }.map(row)
        StandardStreams.write(lines.joined(separator: "\n") + "\n", to: STDOUT_FILENO)
    }

    private func row(_ option: TransferOption) -> String {
        func names(_ surface: OptionName.Surfaces, _ prefix: String = "") -> String {
            option.names.filter { !$0.surfaces.isDisjoint(with: surface) }
                .map { "`\(prefix)\($0.text)`" }.joined(separator: ", ")
        }
        let cells = [
            "`\(option.key)`", names(.commandLine, "--"),
            option.places.contains(.list) ? names(.list) : "",
            names(.aria2), option.kind.expected,
            option.places.contains(.tcp) ? "yes" : "no", change(option.effect), option.help,
        ]
        return "| " + cells.map { $0.replacing("|", with: "\\|") }.joined(separator: " | ") + " |"
    }

    private func change(_ effect: TransferOption.Effect) -> String {
        switch effect {
        case .atOnce: "at once"
        case .nextStart: "next start"
        case .never: "no"
        }
    }
}

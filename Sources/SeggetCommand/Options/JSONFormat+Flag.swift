public import ArgumentParser
public import SeggetReports

/// `--json`, and `--json=1`, which `Settings` passes on as a flag of its own.
extension JSONFormat: EnumerableFlag {
    /// The formats, the current one first.
    public static let allCases: [JSONFormat] = [.current, .first]

    /// Hides the flag of format 1 in the help.
    public static func help(for format: JSONFormat) -> ArgumentHelp? {
        format == .first ? .hidden : nil
    }

    /// Names the flag of each format.
    public static func name(for format: JSONFormat) -> NameSpecification {
        switch format {
        case .first: .customLong("json-1")
        case .current: .customLong("json")
        }
    }
}

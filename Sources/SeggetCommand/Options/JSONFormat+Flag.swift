public import ArgumentParser
public import SeggetReports

/// `--json`, and `--json=1`, which `Settings` passes on as a flag of its own.
extension JSONFormat: EnumerableFlag {
    public static let allCases: [JSONFormat] = [.current, .first]

    public static func help(for format: JSONFormat) -> ArgumentHelp? {
        format == .first ? .hidden : nil
    }

    public static func name(for format: JSONFormat) -> NameSpecification {
        switch format {
        case .first: .customLong("json-1")
        case .current: .customLong("json")
        }
    }
}

package import Segmenter

// Messages about plans.
extension Diagnostic {
    /// Returns the messages for a plan that cannot be used.
    package static func messages(_ error: PlanError, path: String) -> [Message] {
        let place = quote(path) + (error.line.map { ", line \($0)" } ?? "")
        let hint: String? =
            switch error.kind {
            case .unreadable: "give `--plan` a file that `segget plan` has written"
            case .unwritable: nil
            case .notReplaced: "give `--output` another name, or remove the file"
            case .notAPlan:
                "`segget plan` writes plans; for a list of URLs, give `--input-file`"
            case .laterVersion: "use a later version of segget"
            default: "nothing was downloaded; get the plan again, or make a new one"
            }
        return [Message(.error, "\(place): \(describe(error.kind))")]
            + (hint.map { [Message(.hint, $0)] } ?? [])
    }

    /// Returns the exit code for a plan that cannot be used.
    package static func status(_ error: PlanError) -> ExitStatus {
        switch error.kind {
        case .unreadable, .notAPlan, .laterVersion, .altered, .cut, .badPath, .badAddress,
            .badSize, .duplicate, .folderIsFile:
            .usage
        case .unwritable, .notReplaced: .cannotCreate
        }
    }

    private static func describe(_ kind: PlanError.Kind) -> String {
        switch kind {
        case .unreadable(let code): "the plan cannot be read: \(describe(errno: code))"
        case .unwritable(let code): "the plan cannot be written: \(describe(errno: code))"
        case .notReplaced: "the file exists and is not a plan; it was not replaced"
        case .notAPlan: "the file is not a plan"
        case .laterVersion(let version): "the plan has version \(version), which is too new"
        case .altered:
            "the line was altered, or belongs to another plan: its checksum does not match"
        case .cut(let expected, let got):
            "the plan is cut: it has \(got) of \(Units.count(Int64(expected), "file"))"
        case .badPath(let path, let fault):
            "the path \(quote(path)) \(describe(fault))"
        case .badAddress: "the address is missing, or is not an http or https URL"
        case .badSize: "the size cannot be right"
        case .duplicate(let path, let line):
            "line \(line) has the path \(quote(path)), too, and no digest shows "
                + "that both are the same file"
        case .folderIsFile(let path):
            "\(quote(path)) is the path of a file and of a folder"
        }
    }

    private static func describe(_ fault: PlanError.PathFault) -> String {
        switch fault {
        case .empty: "has an empty name"
        case .absolute: "is absolute, and must be relative to the folder of the set"
        case .leadsElsewhere: "contains `.` or `..`"
        case .nul: "contains a NUL character"
        case .tooLong: "is too long: a name has at most 255 bytes"
        case .reserved: "is in `.segget`, where segget keeps its records"
        }
    }
}

package import Assembler
import FoundationEssentials
package import Segmenter

/// The texts about the folder of a data set.
///
/// Pure.
package enum SetWords {
    /// Returns what is complete at the start of a run; `nil` if nothing is.
    package static func begin(_ figures: SetFigures, _ work: SetWork) -> String? {
        guard work.complete > 0 else { return nil }
        let all = Units.count(Int64(figures.files), "file")
        var text = "\(work.complete) of \(all) \(figures.files == 1 ? "is" : "are") complete"
        text += " (\(Units.size(figures.bytesComplete)))"
        if let asOf = work.asOf { text += ", as of \(day(asOf))" }
        return text
    }

    /// Returns a time as `2026-11-29T12:00:00Z`.
    static func day(_ seconds: Int64) -> String {
        Date(timeIntervalSince1970: Double(seconds)).formatted(.iso8601)
    }

    /// Returns the message about a file that stays.
    package static func kept(_ path: String) -> String {
        "\(Diagnostic.quote(path)) is not the planned version, and was not written by this set, or "
            + "was changed since: it was left as it is"
    }

    /// The hint for files that stay.
    package static let keptHint =
        "move or remove these files, then run the same command again to download them"

    /// Returns the message about an extra file that stays.
    package static func keptExtra(_ path: String) -> String {
        "\(Diagnostic.quote(path)) is no longer in the plan, and was changed since this set wrote "
            + "it: it was not removed"
    }

    /// Returns the kind of the failure to write records, a name for programs.
    package static func kind(unrecorded error: AssemblyError) -> String {
        Diagnostic(error, again: "").kind
    }

    /// Returns the messages about records that could not be written.
    package static func unrecorded(_ error: AssemblyError) -> [Message] {
        [
            Message(.error, Diagnostic(error, again: "").message),
            Message(
                .hint, "some files are not recorded as complete: the next run reads them instead"),
        ]
    }

    /// Returns the message about extras that were removed, or would be.
    package static func removed(_ path: String, isDryRun: Bool) -> String {
        "\(isDryRun ? "would remove" : "removed") \(Diagnostic.quote(path))"
    }
}

extension Diagnostic {
    /// Returns the messages for the folder of a set that cannot be used.
    package static func messages(_ error: SetError) -> [Message] {
        switch error {
        case .plan(let error, let path): messages(error, path: path)
        case .assembly(let error):
            [Message(.error, Diagnostic(error, again: "run the same command again").message)]
        case .inUse(let folder, let host, let pid):
            [
                Message(
                    .error,
                    "another run works on the set in \(quote(folder))" + process(host, pid)),
                Message(.hint, "wait until it has ended, or stop it; nothing was changed"),
            ]
        case .foreignLedger(let path):
            [
                Message(
                    .error, "\(quote(path)) is not the ledger of this set; it was not changed"),
                Message(.hint, "move it elsewhere; complete files are then recognised by reading"),
            ]
        case .laterVersion(let version, let path):
            [
                Message(
                    .error, "the ledger \(quote(path)) has version \(version), which is too new"),
                Message(.hint, "use a later version of segget"),
            ]
        case .noSet(let folder):
            [
                Message(.error, "\(quote(folder)) has no set: `.segget` has no plan"),
                Message(
                    .hint,
                    "give the folder of `segget get --plan PLAN --directory FOLDER`, or a plan"),
            ]
        case .tooManyExtras(let count, let all):
            [
                Message(
                    .error,
                    "the plan no longer lists \(count) of \(Units.count(Int64(all), "file")): more "
                        + "than half; nothing was removed"),
                Message(.hint, "check the plan; `--force` removes them"),
            ]
        }
    }

    /// Returns the exit code for the folder of a set that cannot be used.
    package static func status(_ error: SetError) -> ExitStatus {
        switch error {
        case .plan(let error, _): status(error)
        case .assembly(let error): Diagnostic(error, again: "").status
        case .inUse, .foreignLedger, .laterVersion, .tooManyExtras: .cannotCreate
        case .noSet: .usage
        }
    }

    private static func process(_ host: String?, _ pid: Int32?) -> String {
        guard let pid else { return "" }
        return ": process \(pid)" + (host.map { " on \($0)" } ?? "")
    }
}

extension SetFailure {
    /// Creates the record of a failure.
    package init(_ error: DownloadError) {
        let diagnostic = Diagnostic(error)
        self.init(
            kind: diagnostic.kind, code: diagnostic.status.rawValue, message: diagnostic.message,
            hint: diagnostic.hint)
    }
}

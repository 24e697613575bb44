package import Assembler
package import Segmenter

/// The texts about the Hub's cache.
///
/// Pure.
package enum HubWords {
    /// Returns the text about a list that is being requested.
    ///
    /// - Parameters:
    ///   - name: The name of the repository.
    ///   - count: The number of files so far.
    /// - Returns: The text.
    package static func listing(_ name: String, _ count: Int) -> String {
        "listing \(name)" + (count > 0 ? ": \(Units.count(Int64(count), "file"))" : "")
    }

    /// Returns the message that others are downloading the missing files.
    ///
    /// - Parameters:
    ///   - count: The number of files.
    ///   - holder: One of the processes; `nil` if it is not known.
    /// - Returns: The message.
    package static func waits(_ count: Int, _ holder: LockHolder?) -> Message {
        let who = holder.map { "process \($0.pid) on \($0.host)" } ?? "another process"
        return Message(
            .note,
            "waiting for \(who), which is downloading \(Units.count(Int64(count), "missing file"))")
    }

    /// Returns the message about a blob whose content is not what its name says.
    package static func wrong(_ path: String) -> String {
        "\(Diagnostic.quote(path)) does not have the content that the Hub states; segget did not "
            + "write it, and left it as it is"
    }

    /// Returns the message about such a blob for the queue, with the next step.
    package static func wrongForQueue(_ path: String) -> String {
        "\(wrong(path)): remove it, then retry"
    }

    /// Returns the message about a server or token that cannot be used; it does not show the token.
    ///
    /// - Parameters:
    ///   - reason: The reason.
    ///   - grant: Where the token is.
    /// - Returns: The message.
    package static func unusable(_ reason: DownloadError.Reason, of grant: HubGrant) -> String {
        if case .invalidURL = reason { return "HF_ENDPOINT is not an http or https URL" }
        let place = grant.file.map { "the file \(Diagnostic.quote($0))" } ?? grant.variable
        return "the token for the Hub" + (place.map { " in \($0)" } ?? "")
            + " has a space or control character in it"
    }

    /// Returns the message about something else that has the path of a blob.
    package static func foreign(_ path: String) -> String {
        "\(Diagnostic.quote(path)) is not a file in this cache; it was left as it is"
    }

    /// The hint for wrong blobs.
    package static let wrongHint =
        "remove these files, then run the same command again to download them"

    /// Returns the message about a path in a snapshot that is something else than its link.
    package static func kept(_ path: String) -> String {
        "\(Diagnostic.quote(path)) is not a link to the file of this commit; it was left as it is"
    }

    /// Returns the last line of a run.
    ///
    /// - Parameters:
    ///   - path: The path of what was asked for.
    ///   - unchecked: The number of files that were not read (`--trust-cache`).
    /// - Returns: The line.
    package static func saved(_ path: String, unchecked: Int) -> Message {
        let doubt =
            unchecked > 0
            ? "; \(Units.count(Int64(unchecked), "file")) not checked (`--trust-cache`)" : ""
        return Message(.none, "in \(Diagnostic.quote(path))\(doubt)")
    }
}

public import Assembler

/// What a download would do if it were started now.
public struct DownloadPreview: Sendable, Equatable {
    /// What would be done.
    #if hasAttribute(nonexhaustive)
        @nonexhaustive
    #endif
    public enum Action: Sendable, Hashable {
        /// Fetch all of it; nothing is left of an earlier run.
        case begin
        /// Continue what an earlier run left.
        case resume
        /// Continue what another program has begun (``DownloadOptions/adopt``).
        case adopt
        /// Fetch all of it again: what an earlier run left cannot be continued.
        case startOver(StartOverReason)
        /// Check what a killed run had completed, and give it its name; nothing is fetched.
        case finish
        /// Nothing: the file is there.
        case leave(DownloadedFile.Unchanged)
    }

    /// What would be done.
    public var action: Action
    /// Path of the finished file.
    public var path: String
    /// What the server offers; `nil` where it would not be asked.
    public var file: RemoteFile?
    /// Bytes of an earlier run, or of another program, that would not be fetched again, if they pass their checks.
    public var bytesKept: Int64
    /// Number of connections to be used; 0 where nothing would be fetched.
    public var connections: Int
    /// The folder that would be made for it, and those above it that are missing.
    public var missingFolder: String?
}

extension DownloadSession {
    /// A URL without credentials, query and fragment, fit for messages and logs.
    ///
    /// - Parameter url: Any text.
    /// - Returns: The URL, or an empty text for what is no http or https URL.
    public static func redacted(_ url: String) -> String { WebURL(url)?.redacted ?? "" }
}

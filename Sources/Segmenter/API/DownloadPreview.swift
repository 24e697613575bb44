public import Assembler

/// The actions that a download would take if it started now.
public struct DownloadPreview: Sendable, Equatable {
    /// The action that a download would take.
    #if hasAttribute(nonexhaustive)
        @nonexhaustive
    #endif
    public enum Action: Sendable, Hashable {
        /// Download the whole file; there is nothing to resume.
        case begin
        /// Resume the part of an earlier run.
        case resume
        /// Continue a file that another program began to download (``DownloadOptions/adopt``).
        case adopt
        /// Download the whole file again, because the part of an earlier run cannot be resumed.
        case startOver(StartOverReason)
        /// Verify and publish a part that a killed run had completed; nothing is downloaded.
        case finish
        /// Nothing, because the file exists.
        case leave(DownloadedFile.Unchanged)
    }

    /// The action that the download would take.
    public var action: Action
    /// The path of the finished file.
    public var path: String
    /// The file that the server offers; `nil` if no request would be sent.
    public var file: RemoteFile?
    /// The number of existing bytes that would not be downloaded again, if they pass their checks.
    ///
    /// An earlier run or another program has downloaded them.
    public var bytesKept: Int64
    /// The number of connections to use; 0 if nothing would be downloaded.
    public var connections: Int
    /// The folder that would be created, together with its missing parents; `nil` if it exists.
    public var missingFolder: String?
}

extension DownloadSession {
    /// Returns a URL without credentials, query and fragment, for messages and logs.
    ///
    /// - Parameter url: Any text.
    /// - Returns: The URL; empty if the text is not an http or https URL.
    public static func redacted(_ url: String) -> String { WebURL(url)?.redacted ?? "" }
}

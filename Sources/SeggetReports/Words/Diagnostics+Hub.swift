package import Segmenter

// Messages about the Hugging Face Hub.
extension Diagnostic {
    /// Returns the messages for a repository that cannot be listed.
    package static func messages(_ error: HubError) -> [Message] {
        if case .request(let error) = error { return Diagnostic(error).messages }
        let (message, hint) = words(error)
        return [Message(.error, message)] + (hint.map { [Message(.hint, $0)] } ?? [])
    }

    /// Returns the exit code for a repository that cannot be listed.
    package static func status(_ error: HubError) -> ExitStatus {
        switch error {
        case .request(let error): Diagnostic(error).status
        case .noRepository(_, let hasToken): hasToken ? .unavailable : .refused
        case .gated: .refused
        case .noRevision, .noFile, .noQuantization: .unavailable
        case .unusable: .remoteChanged
        }
    }

    /// Returns whether a download failed because its bytes are not those of the planned file: the
    /// digest, or before it a sample of the bytes that the download continued, was another one.
    package static func isOfWrongBytes(_ error: DownloadError) -> Bool {
        [.checksumMismatch, .cannotCreate].contains(Diagnostic(error).status)
    }

    /// Returns the messages for files that are missing while no request is allowed.
    ///
    /// - Parameters:
    ///   - address: The repository.
    ///   - missing: The paths of the files; none if they are not known.
    /// - Returns: The messages.
    package static func offline(_ address: HubAddress, missing: [String]) -> [Message] {
        let cause =
            missing.isEmpty
            ? [Message(.error, "it is not known which files \(quote(address.text)) has")]
            : missing.map { Message(.error, "\(quote($0)) is missing") }
        return cause + [Message(.hint, "unset HF_HUB_OFFLINE to download from the Hub")]
    }

    private static func words(_ error: HubError) -> (message: String, hint: String?) {
        switch error {
        case .request: ("", nil)
        case .noRepository(let name, let hasToken):
            (
                "the Hub has no repository \(quote(name)), or does not show it to you",
                hasToken
                    ? "check the name, and whether the token's account has access"
                    : "check the name; for a private repository, set HF_TOKEN or `--hf-token-file`"
            )
        case .gated(let name, let page):
            (
                "access to \(quote(name)) must be requested",
                "request it at \(page), and set HF_TOKEN or `--hf-token-file`"
            )
        case .noRevision(let revision, let name):
            (
                "\(quote(name)) has no revision \(quote(revision))",
                "give a branch, tag or commit behind `@`"
            )
        case .noFile(let path, let nearest):
            (
                "the repository has no file or folder \(quote(path))",
                nearest.isEmpty
                    ? nil : "similar: " + nearest.map { quote($0) }.joined(separator: ", ")
            )
        case .noQuantization(let word, let others):
            (
                "the model has no file with the quantization \(quote(word))",
                others.isEmpty
                    ? "it has no GGUF file"
                    : "it has " + others.map { quote($0) }.joined(separator: ", ")
            )
        case .unusable(let url, let fault):
            ("the response of \(url) cannot be used: \(describe(fault))", "no plan was made")
        }
    }

    private static func describe(_ fault: HubError.Fault) -> String {
        switch fault {
        case .notJSON: "it is not the JSON of the Hub's API"
        case .tooLong: "it is too long"
        case .noCommit: "it names no commit"
        case .entry(let path): "\(quote(path)) has no size or no digest"
        case .path(let path): "\(quote(path)) cannot be a path below a folder"
        case .nextPage: "its next page was read before, or is on another server"
        }
    }

    /// Returns why a text is not an address of the Hub.
    package static func describe(_ error: HubAddress.SyntaxError) -> String {
        let form = "`hf://ORG/NAME`, or `hf://datasets/ORG/NAME@REVISION/PATH`"
        switch error {
        case .noRepository: return "an address of the Hub needs an organization and a name: \(form)"
        case .unknownType(let word):
            return "segget downloads no \(word) of the Hub, only models, datasets and spaces"
        case .badName(let word):
            return "\(quote(word)) is not a name on the Hub; the form is \(form)"
        case .noRevision: return "the revision behind `@` is empty"
        case .badPath(let path): return "\(quote(path)) is not a path in a repository"
        case .badQuantization:
            return "a quantization (`hf://ORG/NAME:Q4_K_M`) is for a model, and without a path"
        }
    }
}

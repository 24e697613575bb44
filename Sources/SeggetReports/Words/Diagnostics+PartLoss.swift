import Assembler

extension Diagnostic {
    /// Creates the message for a part that another program removed or unmounted while segget wrote
    /// it.
    init(_ loss: PartLoss, path: String) {
        let part = Self.quote(path)
        let message =
            switch loss {
            case .removed:
                "another program removed \(part) or its folder during the download: "
                    + "the received bytes are gone"
            case .nameGone:
                "another program removed or moved \(part) during the download: "
                    + "the received bytes are gone from its folder"
            case .unmounted:
                "the file system of \(part) was unmounted during the download: "
                    + "the received bytes are gone with it"
            }
        let hint =
            loss == .unmounted
            ? "mount the file system and start the download again; it resumes only if \(part) is on it"
            : "start the download again, from the first byte; leave \(part) in place meanwhile"
        self.init(.disk, "part_gone", message, hint: hint)
    }
}

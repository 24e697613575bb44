extension Publishing {
    /// What a start finds of an earlier run that was about to rename.
    package struct Situation: Sendable, Hashable {
        /// What the manifest says was about to be renamed.
        package var publishing: FileIdentity?
        /// What stands at the destination.
        package var destination: FileIdentity?
        /// What stands at the part's name.
        package var part: FileIdentity?

        package init(publishing: FileIdentity?, destination: FileIdentity?, part: FileIdentity?) {
            self.publishing = publishing
            self.destination = destination
            self.part = part
        }
    }

    /// What to do about it.
    package enum Action: Sendable, Hashable {
        /// Nothing was about to be renamed, or something else has happened since: as always.
        case proceed
        /// The destination is that file: only tidying up is left.
        case finish
        /// The part is that file, and the destination is free: rename.
        case rename
    }

    /// The start-up table.
    ///
    /// Pure.
    package static func action(for now: Situation) -> Action {
        guard let file = now.publishing else { return .proceed }
        guard let destination = now.destination else {
            return file.isSame(as: now.part) ? .rename : .proceed
        }
        return file.isSame(as: destination) ? .finish : .proceed
    }
}

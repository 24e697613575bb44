extension Publishing {
    /// The files that exist when a run starts after an interrupted publishing.
    package struct Situation: Sendable, Hashable {
        /// The identity of the file that was about to be renamed, according to the manifest.
        package var publishing: FileIdentity?
        /// The identity of the file at the destination.
        package var destination: FileIdentity?
        /// The identity of the file at the part's name.
        package var part: FileIdentity?

        package init(publishing: FileIdentity?, destination: FileIdentity?, part: FileIdentity?) {
            self.publishing = publishing
            self.destination = destination
            self.part = part
        }
    }

    /// The action that finishes an interrupted publishing.
    package enum Action: Sendable, Hashable {
        /// No file was about to be renamed, or the files have changed since: start as usual.
        case proceed
        /// The destination is the published file: remove or replace the manifest.
        case finish
        /// The part is the file to publish, and the destination is free: rename the part.
        case rename
    }

    /// Returns the action for the files that exist.
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

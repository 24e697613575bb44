/// The URLs and the generation that identify a download's part and manifest.
package struct PartOwner: Sendable, Hashable {
    /// The complete URLs of the download; a manifest for one of them belongs to the download.
    package var urls: [String]
    /// The manifest's generation from another record; `nil` if unknown.
    ///
    /// A manifest of this generation belongs to the download, whatever URL it records.
    package var generation: String?

    package init(urls: [String], generation: String? = nil) {
        (self.urls, self.generation) = (urls, generation)
    }

    fileprivate func owns(_ header: Manifest.Header) -> Bool {
        header.generation == generation || urls.contains(where: header.belongs)
    }
}

extension Assembly {
    /// The files at a download's destination and beside it, while no run has them open.
    package struct Standing: Sendable, Hashable {
        /// The file at the part's name.
        package enum Part: Sendable, Hashable {
            /// No file exists.
            case none
            /// An empty file without a manifest, from a run that was killed right after its start.
            case empty(FileIdentity)
            /// A file whose manifest belongs to this download.
            case ours(FileIdentity)
            /// Any other file.
            case foreign(FileIdentity)
        }

        /// The file at the manifest's name.
        package enum Sidecar: Sendable, Hashable {
            /// No file exists.
            case none
            /// A manifest of this download.
            case ours(Record)
            /// A manifest of another download, or another file that must not be changed.
            case other
            /// A segget manifest that cannot be read: damaged, or of another format version.
            case unreadable
        }

        /// The file at the destination's name.
        package enum Occupant: Sendable, Hashable {
            /// No file exists.
            case none
            /// A regular file.
            case regular(FileStatus)
            /// A folder, device, pipe, socket or link.
            case other
        }

        /// The facts in a manifest of this download.
        package struct Record: Sendable, Hashable {
            /// The generation of the part.
            package var generation: String
            /// The size of the file in bytes; `nil` if unknown.
            package var size: Int64?
            /// The received extents, not verified against the data yet.
            package var extents: [Extent]
            /// The number of received bytes.
            package var bytes: Int64
            /// The verified part that was about to be renamed.
            package var publishing: FileIdentity?
            /// The size in bytes of the finished file that the manifest was kept for.
            package var finished: Int64?
            /// Whether the digest of the complete part was wrong.
            package var isRejected: Bool

            package init(
                generation: String, size: Int64? = nil, extents: [Extent] = [], bytes: Int64 = 0,
                publishing: FileIdentity? = nil, finished: Int64? = nil, isRejected: Bool = false
            ) {
                self.generation = generation
                self.size = size
                self.extents = extents
                self.bytes = bytes
                self.publishing = publishing
                self.finished = finished
                self.isRejected = isRejected
            }

            init(_ manifest: Manifest) {
                self.init(
                    generation: manifest.header.generation, size: manifest.header.size,
                    extents: manifest.extents.extents, bytes: manifest.extents.covered.count,
                    publishing: manifest.publishing, finished: manifest.finished,
                    isRejected: manifest.rejected != nil)
            }
        }

        /// The file at the part's name.
        package var part: Part
        /// The file at the manifest's name.
        package var manifest: Sidecar
        /// The file at the destination's name.
        package var destination: Occupant

        /// Creates a value from the three files.
        package init(part: Part, manifest: Sidecar, destination: Occupant) {
            self.part = part
            self.manifest = manifest
            self.destination = destination
        }

        /// Inspects the files of a download without changing anything.
        ///
        /// - Parameters:
        ///   - names: The names of the finished file, the part and the manifest.
        ///   - folder: The folder of the files.
        ///   - owner: The URLs and generation that identify the download.
        /// - Throws: `cannotCreate` if a file cannot be inspected, `io`.
        init(_ names: PartNames, in folder: Folder, owner: PartOwner) throws(AssemblyError) {
            manifest = try Self.sidecar(names, in: folder, owner: owner)
            part = try Self.part(names, in: folder, beside: manifest)
            switch try folder.status(of: names.destination) {
            case nil: destination = .none
            case let status? where status.isRegular: destination = .regular(status)
            default: destination = .other
            }
        }

        private static func sidecar(
            _ names: PartNames, in folder: Folder, owner: PartOwner
        ) throws(AssemblyError) -> Sidecar {
            let found: Result<Manifest, Manifest.ReadError>?
            do throws(AssemblyError) {
                found = try Manifest.read(names.manifest, in: folder)
            } catch {
                switch error {
                case .notARegularFile, .foreignPart: return .other
                default: throw error
                }
            }
            switch found {
            case nil: return .none
            case .success(let manifest):
                return owner.owns(manifest.header) ? .ours(Record(manifest)) : .other
            case .failure(.unreadable(isOurs: false)): return .other
            case .failure: return .unreadable
            }
        }

        private static func part(
            _ names: PartNames, in folder: Folder, beside manifest: Sidecar
        ) throws(AssemblyError) -> Part {
            guard let status = try folder.status(of: names.part) else { return .none }
            guard status.isRegular, try folder.trusts(status) else {
                return .foreign(status.identity)
            }
            switch manifest {
            case .ours: return .ours(status.identity)
            case .none where status.size == 0: return .empty(status.identity)
            default: return .foreign(status.identity)
            }
        }

        /// The finished file, if the manifest records that it was about to be renamed.
        var published: FileStatus? {
            guard case .ours(let record) = manifest, case .regular(let status) = destination,
                let publishing = record.publishing, publishing.isSame(as: status.identity)
            else { return nil }
            return status
        }
    }
}

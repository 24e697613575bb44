/// What the part and the manifest of a download are known by.
package struct PartOwner: Sendable, Hashable {
    /// The URLs of the download in full: a manifest of one of them is its own.
    package var urls: [String]
    /// The manifest's generation as it was recorded elsewhere; `nil` when it was not.
    ///
    /// That manifest is its own whatever link it was last continued with.
    package var generation: String?

    package init(urls: [String], generation: String? = nil) {
        (self.urls, self.generation) = (urls, generation)
    }

    func owns(_ header: Manifest.Header) -> Bool {
        header.generation == generation || urls.contains(where: header.belongs)
    }
}

extension Assembly {
    /// What stands where a download's file is to be, and beside it, while no download has it open.
    package struct Standing: Sendable, Hashable {
        /// What stands at the part's name.
        package enum Part: Sendable, Hashable {
            /// Nothing.
            case none
            /// A file without a byte and without a manifest, as a run leaves it that was killed at once.
            case empty(FileIdentity)
            /// A file whose manifest is of this download.
            case ours(FileIdentity)
            /// Anything else.
            case foreign(FileIdentity)
        }

        /// What stands at the manifest's name.
        package enum Sidecar: Sendable, Hashable {
            /// Nothing.
            case none
            /// A manifest of this download.
            case ours(Record)
            /// A manifest of another download, or something else that is to be left alone.
            case other
            /// One of segget's that cannot be read: damaged, or of another version.
            case unreadable
        }

        /// What stands at the name of the finished file.
        package enum Occupant: Sendable, Hashable {
            /// Nothing.
            case none
            /// A regular file.
            case regular(FileStatus)
            /// A folder, device, pipe, socket or link.
            case other
        }

        /// What a manifest of this download says.
        package struct Record: Sendable, Hashable {
            /// Which part it is about.
            package var generation: String
            /// Size of the file in bytes; `nil` when unknown.
            package var size: Int64?
            /// What arrived, not yet checked against the data.
            package var extents: [Extent]
            /// Bytes that arrived.
            package var bytes: Int64
            /// The part that was verified, and about to be renamed.
            package var publishing: FileIdentity?
            /// Size in bytes of the finished file that the manifest was kept for.
            package var finished: Int64?
            /// Whether the complete part had another digest than expected.
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

        /// What stands at the part's name.
        package var part: Part
        /// What stands at the manifest's name.
        package var manifest: Sidecar
        /// What stands at the name of the finished file.
        package var destination: Occupant

        /// Puts together what stands where.
        package init(part: Part, manifest: Sidecar, destination: Occupant) {
            self.part = part
            self.manifest = manifest
            self.destination = destination
        }

        /// Looks, and changes nothing.
        ///
        /// - Parameters:
        ///   - names: The names of the finished file, the part and the manifest.
        ///   - folder: Where they stand.
        ///   - owner: The download: what it is known by.
        /// - Throws: `cannotCreate` when it cannot be looked at, `io`.
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
            let found: Result<Manifest, Manifest.Problem>?
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

        /// The finished file that the manifest was about to give its name, and that has it.
        var published: FileStatus? {
            guard case .ours(let record) = manifest, case .regular(let status) = destination,
                let publishing = record.publishing, publishing.isSame(as: status.identity)
            else { return nil }
            return status
        }
    }
}

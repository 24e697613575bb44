import Glibc

// Files that earlier runs left in a folder.
extension Folder {
    /// A manifest, identified by the destination's name and its inode.
    package struct ManifestEntry: Sendable, Hashable {
        /// The name of the destination.
        package var name: String
        /// The inode of the manifest, which changes when the manifest is replaced.
        package var inode: UInt64
    }

    /// Returns the names of the files in the folder, and the destinations of the manifests in it.
    ///
    /// Opens no file. May block on the disk. Empty if the folder cannot be read.
    package func fileNames() -> [String] {
        var names: [String] = []
        forEachEntry { name, _, type in
            let name = String(decoding: name, as: UTF8.self)
            if name.hasSuffix(PartNames.manifestSuffix) {
                names.append(String(name.dropLast(PartNames.manifestSuffix.count)))
            } else if [UInt8(DT_REG), UInt8(DT_UNKNOWN)].contains(type) {
                names.append(name)
            }
        }
        return names
    }

    /// Returns the manifests in the folder, identified by their names only.
    ///
    /// Opens no file. May block on the disk. Empty if the folder cannot be read.
    package func manifests() -> [ManifestEntry] {
        let suffix = Array(PartNames.manifestSuffix.utf8)
        var manifests: [ManifestEntry] = []
        forEachEntry { name, inode, _ in
            guard name.count > suffix.count, name.suffix(suffix.count).elementsEqual(suffix)
            else { return }
            manifests.append(
                ManifestEntry(
                    name: String(decoding: name.dropLast(suffix.count), as: UTF8.self), inode: inode
                ))
        }
        return manifests
    }

    /// Returns the names of finished files in the folder whose attributes record their download.
    ///
    /// Opens each file. May block on the disk. Empty if the folder cannot be read.
    package func finishedNames() -> [String] {
        fileNames().filter { FinishedFacts.areMarked(on: $0, in: self) }
    }

    /// The time at which a file was last added, renamed or removed in the folder, in nanoseconds
    /// since 1970; `nil` if unknown.
    package var modified: Int64? {
        withDescriptor { descriptor in
            var status = stat()
            guard fstat(descriptor, &status) == 0 else { return nil }
            return Int64(status.st_mtim.tv_sec) * 1_000_000_000 + Int64(status.st_mtim.tv_nsec)
        }
    }

    func forEachEntry(
        _ body: (_ name: UnsafeBufferPointer<UInt8>, _ inode: UInt64, _ type: UInt8) -> Void
    ) {
        withDescriptor { descriptor in
            // Open the folder again, because duplicates of a descriptor share the read position.
            let own = openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            guard own >= 0 else { return }
            guard let stream = fdopendir(own) else {
                close(own)
                return
            }
            defer { closedir(stream) }
            while let entry = readdir(stream) {
                let (inode, type) = (UInt64(entry.pointee.d_ino), entry.pointee.d_type)
                withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                    pointer.withMemoryRebound(to: UInt8.self, capacity: 256) { bytes in
                        body(
                            UnsafeBufferPointer(
                                start: bytes,
                                count: strnlen(
                                    UnsafeRawPointer(pointer).assumingMemoryBound(to: CChar.self),
                                    256)), inode,
                            type)
                    }
                }
            }
        }
    }

    /// Returns the header of a destination, from its manifest or from the finished file's
    /// attributes.
    ///
    /// Returns `nil` if neither has one. May block on the disk.
    package func header(of name: String) -> Manifest.Header? {
        let manifest = try? Manifest.read(PartNames(name).manifest, in: self)
        if case .success(let manifest)? = manifest { return manifest.header }
        return (try? FinishedFacts.attributes(of: name, in: self))?.header
    }

    /// Returns the header of a destination's part; `nil` without a manifest, or if it is that of a
    /// finished file.
    ///
    /// May block on the disk.
    package func headerOfPart(_ name: String) -> Manifest.Header? {
        guard case .success(let manifest)? = try? Manifest.read(PartNames(name).manifest, in: self),
            manifest.finished == nil
        else { return nil }
        return manifest.header
    }
}

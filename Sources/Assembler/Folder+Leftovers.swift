import Glibc

// What earlier runs have left in a folder.
extension Folder {
    /// Which folder it is, however its path is spelled; `nil` when the system does not tell.
    package var identity: FileIdentity? {
        withDescriptor { FileStatus(of: $0)?.identity }
    }

    /// The destinations that have a manifest in the folder: names without `.segget`.
    ///
    /// May block on the disk. Empty when the folder cannot be read.
    package func unfinished() -> [String] {
        let suffix = Journal.name(for: "")
        return withDescriptor { descriptor in
            // Opened anew: reading moves a position that all duplicates share.
            let own = openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            guard own >= 0 else { return [] }
            guard let stream = fdopendir(own) else {
                close(own)
                return []
            }
            defer { closedir(stream) }
            var names: [String] = []
            while let entry = readdir(stream) {
                let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                    pointer.withMemoryRebound(to: CChar.self, capacity: 256) {
                        String(cString: $0)
                    }
                }
                if name.hasSuffix(suffix) { names.append(String(name.dropLast(suffix.count))) }
            }
            return names
        }
    }

    /// The header of the manifest of a destination; `nil` when there is none that can be read.
    ///
    /// May block on the disk.
    package func manifestHeader(of name: String) -> Manifest.Header? {
        guard
            case .success(let manifest)? = try? Assembly.readManifest(
                Journal.name(for: name), in: self)
        else { return nil }
        return manifest.header
    }
}

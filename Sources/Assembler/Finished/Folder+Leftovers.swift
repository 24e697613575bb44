import Glibc

// What earlier runs have left in a folder.
extension Folder {
    /// The names of the files in the folder that segget has begun or finished, as far as their
    /// manifests or attributes say.
    ///
    /// May block on the disk. Empty when the folder cannot be read.
    package func ownNames() -> [String] {
        let suffix = PartNames.manifestSuffix
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
                if name.hasSuffix(suffix) {
                    names.append(String(name.dropLast(suffix.count)))
                } else if [UInt8(DT_REG), UInt8(DT_UNKNOWN)].contains(entry.pointee.d_type),
                    FinishedFacts.areMarked(on: name, in: self)
                {
                    names.append(name)
                }
            }
            return names
        }
    }

    /// What a destination was begun for, by its manifest, or by the attributes of the finished file;
    /// `nil` when neither says.
    ///
    /// May block on the disk.
    package func header(of name: String) -> Manifest.Header? {
        let manifest = try? Manifest.read(PartNames(name).manifest, in: self)
        if case .success(let manifest)? = manifest { return manifest.header }
        return (try? FinishedFacts.attributes(of: name, in: self))?.header
    }
}

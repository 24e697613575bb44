import Glibc

// The folder of a data set.
extension Folder {
    /// Whether the folder has no entry but this one.
    package func isEmpty(but name: String) -> Bool {
        var isEmpty = true
        forEachEntry { entry, _, _ in
            let isItself = entry.elementsEqual(".".utf8) || entry.elementsEqual("..".utf8)
            if !isItself, !entry.elementsEqual(name.utf8) { isEmpty = false }
        }
        return isEmpty
    }

    /// Removes a file below this folder, durably, and the folders that are empty then.
    ///
    /// No symbolic link is followed, not even in the path.
    ///
    /// - Parameters:
    ///   - path: The path relative to this folder.
    ///   - isRemovable: Whether the file with this status may be removed.
    /// - Returns: `false` if there is no such file, or it may not be removed.
    /// - Throws: `cannotCreate`, `io`.
    package func remove(
        _ path: String, if isRemovable: (FileStatus) -> Bool
    ) throws(AssemblyError) -> Bool {
        let parts = path.split(separator: "/").map(String.init)
        guard let name = parts.last else { return false }
        var folders = [self]
        for part in parts.dropLast() {
            guard let folder = folders[folders.count - 1].folder(part) else { return false }
            folders.append(folder)
        }
        let folder = folders[folders.count - 1]
        guard let status = try folder.status(of: name), isRemovable(status) else { return false }
        try folder.remove(name)
        try folder.sync()
        for (index, part) in parts.dropLast().enumerated().reversed() {
            folders[index].removeFolder(part)
        }
        return true
    }
}

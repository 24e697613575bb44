import Glibc

/// The bits that the process's umask takes away; read from the kernel, because umask(2) can only
/// be asked by changing it for all threads.
func processUmask() -> mode_t {
    let digits = firstLine(of: "/proc/self/status") { line -> String? in
        line.hasPrefix("Umask:") ? line.dropFirst("Umask:".count).filter { !$0.isWhitespace } : nil
    }
    return digits.flatMap { mode_t($0, radix: 8) } ?? mode_t(0o077)
}

/// Memory of the machine, in bytes (sysconf(3)); `Int64.max` when nobody knows.
func physicalMemory() -> Int64 {
    let (pages, size) = (sysconf(Int32(_SC_PHYS_PAGES)), sysconf(Int32(_SC_PAGESIZE)))
    return pages > 0 && size > 0 ? Int64(pages) * Int64(size) : .max
}

/// What `find` gives for the first line of a text file for which it gives something; lines of more than
/// 255 bytes come in pieces.
///
/// - Returns: `nil` when no line gives anything, and when the file cannot be opened.
func firstLine<Result>(of path: String, where find: (String) -> Result?) -> Result? {
    guard let file = fopen(path, "r") else { return nil }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 256)
    while fgets(&line, Int32(line.count), file) != nil {
        let text = line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        if let found = find(String(decoding: text, as: UTF8.self)) { return found }
    }
    return nil
}

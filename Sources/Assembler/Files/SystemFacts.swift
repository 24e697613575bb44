import Glibc

/// Returns the umask of the process.
///
/// Reads it from /proc, because umask(2) returns it only by changing it for all threads.
package func processUmask() -> UInt32 {
    let digits = firstLine(of: "/proc/self/status") { line -> String? in
        line.hasPrefix("Umask:") ? line.dropFirst("Umask:".count).filter { !$0.isWhitespace } : nil
    }
    return digits.flatMap { UInt32($0, radix: 8) } ?? 0o077
}

/// Returns the physical memory in bytes (sysconf(3)); `Int64.max` if it is unknown.
func physicalMemory() -> Int64 {
    let (pages, size) = (sysconf(Int32(_SC_PHYS_PAGES)), sysconf(Int32(_SC_PAGESIZE)))
    return pages > 0 && size > 0 ? Int64(pages) * Int64(size) : .max
}

/// Returns the first non-`nil` result of `find` for the lines of a text file.
///
/// Lines longer than 255 bytes are passed in pieces.
///
/// - Returns: `nil` if no line has a result or the file cannot be opened.
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

import Glibc
package import Segmenter

extension ServerMemory {
    /// The user's.
    package static var own: ServerMemory? {
        ServerMemory { name in getenv(name).map { String(cString: $0) } }
    }
}

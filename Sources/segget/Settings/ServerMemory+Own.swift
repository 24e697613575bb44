import Glibc
import Segmenter

extension ServerMemory {
    /// The user's.
    static var own: ServerMemory? {
        ServerMemory { name in getenv(name).map { String(cString: $0) } }
    }
}

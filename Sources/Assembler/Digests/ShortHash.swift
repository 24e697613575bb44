import Crypto

/// The first 8 bytes of a text's SHA-256: what stands for a text that is not to be written down.
package func shortHash(of text: String) -> UInt64 {
    SHA256.hash(data: Array(text.utf8)).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
}

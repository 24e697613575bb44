import Crypto

/// Returns the first 8 bytes of the SHA-256 of a text, to be stored instead of the text itself.
package func shortHash(of text: String) -> UInt64 {
    SHA256.hash(data: Array(text.utf8)).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
}

import Crypto
import FoundationEssentials

/// The secret that clients have to send, stored as a digest.
struct Secret: Sendable {
    private let digest: SHA256Digest

    init(_ text: String) { digest = SHA256.hash(data: Data(text.utf8)) }

    /// Returns whether a text is the secret, in a time that does not depend on its common prefix.
    func `is`(_ text: some StringProtocol) -> Bool {
        // The library compares digests in constant time.
        SHA256.hash(data: Data(text.utf8)) == digest
    }
}

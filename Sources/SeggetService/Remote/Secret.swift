import Crypto
import FoundationEssentials

/// What a client has to know.
struct Secret: Sendable {
    private let digest: SHA256Digest

    init(_ text: String) { digest = SHA256.hash(data: Data(text.utf8)) }

    /// Whether a text is it; the time that this takes does not depend on how much of it is right.
    func `is`(_ text: some StringProtocol) -> Bool {
        // Digests of the library are compared in constant time.
        SHA256.hash(data: Data(text.utf8)) == digest
    }
}

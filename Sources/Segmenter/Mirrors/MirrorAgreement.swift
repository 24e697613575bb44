// Mirrors: whether two servers have the same file, and which of them is believed. Pure; it knows
// versions, digests and samples, and never asks a server itself.

import Assembler

/// Whether two URLs lead to the same file, so that bytes of both may stand in one.
///
/// Pure.
enum MirrorAgreement: Hashable {
    /// They may work on one file together.
    case together(Proof)
    /// Nothing contradicts, but nothing proves it either: one at a time.
    case standby
    /// It is another file.
    case contradicts(MirrorFault)

    /// What proves that two mirrors have the same file.
    enum Proof: Hashable {
        /// Both send the same strong entity tag, and no different date.
        case etag
        /// Both advertise the same SHA-256 or SHA-512 of the whole file, which is compared in the end.
        case digest
        /// The digest that the caller expects decides in the end.
        case checksum
    }

    /// Judges a mirror against the primary one.
    ///
    /// An equal `Last-Modified` proves nothing here: it is a time, and files of one release often
    /// share it.
    init(_ mirror: RemoteFile, with primary: RemoteFile, checksum: Digest?) {
        if let fault = Self.contradiction(in: mirror.digests, to: [checksum].compactMap { $0 })
            ?? Self.contradiction(in: mirror.digests, to: primary.digests)
        {
            self = .contradicts(fault)
        } else if let mine = primary.size, let theirs = mirror.size, mine != theirs {
            self = .contradicts(.otherSize(expected: mine, got: theirs))
        } else if primary.transfer != .segments || mirror.transfer != .segments {
            self = .standby
        } else if let proof = Self.proof(mirror, primary, checksum) {
            self = .together(proof)
        } else {
            self = .standby
        }
    }

    private static func proof(
        _ mirror: RemoteFile, _ primary: RemoteFile, _ checksum: Digest?
    ) -> Proof? {
        if primary.identity.hasSameStrongETag(as: mirror.identity) { return .etag }
        let strong = primary.digests.filter { $0.algorithm == .sha256 || $0.algorithm == .sha512 }
        if strong.contains(where: mirror.digests.contains) { return .digest }
        return canDecide(checksum) ? .checksum : nil
    }

    /// Whether an expected digest may be what holds bytes of several servers together: a CRC-32
    /// finds accidents, but proves nothing.
    static func canDecide(_ checksum: Digest?) -> Bool {
        checksum.map { $0.algorithm != .crc32 } ?? false
    }

    /// How advertised digests contradict expected ones.
    static func contradiction(in advertised: [Digest], to expected: [Digest]) -> MirrorFault? {
        for digest in expected {
            let got = advertised.first { $0.algorithm == digest.algorithm && $0 != digest }
            if let got { return .otherDigest(expected: digest, got: got) }
        }
        return nil
    }
}

// Mirrors: whether two servers have the same file, and which of them is trusted. Pure. This folder
// uses versions, digests and samples, and sends no requests.

/// Whether two URLs lead to the same file, so that one download may use the bytes of both.
///
/// Pure.
package enum MirrorAgreement: Hashable {
    /// Both may be used for one file at the same time.
    case together(Proof)
    /// Nothing shows whether the file is the same; only one of the two is used at a time.
    case standby
    /// The mirror has a different file.
    case contradicts(MirrorFault)

    /// The evidence that two mirrors have the same file.
    package enum Proof: Hashable {
        /// Both send the same strong entity tag, and no different date.
        case etag
        /// Both advertise the same SHA-256 or SHA-512 of the file, which is verified in the end.
        case digest
        /// The digest that the caller expects verifies the file in the end.
        case checksum
    }

    /// Compares a mirror with the primary one.
    ///
    /// Equal values of `Last-Modified` are not evidence, because files of one release often share a
    /// time.
    package init(_ mirror: RemoteFile, with primary: RemoteFile, checksum: Digest?) {
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

    /// Returns whether an expected digest suffices to combine bytes of several servers.
    ///
    /// A CRC-32 does not: it detects accidental changes only.
    package static func canDecide(_ checksum: Digest?) -> Bool {
        checksum.map { $0.algorithm != .crc32 } ?? false
    }

    /// Returns how advertised digests contradict expected ones; `nil` if they do not.
    package static func contradiction(in advertised: [Digest], to expected: [Digest])
        -> MirrorFault?
    {
        for digest in expected {
            let got = advertised.first { $0.algorithm == digest.algorithm && $0 != digest }
            if let got { return .otherDigest(expected: digest, got: got) }
        }
        return nil
    }
}

extension MirrorFault {
    /// Returns whether the mirror may still have the right file, which only a digest can show.
    ///
    /// - Parameter checksum: The digest that the caller expects, if any.
    /// - Returns: Whether to try the mirror again if the files of other mirrors are wrong.
    package func mayBeRight(_ checksum: Digest?) -> Bool {
        switch self {
        case .otherData, .doubted: true
        // The mirror differs from the primary one, which may itself be wrong.
        case .otherSize, .changed: MirrorAgreement.canDecide(checksum)
        case .otherDigest(let expected, _):
            MirrorAgreement.canDecide(checksum) && expected != checksum
        case .failed, .rangesIgnored, .wrongDigest: false
        }
    }
}

// Sets: data sets in their folders, and which of their files are complete. This folder decides which
// files are downloaded, and records what became of them. It does not download them.

import Assembler
import SegmenterValues

/// The decision about a file of a set for which the ledger has a record.
///
/// Pure.
enum SetDecision: Hashable {
    /// The step after the file was read.
    enum Otherwise: Hashable {
        /// The file is replaced once the planned version is complete and verified.
        case replace
        /// The file stays: the set did not write it, or it was changed since.
        case keep
    }

    /// The file is the planned version.
    case complete
    /// The file is the planned version if it has this digest.
    case read(Digest, otherwise: Otherwise)
    /// The file is missing.
    case download
    /// The set wrote another version of the file, which is unchanged.
    case replace
    /// The file was changed since the set wrote it, and nothing shows that it is the planned
    /// version.
    case keep

    /// The relation of the recorded version to the planned one.
    enum Relation: Hashable {
        case same
        case other
        /// Only this digest of the planned version can show it.
        case unknown(Digest)
    }

    /// Decides.
    ///
    /// - Parameters:
    ///   - record: The record of the complete file.
    ///   - planned: The file in the plan.
    ///   - attributes: The version that the file's extended attributes state.
    ///   - exists: Whether a regular file has the path.
    ///   - isIntact: Whether that file has the recorded size, modification time and inode.
    ///   - rechecks: Whether the bytes of all files are read.
    init(
        _ record: LedgerRecord, _ planned: Listing.File, attributes: RemoteIdentity?, exists: Bool,
        isIntact: Bool, rechecks: Bool
    ) {
        guard exists else {
            self = .download
            return
        }
        let relation = Self.relation(record, planned, attributes)
        let recorded = Listing.File.strongest(record.digests ?? [])
        let isOwn = isIntact && record.found != true
        let otherwise = isOwn ? Otherwise.replace : .keep
        switch relation {
        case .same where isIntact && !rechecks: self = .complete
        case .same:
            let unread: SetDecision = isIntact ? .complete : .keep
            self = recorded.map { .read($0, otherwise: otherwise) } ?? unread
        case .unknown(let digest): self = .read(digest, otherwise: otherwise)
        case .other where isOwn: self = .replace
        case .other:
            self = planned.strongestDigest.map { .read($0, otherwise: .keep) } ?? .keep
        }
    }

    /// Compares the recorded version with the planned one.
    static func relation(
        _ record: LedgerRecord, _ planned: Listing.File, _ attributes: RemoteIdentity?
    ) -> Relation {
        let version = planned.version
        guard version != Listing.File.openVersion, record.version != PlanFormat.hex(version)
        else { return .same }
        guard planned.size == nil || planned.size == record.size else { return .other }
        let recorded = record.digests ?? []
        for digest in planned.digests {
            if recorded.contains(digest) { return .same }
            if recorded.contains(where: { $0.algorithm == digest.algorithm }) { return .other }
        }
        if let digest = planned.strongestDigest { return .unknown(digest) }
        guard let attributes, planned.pin?.difference(of: attributes) == nil else { return .other }
        return .same
    }
}

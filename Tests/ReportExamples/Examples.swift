package import Assembler
package import Segmenter

/// Values that several suites use: one of each kind of error and notice.
package enum Examples {
    package static let url = "https://example.org/file.iso"
    /// Text as a malicious server may send it: clears the screen, reverses what follows.
    package static let hostile = "a\u{1b}[2J\u{9b}31m\u{202e}b\r\nerror: c\u{7f}"

    package static let breaches: [ContractBreach] = [
        .wholeFileForRange, .unexpectedStatus(204), .rangeNotSatisfiable, .rangeRefused,
        .contentRangeUnusable(nil), .contentRangeUnusable(hostile),
        .otherRange(asked: ByteRange(0, 10), got: ByteRange(5, 10)),
        .otherSize(expected: 1, got: nil), .otherLength(expected: 1, got: 2),
        .otherETag(expected: hostile, got: nil), .otherETag(expected: nil, got: hostile),
        .otherLastModified(expected: nil, got: hostile),
        .otherETag(expected: "\"a\"", got: hostile),
        .otherLastModified(expected: hostile, got: hostile), .contentCoding(hostile), .bodyTooLong,
        .otherContentDigest(ByteRange(0, 10)),
    ]

    package static let failures: [TransferFailure] =
        [
            .network(code: 7, message: hostile), .network(code: 7, message: ""), .status(404),
            .proxy(code: 5, message: hostile), .proxy(code: 5, message: ""),
            .status(503), .status(429), .status(599), .status(403), .stalled(for: .seconds(15)),
            .truncated(missing: 1), .retryAfterTooLong(.seconds(7200)),
            .retryAfterTooLong(.seconds(9e18)), .resting(for: .seconds(10)),
        ] + breaches.map { .breach($0) }

    package static let assemblyErrors: [AssemblyError] =
        [
            .destinationExists(path: hostile), .notARegularFile(path: hostile),
            .folderUnavailable(path: hostile, errno: 2), .cannotCreate(path: hostile, errno: 13),
            .cannotCreate(path: "f", errno: 28), .busy(path: hostile),
            .locked(path: hostile, lock: hostile, host: hostile, process: 7),
            .locked(path: "f.part", lock: "f.segget-lock", host: nil, process: nil),
            .foreignPart(path: hostile),
            .partChanged(path: hostile), .partGone(path: hostile, .removed),
            .partGone(path: hostile, .nameGone), .partGone(path: hostile, .unmounted),
            .noPart(path: hostile, isThere: true),
            .noPart(path: hostile, isThere: false),
            .noSpace(path: hostile, needed: 2 << 30, free: 1 << 20),
            .io(operation: hostile, path: hostile, errno: 5),
            .io(operation: "pwrite", path: "f", errno: 28),
            .digestMismatch(
                expected: Digest(crc32: 1), actual: Digest(crc32: 2), part: hostile + ".part"),
            .streamDigestMismatch(
                expected: Digest(crc32: 1), actual: Digest(crc32: 2), path: "/dev/stdout"),
            .io(operation: "mmap", path: "/dev/stdout", errno: 12),
        ] + adoptionObstacles.map { .notAdopted(path: hostile, $0) }

    package static let adoptionObstacles: [AdoptionObstacle] =
        [
            .missing, .notARegularFile, .otherOwner, .hasOtherNames, .inUse, .changed, .nothingInIt,
            .controlFile(.version(0)), .controlFile(.truncated), .controlFile(.inconsistent),
            .controlFile(.unusable), .shorterThanControlFile(size: 1, stated: 2),
            .longerThanRemote(size: 2, remote: 1), .otherSize(stated: 2, remote: 1), .noRanges,
            .noProof, .onlyDigestTells, .sampleDiffers(ByteRange(0, 9)),
            .otherDigest(
                expected: Digest(crc32: 1), actual: Digest(crc32: 2), part: hostile + ".part"),
            .otherDigest(expected: Digest(crc32: 1), actual: Digest(crc32: 2), part: nil),
        ] + startOverReasons.map { .otherVersion($0) }

    package static let reasons: [DownloadError.Reason] =
        [
            .invalidURL(hostile), .foreignURL(.magnet, shown: hostile),
            .foreignURL(.scheme("ftp"), shown: hostile), .foreignURL(.object("s3"), shown: hostile),
            .foreignURL(.localFile, shown: hostile), .foreignURL(.controlCharacter, shown: hostile),
            .invalidHeader(.badName(hostile)),
            .certificateFile(path: hostile), .noCertificates(path: hostile, variable: nil),
            .noCertificates(path: hostile, variable: "SSL_CERT_FILE"),
            .unusableScheme(["Negotiate", "NTLM"]), .unusableScheme(["NTLM"]), .htmlPage,
            .nameTaken(path: hostile),
            .refused(status: 401), .refused(status: 403), .refused(status: 407),
            .proxyRefused(status: 407), .proxyRefused(status: 403),
            .proxyRefused(status: nil), .access(.malformed(.proxy)),
            .access(.conflict(.credentials, .bearerToken)), .access(.unusable(.interface)),
            .access(.unreadable(.cookieFile, path: hostile, errno: 2)),
            .access(.incomplete(.clientKey, without: .clientCertificate)),
            .addressDenied(.privateAddress("::1")), .addressDenied(.proxy),
            .untrusted(hostile), .unsafeRedirect(to: hostile), .tooManyRedirects(20), .cancelled,
            .tooLarge(size: 2 << 30, limit: 1 << 30), .tooLarge(size: nil, limit: 1),
            .tooSlow(bytesPerSecond: 10, minimum: 1000, period: .seconds(30)),
            .timeIsUp(after: .seconds(60)),
            .unrepairable(.noManifest(isFileThere: true)),
            .unrepairable(.noManifest(isFileThere: false)),
            .unrepairable(.otherDigest(expected: Digest(crc32: 1), actual: Digest(crc32: 2))),
        ] + assemblyErrors.map { .assembly($0) } + failures.map { .transfer($0, attempts: 10) }
        + breaches.flatMap { [.remoteChanged($0), .otherVersion($0), .contract($0)] }
        + startOverReasons.flatMap { [.unrepairable(.otherVersion($0)), .notContinued($0)] }

    package static let doubts: [FinishedDoubt] =
        [
            .resized(was: 1, now: 2), .otherURL, .damaged, .unproven, .otherBytes, .unusable,
            .otherDigest(expected: Digest(crc32: 1), actual: Digest(crc32: 2)),
        ] + startOverReasons.map { .remote($0) }

    package static let verificationFailures: [FileVerification.Failure] =
        [
            .noFile(path: hostile), .nothingToCheckAgainst(path: hostile),
            .sumsUnavailable(path: hostile, errno: 2), .sums(path: hostile, .unreadable),
            .sums(path: hostile, .missing(name: hostile)),
            .sums(path: hostile, .ambiguous(name: hostile)),
        ] + assemblyErrors.map { .assembly($0) }

    package static let startOverReasons: [StartOverReason] = [
        .notWanted, .partMissing, .manifestUnreadable, .manifestVersion(9), .urlChanged,
        .sizeChanged(was: 1, now: nil), .etagChanged(was: hostile, now: nil),
        .lastModifiedChanged(was: nil, now: hostile), .noValidator,
        .sampleDiffers(ByteRange(0, 9)), .noRanges, .rejected,
        .changedMidway, .streamBroken, .mirrorsDiffer,
    ]

    package static let faults: [MirrorFault] =
        [
            .otherSize(expected: 1, got: 2),
            .otherDigest(expected: Digest(crc32: 1), got: Digest(crc32: 2)),
            .otherData(ByteRange(0, 9)), .rangesIgnored, .doubted(bytes: 1), .wrongDigest,
        ] + breaches.map { .changed($0) } + reasons.map { .failed($0) }

    package static let linkFaults: [LinkFault] = [
        .none, .late(after: .seconds(30)), .same, .unusable(hostile), .inVain(3),
    ]

    package static let notices: [DownloadNotice] =
        [
            .retrying(range: nil, attempt: 1, delay: .seconds(0.5), cause: .status(503)),
            .retrying(
                range: ByteRange(0, 9), attempt: 1, delay: .seconds(9e18), cause: .status(503)),
            .resolvingAgain(status: 403), .rangesIgnored, .serversDisagree,
            .replyRefused(
                .otherETag(
                    expected: hostile, got: hostile)),
            .damaged(ByteRange(0, 9)), .stole(ByteRange(0, 9), rate: nil),
            .stole(ByteRange(0, 9), rate: 1), .stole(ByteRange(0, 9), rate: 1e6),
            .headUnusable(hostile), .needsHTTP2(url: url),
            .rescued(ByteRange(0, 9), stalledFor: .seconds(1.25)),
            .outpaced(ByteRange(0, 9), rate: 65_536, peers: 8e6), .hedged(ByteRange(0, 9)),
            .stalled(for: .seconds(1.25)),
            .stallOver(connections: 8),
            .endUnproven, .certificatesUnchecked,
            .downgraded(url: "http://example.org/f"), .changingConnections(minimum: 1000),
            .serverLimit(connections: 1, cause: .network(code: 7, message: hostile)),
            .serverLimit(connections: 3, cause: nil),
            .connections(16, bytesPerSecond: 2_000_000), .connections(1, bytesPerSecond: nil),
            .addressUsed("192.0.2.1"), .addressLeft("192.0.2.1", why: .failed(.status(503))),
            .addressLeft("2001:db8::1", why: .slow(65_536, others: 8e6)),
            .limitChanged(to: 1_048_576), .limitChanged(to: nil),
            .mirrorJoined(url: url), .mirrorOnStandby(url: url), .mirrorIsPrimary(url: url),
            .attributesNotWritten(errno: 95), .resumedUnverified(bytes: 262_144),
            .adopted(path: hostile, bytes: 1 << 30, moved: true),
            .adopted(path: "f", bytes: 1, moved: false),
            .ifRangeUnusable(ByteRange(0, 9)), .ifRangeUnusable(nil), .namedByLink,
            .namedUnguarded, .modeNotSet(errno: 1), .timeNotSet(errno: 95),
            .spaceNotReserved(errno: 95), .partAgreed(bytes: 262_144),
            .linkRefreshed(url: url, status: 403), .linkRefreshDelayed(.seconds(42)),
            .waitingForNetwork(since: 1_751_371_331, cause: .network(code: 7, message: hostile)),
            .waitingForNetwork(since: 0, cause: nil), .networkOccupied,
            .networkIsBack(after: .seconds(192)), .resting(url: url, for: .seconds(10)),
        ] + linkFaults.map { .linkNotRefreshed($0, status: 410) }
        + faults.map { .mirrorDropped(url: url, why: $0) } + doubts.map { .notFinished($0) }
        + startOverReasons.map { .startedOver($0) }

    package static func error(
        _ reason: DownloadError.Reason, path: String? = "file.iso", bytesKept: Int64 = 0
    ) -> DownloadError {
        DownloadError(reason: reason, url: url, path: path, bytesKept: bytesKept)
    }

    /// A finished file with a damaged range.
    package static func verification() -> FileVerification {
        FileVerification(
            path: "file.iso", isPart: false, isInUse: false, size: 1 << 30, expectedSize: 1 << 30,
            bytesRecorded: 1 << 30, damaged: RangeSet(ByteRange(4 << 20, 8 << 20)),
            missing: RangeSet(),
            digests: [
                .init(
                    source: .manifest, expected: Digest(crc32: 1), actual: Digest(crc32: 2))
            ])
    }
}

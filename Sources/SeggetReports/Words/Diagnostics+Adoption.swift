import Assembler
import Segmenter

// What concerns files that other programs have begun, in words.
extension Diagnostic {
    /// Words why such a file is not gone on with.
    init(_ obstacle: AdoptionObstacle, path: String, again: String) {
        let file = Self.quote(path)
        let status = Self.status(obstacle)
        let kind = Self.kind(obstacle)
        let proof = "give `--checksum`, or with `--resume-unverified` let a sample decide"
        let without = "download without `--adopt` or `-c`"
        let anew = "\(without), or give the URL that it was begun from"
        let (what, hint): (String, String) =
            switch obstacle {
            case .missing: ("there is no file \(file)", "check the name that `--adopt` has")
            case .notARegularFile:
                ("\(file) is not a regular file, so it is left alone", "give the file itself")
            case .otherOwner:
                (
                    "\(file) belongs to another user, so it is left alone",
                    "copy it, and give the copy"
                )
            case .hasOtherNames:
                (
                    "\(file) has further names (hard links), so it is left alone",
                    "copy it, and give the copy"
                )
            case .inUse:
                (
                    "another program works on \(file) at this moment, so it is left alone",
                    "end that program, then \(again)"
                )
            case .changed:
                (
                    "\(file) was changed by another program while it was read; it is left as it is",
                    "end that program, then \(again)"
                )
            case .nothingInIt:
                ("\(file) holds nothing of the file yet", without)
            case .controlFile(let problem):
                (
                    "the control file \(Self.quote(path + ".aria2")) cannot be used: "
                        + "\(Self.describe(problem)); \(file) is left as it is",
                    "move the control file away to have \(file) count from its beginning, or "
                        + without
                )
            case .shorterThanControlFile(let size, let stated):
                (
                    "\(file) has \(Self.exact(size)), and by its control file more: bytes up to "
                        + "\(stated); it is left as it is",
                    "it was cut off, or the control file is another file's: \(without)"
                )
            case .longerThanRemote(let size, let remote):
                (
                    "\(file) has \(Self.exact(size)), and the remote file \(Self.exact(remote)): "
                        + "it is another one, and left as it is", anew
                )
            case .otherSize(let stated, let remote):
                (
                    "\(file) is part of a file of \(Self.exact(stated)), and the remote one has "
                        + "\(Self.exact(remote)): it is left as it is", anew
                )
            case .noRanges:
                (
                    "the server serves no byte ranges, so nothing of \(file) can be gone on with",
                    without
                )
            case .noProof:
                ("nothing says whether \(file) is part of the remote file", proof)
            case .onlyDigestTells:
                (
                    "\(file) has the length of the remote file, which shows nothing of how much of "
                        + "it is there", "give `--checksum`, or \(without)"
                )
            case .sampleDiffers(let range):
                (
                    "bytes \(range) of \(file) are not what the server sends: it is another file, "
                        + "or another version, and left as it is", anew
                )
            case .otherDigest(let expected, let actual, let part):
                (
                    "\(file), completed, has the wrong checksum: expected `\(expected)`, got "
                        + "`\(actual)`; it is left as it was",
                    part == nil
                        ? "check the expected value; if it is right, move the file away, and "
                            + without
                        : "check the expected value: with the right one the same command is done at "
                            + "once; else \(without)"
                )
            case .otherVersion(.rejected):
                (
                    "\(file), completed, had the wrong checksum, and is not tried again with the same "
                        + "one", "give the right `--checksum`, or \(without)"
                )
            case .otherVersion(let reason):
                (
                    "what was taken over from \(file) cannot be continued: \(Self.describe(reason))",
                    "\(again) later, or \(without)"
                )
            }
        self.init(status, kind, what, hint: hint)
    }

    private static func status(_ obstacle: AdoptionObstacle) -> ExitStatus {
        switch obstacle {
        case .missing, .notARegularFile, .otherOwner, .hasOtherNames, .nothingInIt, .controlFile,
            .shorterThanControlFile, .noProof, .onlyDigestTells:
            .usage
        case .inUse, .changed: .cannotCreate
        case .longerThanRemote, .otherSize, .noRanges, .sampleDiffers, .otherVersion:
            .remoteChanged
        case .otherDigest: .checksumMismatch
        }
    }

    private static func kind(_ obstacle: AdoptionObstacle) -> String {
        switch obstacle {
        case .missing, .notARegularFile, .otherOwner, .hasOtherNames, .nothingInIt, .controlFile,
            .shorterThanControlFile:
            "not_adoptable"
        case .noProof, .onlyDigestTells: "adoption_unproven"
        case .inUse, .changed: "adoption_busy"
        case .longerThanRemote, .otherSize, .noRanges, .sampleDiffers: "adoption_mismatch"
        case .otherVersion: "remote_changed"
        case .otherDigest: "checksum_mismatch"
        }
    }

    private static func describe(_ problem: ControlFileProblem) -> String {
        switch problem {
        case .version(let version): "its format is of version \(version), which is not known"
        case .truncated: "it is cut off"
        case .inconsistent: "it contradicts itself"
        case .unusable: "it is no readable file of yours"
        }
    }
}

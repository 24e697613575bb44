import Assembler
import Segmenter

// Messages about files that another program began to download (`--adopt`).
extension Diagnostic {
    /// Creates the message for a file that segget does not adopt.
    init(_ obstacle: AdoptionObstacle, path: String, again: String) {
        let file = Self.quote(path)
        let status = Self.status(obstacle)
        let kind = Self.kind(obstacle)
        let proof = "give `--checksum`, or `--resume-unverified` to compare a sample"
        let without = "download without `--adopt` or `-c`"
        let anew = "\(without), or give the URL that the file was started from"
        let (what, hint): (String, String) =
            switch obstacle {
            case .missing: ("there is no file \(file)", "check the name after `--adopt`")
            case .notARegularFile:
                ("\(file) is not a regular file; it is left unchanged", "give the file itself")
            case .otherOwner:
                (
                    "\(file) belongs to another user; it is left unchanged",
                    "copy the file, and give the copy"
                )
            case .hasOtherNames:
                (
                    "\(file) has more than one name (hard links); it is left unchanged",
                    "copy the file, and give the copy"
                )
            case .inUse:
                (
                    "another program is using \(file); it is left unchanged",
                    "end that program, then \(again)"
                )
            case .changed:
                (
                    "another program changed \(file) while segget read it; it is left unchanged",
                    "end that program, then \(again)"
                )
            case .nothingInIt:
                ("\(file) has no downloaded data yet", without)
            case .controlFile(let problem):
                (
                    "the control file \(Self.quote(path + ".aria2")) cannot be used: "
                        + "\(Self.describe(problem)); \(file) is left unchanged",
                    "move the control file away to continue at the end of \(file), or \(without)"
                )
            case .shorterThanControlFile(let size, let stated):
                (
                    "\(file) has \(Self.exact(size)), but its control file lists bytes up to \(stated); "
                        + "it is left unchanged",
                    "it was truncated, or the control file belongs to another file: \(without)"
                )
            case .longerThanRemote(let size, let remote):
                (
                    "\(file) has \(Self.exact(size)), and the remote file \(Self.exact(remote)): "
                        + "they are different files; it is left unchanged", anew
                )
            case .otherSize(let stated, let remote):
                (
                    "\(file) is part of a file of \(Self.exact(stated)), and the remote file has "
                        + "\(Self.exact(remote)); it is left unchanged", anew
                )
            case .noRanges:
                (
                    "the server serves no byte ranges, so \(file) cannot be continued",
                    without
                )
            case .noProof:
                ("segget cannot tell whether \(file) is part of the remote file", proof)
            case .onlyDigestTells:
                (
                    "\(file) has the size of the remote file, so segget cannot tell how much of it has "
                        + "been downloaded", "give `--checksum`, or \(without)"
                )
            case .sampleDiffers(let range):
                (
                    "bytes \(range) of \(file) differ from what the server sends: it is another file "
                        + "or version; it is left unchanged", anew
                )
            case .otherDigest(let expected, let actual, let part):
                (
                    "\(file), completed, has the wrong checksum: expected `\(expected)`, got "
                        + "`\(actual)`; it is left unchanged",
                    part == nil
                        ? "check the expected value; if it is right, move the file away, and "
                            + without
                        : "check the expected value: with the right one, the same command finishes "
                            + "without a download; otherwise \(without)"
                )
            case .otherVersion(.rejected):
                (
                    "\(file), completed, had the wrong checksum; segget does not try it again with the "
                        + "same one", "give the right `--checksum`, or \(without)"
                )
            case .otherVersion(let reason):
                (
                    "the data taken over from \(file) cannot be continued: \(Self.describe(reason))",
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
        case .version(let version):
            "its format has version \(version), which segget does not support"
        case .truncated: "it is truncated"
        case .inconsistent: "it contradicts itself"
        case .unusable: "it is not a readable file that you own"
        }
    }
}

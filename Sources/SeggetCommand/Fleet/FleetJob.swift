import SeggetReports
import Segmenter

/// The scripts that start a fleet on a cluster.
///
/// Pure.
struct FleetJob: Equatable {
    /// The path of segget.
    var program: String
    /// The path of the fleet.
    var fleet: String
    /// The folder of the finished files; `nil` for the Hub's cache.
    var directory: String?
    /// The number of workers.
    var workers: Int
    /// The most workers at the same time; `nil` for no bound.
    var atOnce: Int?
    /// Whether a worker requeues its element itself, because the site does not.
    var requeues = false
    /// The licenses that each worker takes, and the finishing, which may download as well.
    var licenses: String?
    /// Whether the fleet may belong to another user.
    var isShared = false
    /// The path of the file with the token for the Hub; `nil` if the environment says where it is.
    var tokenFile: String?

    private var common: String {
        (isShared ? " --shared" : "")
            + (tokenFile.map { " --hf-token-file \(Self.quote($0))" } ?? "")
    }

    private func work(_ index: String) -> String {
        "\(Self.quote(program)) fleet work \(Self.quote(fleet))\(index) --of \(workers)\(common)"
    }

    private var finish: String {
        "\(Self.quote(program)) fleet finish \(Self.quote(fleet))"
            + (directory.map { " -d \(Self.quote($0))" } ?? "") + common
    }

    /// Returns a word for a shell, quoted if it needs that.
    static func quote(_ word: String) -> String {
        let isPlain =
            !word.isEmpty
            && word.allSatisfy {
                $0.isASCII && ($0.isLetter || $0.isNumber || "/._-+:@%".contains($0))
            }
        return isPlain ? word : "'\(word.replacing("'", with: "'\\''"))'"
    }

    // MARK: Slurm

    /// The batch script of the array.
    var slurmWork: String {
        let bound = atOnce.map { "%\($0)" } ?? ""
        var lines = [
            "#!/bin/bash", "# Written by `segget fleet submit`: downloads the shards of a fleet.",
            "#SBATCH --job-name=segget-work", "#SBATCH --array=0-\(workers - 1)\(bound)",
            "#SBATCH --ntasks=1", "#SBATCH --requeue", "#SBATCH --open-mode=append",
            "#SBATCH --signal=B:TERM@120", "#SBATCH --output=\(fleet)/log/%A_%a.log",
        ]
        if let licenses { lines.append("#SBATCH --licenses=\(licenses)") }
        lines += [
            "# Exit code 75 means: run it again. "
                + (requeues
                    ? "The site does not do that, so segget requeues its element."
                    : "The site does that (RequeueExit)."),
            "exec \(work(""))\(requeues ? " --requeue" : "")",
        ]
        return lines.joined(separator: "\n") + "\n"
    }

    /// The batch script of the finishing.
    var slurmFinish: String {
        """
        #!/bin/bash
        # Written by `segget fleet submit`: joins and verifies the files of a fleet.
        #SBATCH --job-name=segget-finish
        #SBATCH --ntasks=1
        #SBATCH --open-mode=append
        #SBATCH --signal=B:TERM@120
        #SBATCH --output=\(fleet)/log/finish.log\(licenses.map { "\n#SBATCH --licenses=\($0)" } ?? "")
        trap 'kill -TERM "$process" 2>/dev/null' TERM
        run() {
            "$@" &
            process=$!
            wait "$process"
            code=$?
            while kill -0 "$process" 2>/dev/null; do wait "$process"; code=$?; done
        }
        # Shards whose workers were killed, and which Slurm did not start again.
        run \(Self.quote(program)) fleet work \(Self.quote(fleet))\(common)
        run \(finish)
        # With RequeueExit=75, Slurm would start this script again without end.
        if [ "$code" = 75 ]; then
            echo "not complete: submit the work and this script again" >&2
            exit 1
        fi
        exit "$code"

        """
    }

    // MARK: GNU parallel

    /// The command lines for GNU parallel.
    var parallel: String {
        let bound = atOnce.map { " -j \($0)" } ?? ""
        let log = Self.quote("\(fleet)/joblog")
        return """
            seq 0 \(workers - 1) | parallel\(bound) --joblog \(log) --retries 3 --halt never \
            \(Self.quote(work(" --index {}")))
            \(finish)

            """
    }

    // MARK: Kubernetes

    /// The name of the volume claim, which the user replaces.
    private static let claim = "segget-fleet"

    /// The manifest of an Indexed Job, and of the finishing.
    var kubernetes: String {
        let folder = FileTarget(path: fleet).folder
        var target = ["finish", fleet]
        if let directory { target += ["-d", directory] }
        // These exit codes of `fleet work` mean that another attempt would fail as well.
        let final = ExitStatus.allCases.filter {
            ![.done, .stopped, .interrupted, .terminated, .readerGone].contains($0)
        }.map { "\($0.rawValue)" }.joined(separator: ", ")
        return """
            # Written by `segget fleet submit --kubernetes`. Replace the image and the volume claim.
            # When the first Job has ended, apply the second one: it joins the files.
            apiVersion: batch/v1
            kind: Job
            metadata:
              name: segget-work
            spec:
              completionMode: Indexed
              completions: \(workers)
              parallelism: \(min(workers, atOnce ?? workers))
              backoffLimitPerIndex: 6
              maxFailedIndexes: \(workers)
              podFailurePolicy:
                rules:
                  - action: Ignore
                    onPodConditions:
                      - type: DisruptionTarget
                        status: "True"
                  - action: FailIndex
                    onExitCodes:
                      containerName: segget
                      operator: In
                      values: [\(final)]
            \(pod(["work", fleet, "--of", "\(workers)"], in: folder))
            ---
            apiVersion: batch/v1
            kind: Job
            metadata:
              name: segget-finish
            spec:
              backoffLimit: 3
            \(pod(target, in: folder))

            """
    }

    private func pod(_ arguments: [String], in folder: String) -> String {
        let words = (["fleet"] + arguments + (isShared ? ["--shared"] : [])).map { word in
            "\"\(word.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))\""
        }
        return """
              template:
                spec:
                  restartPolicy: Never
                  terminationGracePeriodSeconds: 30
                  containers:
                    - name: segget
                      image: segget:\(seggetVersion)
                      command: ["segget"]
                      args: [\(words.joined(separator: ", "))]
                      volumeMounts:
                        - name: fleet
                          mountPath: "\(folder)"
                  volumes:
                    - name: fleet
                      persistentVolumeClaim:
                        claimName: \(Self.claim)
            """
    }
}

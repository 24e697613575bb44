import Foundation
import TestSupport
import Testing

/// Tests three versions of hfd.sh, which downloads a model's files from the Hugging Face Hub.
///
/// A script replaces hfd.sh. An origin replaces the Hub, and redirects requests with a token to
/// another host.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct HubTests {
    /// A version of the script.
    enum Form: String, CaseIterable, Sendable {
        case first, of2025, of2026

        /// The commands that download `$files`.
        var fetching: String {
            switch self {
            case .first:
                #"""
                for f in $files; do
                    aria2c --header="Authorization: Bearer $TOKEN" --user-agent=hfd/1 --console-log-level=error \
                        --file-allocation=none -x 4 -s 4 -k 1M -c "$HUB/org/model/resolve/main/$f" \
                        -d "$(dirname "$f")" -o "$(basename "$f")" || exit 1
                done
                """#
            case .of2025:
                Self.list + #"""
                    aria2c --console-log-level=error --user-agent=hfd/1 --file-allocation=none -x 4 -j 5 -s 4 -k 1M \
                        -c -i .hfd/aria2c_urls.txt --save-session=.hfd/aria2c_urls.txt || exit 1
                    """#
            case .of2026:
                Self.list + #"""
                    aria2c --quiet=true --log=.hfd/download.log --log-level=error --user-agent=hfd/1 \
                        --file-allocation=none -x 4 -j 5 -s 4 -k 1M -c -i .hfd/aria2c_urls.txt \
                        --save-session=.hfd/aria2c_urls.txt >/dev/null || exit 1
                    """#
            }
        }

        private static let list = #"""
            mkdir -p .hfd
            for f in $files; do
                dir=$(dirname "$f")
                [ "$dir" != . ] || dir=
                printf '%s\n dir=%s\n out=%s\n header=Authorization: Bearer %s\n\n' \
                    "$HUB/org/model/resolve/main/$f" "$dir" "$(basename "$f")" "$TOKEN"
            done >.hfd/aria2c_urls.txt

            """#
    }

    /// Returns the script, which downloads files that do not exist or have a control file.
    private static func script(_ form: Form) -> String {
        #"""
        files=
        for f in $(curl -qsf -H "Authorization: Bearer $TOKEN" "$HUB/api/models/org/model" |
            grep -o '"rfilename":"[^"]*"' | cut -d '"' -f 4); do
            if [ -f "$f" ] && [ ! -f "$f.aria2" ]; then
                echo "there: $f"
            else
                files="$files $f"
            fi
        done

        """# + form.fetching + "\necho complete\n"
    }

    private static let size: Int64 = 3_000_000
    private static let large = ["model-1.safetensors", "model-2.safetensors"]
    private static let files = ["config.json"] + large + ["onnx/model.onnx"]

    private let stage: CallerStage
    private let hub: Origin

    init() throws {
        let stage = try CallerStage(size: Self.size)
        self.stage = stage
        hub = try Origin(address: "127.0.0.2") { request in
            guard request.header("Authorization") == "Bearer hf_secret" else { return .text(401) }
            let parts = request.path.components(separatedBy: "/org/model/resolve/main/")
            guard parts.count == 2 else {
                let names = Self.files.map { #"{"rfilename":"\#($0)"}"# }
                return .text(200, #"{"siblings":[\#(names.joined(separator: ","))]}"#)
            }
            let place = stage.origin.url("/cdn/\(parts[1])?Signature=\(request.number)")
            return .text(302, headers: [HeaderField("Location", place)])
        }
    }

    private var variables: [String: String] {
        ["HUB": String(hub.url("/").dropLast()), "TOKEN": "hf_secret"]
    }

    private func expectModel(_ outcome: Run.Outcome) throws {
        let said = Comment(rawValue: outcome.output + outcome.errorOutput)
        #expect(outcome.end == .exit(0), said)
        #expect(outcome.output.hasSuffix("complete\n"), said)
        let files = try stage.files().filter { !$0.hasPrefix(".hfd/") }
        #expect(files == Self.files, said)
        for file in Self.files { #expect(stage.isRight(file), "\(file)") }
        // The session lists no unfinished downloads.
        let list = FileManager.default.contents(atPath: stage.path(".hfd/aria2c_urls.txt"))
        #expect((list ?? Data()).isEmpty)
    }

    /// Only the Hub receives the token; both hosts receive the `User-Agent`.
    private func expectNoToken() {
        let requests = stage.origin.requests
        #expect(!requests.isEmpty)
        #expect(requests.allSatisfy { $0.header("Authorization") == nil })
        #expect(requests.allSatisfy { $0.header("User-Agent") == "hfd/1" })
        #expect(requests.allSatisfy { $0.target.contains("?Signature=") })
        let asked = hub.requests.filter { $0.path.contains("/resolve/") }
        #expect(asked.allSatisfy { $0.header("Authorization") == "Bearer hf_secret" })
        #expect(asked.allSatisfy { $0.header("User-Agent") == "hfd/1" })
    }

    @Test(arguments: Form.allCases) func downloadsModel(form: Form) throws {
        let outcome = try stage.run(Self.script(form), .dropIn, variables)
        try expectModel(outcome)
        expectNoToken()
        let again = try stage.run(Self.script(form), .dropIn, variables)
        #expect(again.output.contains("there: onnx/model.onnx\n"))
    }

    @Test(arguments: Form.allCases) func resumesAfterKill(form: Form) throws {
        stage.origin.bend { request, reply in
            guard Self.large.contains(CallerStage.name(request.path)) else { return }
            reply.stallAfter = max(0, Self.size / 2 - (request.range?.first ?? 0))
        }
        let process = try stage.start(Self.script(form), .dropIn, variables)
        // The first version downloads one file after another, the others all files at a time.
        let (begun, done) =
            form == .first
            ? ([Self.large[0]], ["config.json"]) : (Self.large, ["config.json", "onnx/model.onnx"])
        let isThere = process.waits {
            begun.allSatisfy { stage.recorded($0) >= Self.size / 2 }
                && done.allSatisfy(stage.isPublished)
        }
        try #require(isThere, "\(process.output)\(process.errorOutput)")
        #expect(try DropIn.kill(process) >= 2)
        stage.origin.dropConnections()
        stage.origin.hearOut()
        stage.origin.bend { _, _ in }
        let there = begun.map(stage.recorded)
        #expect(try stage.files().filter { Self.files.contains($0) } == done)
        let count = stage.origin.requests.count

        let outcome = try stage.run(Self.script(form), .dropIn, variables)
        try expectModel(outcome)
        expectNoToken()
        for file in done { #expect(outcome.output.contains("there: \(file)\n")) }
        let requests = stage.origin.requests.dropFirst(count)
        #expect(!requests.contains { request in done.contains { request.path.hasSuffix($0) } })
        for (file, bytes) in zip(begun, there) {
            let asked = requests.filter { $0.method == "GET" && $0.path.hasSuffix(file) }
            let missing = asked.bytesAsked(of: Self.size)
            #expect(missing > 0 && missing <= Self.size - bytes + (256 << 10), "\(file)")
        }
    }
}

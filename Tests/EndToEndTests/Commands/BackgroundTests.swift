import TestSupport
import Testing

/// Tests a background job of a terminal.
struct BackgroundTests {
    @Test(.timeLimit(.minutes(5))) func drawsNoProgress() throws {
        let isSeen = Guarded(false)
        let stage = try Stage(size: 4_000_000)
        stage.origin.bendGET {
            $0.pace = 30_000
            $0.release = isSeen
        }
        let segget = try Segget.binary()
        let script = "set -m; \(segget) -x 4 \(stage.origin.url("/file")) & wait"
        let screen = try Screen(["/bin/bash", "-c", script], in: stage.folder, width: 80)
        // At this pace that takes several seconds, in which a foreground job draws many times.
        #expect(eventually(timeout: 120) { stage.origin.bytesServed > 500_000 })
        isSeen.withLock { $0 = true }
        #expect(try eventually(timeout: 120) { try screen.text().contains("code 0") })
        #expect(try screen.text().contains("`file`: 3.81 MiB in"), "\(screen.shown)")
        #expect(!(try screen.history().contains("%")), "\(screen.shown)")
        #expect(try stage.isRight())
    }
}

import Assembler
import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

/// Tests whole downloads in simulated time: the program's `DownloadMachine`, with servers, networks and
/// files that change during the download.
@Suite struct DownloadStoryTests {
    typealias World = SimulatedDownload.World

    /// Runs a download until it ends, and checks that no rule was broken.
    private func run(
        _ world: World, _ change: (inout DownloadOptions) -> Void = { _ in }
    ) -> (end: SimulatedDownload.End, download: SimulatedDownload) {
        var download = SimulatedDownload(world, change)
        let end = download.run()
        #expect(download.breaches == [])
        return (end, download)
    }

    private func waits(_ options: inout DownloadOptions) { options.waitsForNetwork = true }

    /// A new file needs no effect for mirrors, new links, other programs' files or a lost network.
    @Test func newFileNeedsNineEffects() {
        let (end, download) = run(World())
        #expect(end == .published(version: 0))
        #expect(
            download.effects == [
                .act(.finish), .look(.survey), .act(.ask(.once)), .act(.makeFolder),
                .act(.enter), .look(.part), .act(.attempt(.open)), .act(.attempt(.fetch)),
                .act(.attempt(.publish(size: World().size, isChecked: false))),
            ])
        #expect(download.received == World().size)
    }

    @Test func earlierPartIsResumed() {
        let (end, download) = run(World(earlier: 5_000_000))
        #expect(end == .published(version: 0))
        #expect(download.received == 3_000_000)
    }

    @Test func earlierPartOfOtherVersionIsDiscarded() {
        let (end, download) = run(World(changes: [-1], earlier: 5_000_000))
        #expect(end == .published(version: 1))
        #expect(download.discarded == 1)
        #expect(download.received == World().size)
    }

    @Test func changedFileStartsOverOnce() {
        let (end, download) = run(World(changes: [1]))
        #expect(end == .published(version: 1))
        #expect(download.discarded == 1)
    }

    @Test func secondChangeEndsDownload() {
        let (end, download) = run(World(size: 16_000_000, changes: [2, 12]))
        guard case .failed(.remoteChanged) = end else {
            Issue.record("\(end)")
            return
        }
        #expect(download.discarded == 1)
    }

    /// The file changes between its last byte and its publication.
    @Test func changeAtEndStartsOver() {
        let (_, quiet) = run(World())
        let (end, download) = run(World(changes: [quiet.now - 0.01]))
        #expect(end == .published(version: 1))
        #expect(download.received > World().size)
    }

    @Test func serverWithoutRangesIsReadInOneStream() {
        let (end, download) = run(World(servesRanges: false))
        #expect(end == .published(version: 0))
        #expect(download.received == World().size)
    }

    // MARK: Links

    @Test(arguments: [0.0, 1])
    func newLinkReplacesExpiredOne(expires: Double) {
        let (end, download) = run(World(expiries: [expires], links: 1))
        #expect(end == .published(version: 0))
        #expect(download.link == 1)
        #expect(download.received == World().size)
    }

    @Test func expiredLinkWithoutNewOneKeepsPart() {
        let (end, download) = run(World(expiries: [1, 0, 0], links: 2))
        #expect(end == .failed(.refused(status: 403)))
        #expect(download.part?.covered.isEmpty == false)
    }

    /// A new link may lead to another version, for which the part is not given up.
    @Test func newLinkToOtherVersionKeepsPart() {
        let (end, download) = run(World(changes: [1.01], expiries: [1], links: 1))
        guard case .failed(.notContinued) = end else {
            Issue.record("\(end)")
            return
        }
        #expect(download.discarded == 0)
    }

    // MARK: Networks

    @Test(arguments: [0.0, 1, 1.9])
    func lostNetworkIsWaitedFor(start: Double) {
        let (end, download) = run(
            World(outages: [start..<start + 600], earlier: 1_000_000), waits)
        #expect(end == .published(version: 0))
        #expect(download.received == 7_000_000)
        #expect(download.now > 600)
    }

    /// Without a part, only a missing route is waited for.
    @Test func missingRouteAtStartIsWaitedFor() {
        let (end, download) = run(World(outages: [0..<600])) {
            $0.waitsForNetwork = true
            $0.waitsForNetworkFirst = true
        }
        #expect(end == .published(version: 0))
        #expect(download.effects.contains(.look(.route)))
    }

    @Test func lostNetworkEndsDownloadThatDoesNotWait() {
        let (end, download) = run(World(outages: [1..<100_000]))
        guard case .failed(let reason) = end else {
            Issue.record("\(end)")
            return
        }
        #expect(reason.isNetworkLoss)
        #expect(download.part?.covered.isEmpty == false)
    }

    @Test func linkThatExpiresDuringOutageIsReplaced() {
        let (end, download) = run(
            World(expiries: [1.5], links: 1, outages: [1..<900]), waits)
        #expect(end == .published(version: 0))
        #expect(download.link == 1)
        #expect(download.received == World().size)
    }

    @Test func fileThatChangesDuringOutageStartsOver() {
        let (end, download) = run(World(changes: [300], outages: [1..<900]), waits)
        #expect(end == .published(version: 1))
        #expect(download.discarded == 1)
    }

    // MARK: Previews

    /// A preview carries out the same effects as a run, up to the first attempt.
    @Test func previewHasSameEffectsUntilAttempt() {
        var preview = SimulatedDownload(World(), isPreview: true) {
            $0.waitsForNetwork = true
        }
        _ = preview.run()
        let (_, download) = run(World())
        let attempt = DownloadMachine.Effect.act(.attempt(.open))
        #expect(
            preview.effects.prefix { $0 != attempt } == download.effects.prefix { $0 != attempt })
    }
}

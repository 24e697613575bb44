package import Segmenter
import SeggetReports

/// The progress of the active downloads, as aria2c prints it once a second.
///
/// Pure.
package struct Aria2Readout {
    /// An active download.
    package struct Lane {
        package var gid: Download.ID
        /// The path, or the URL until the path is known.
        package var place: String
        /// The size in bytes; `nil` if the server has not stated it.
        package var size: Int64?
        /// The progress; `nil` until the transfer starts.
        package var progress: DownloadProgress?

        package init(
            gid: Download.ID, place: String, size: Int64? = nil, progress: DownloadProgress? = nil
        ) {
            self.gid = gid
            self.place = place
            self.size = progress?.size ?? size
            self.progress = progress
        }
    }

    /// The maximum number of files in one line.
    private static let most = 5

    private let lanes: [Lane]
    private let isHumanReadable: Bool

    package init(_ lanes: [Lane], isHumanReadable: Bool) {
        self.lanes = lanes
        self.isHumanReadable = isHumanReadable
    }

    /// Returns the progress line: all details of a single file, or the percentage of each of
    /// several.
    package func line(isColoured: Bool, columns: Int = .max) -> String {
        var line = Aria2Line()
        if lanes.count == 1 {
            lanes.forEach { add($0, to: &line) }
        } else if !lanes.isEmpty {
            addSeveral(to: &line)
        }
        addVerification(to: &line)
        return line.text(isColoured: isColoured, columns: columns)
    }

    /// Returns the periodic summary: a progress line and a path for each file.
    package func summary(at time: Aria2Time, columns: Int) -> String {
        func rule(_ character: String) -> String {
            String(repeating: character, count: max(1, columns))
        }
        return lanes.reduce(
            " *** Download Progress Summary as of \(time.summary) *** \n\(rule("="))\n"
        ) { text, lane in
            var line = Aria2Line()
            add(lane, to: &line)
            return text
                + "\(line.text(isColoured: false))\nFILE: \(PrintableText.escape(lane.place))\n"
                + "\(rule("-"))\n"
        } + "\n"
    }

    private func add(_ lane: Lane, to line: inout Aria2Line) {
        line.add("[", .magenta)
        line.add("#\(Aria2Text.short(lane.gid)) ")
        addSizes(of: lane, to: &line)
        // Before the first byte arrives, there is one connection.
        line.add(" CN:\(lane.progress?.connections ?? 1)")
        let rate = lane.rate
        if lane.isFetching {
            line.add(" DL:")
            line.add(size(rate), .green)
        }
        if let left = lane.bytesLeft, rate > 0, left / rate > 0 {
            line.add(" ETA:")
            line.add(Aria2Text.duration(left / rate), .yellow)
        }
        line.add("]", .magenta)
    }

    private func addSeveral(to line: inout Aria2Line) {
        if lanes.contains(where: \.isFetching) {
            line.add("[", .magenta)
            line.add("DL:")
            line.add(size(lanes.reduce(0) { $0 + $1.rate }), .green)
            line.add("]", .magenta)
        }
        for lane in lanes.prefix(Self.most) {
            line.add("[", .magenta)
            line.add("#\(Aria2Text.short(lane.gid)) ")
            addSizes(of: lane, to: &line)
            line.add("]", .magenta)
        }
        if lanes.count > Self.most { line.add("(+\(lanes.count - Self.most))") }
    }

    private func addSizes(of lane: Lane, to line: inout Aria2Line) {
        let (done, all) = (lane.progress?.bytesDone ?? 0, lane.size ?? 0)
        line.add("\(size(done))/\(size(all))")
        if all > 0 { line.add("(\(Aria2Text.percent(done, of: all))%)", .cyan) }
    }

    /// Adds the first file that is being verified, and the number of others.
    private func addVerification(to line: inout Aria2Line) {
        let verified = lanes.filter { $0.progress?.phase == .verifying }
        guard let lane = verified.first, let progress = lane.progress else { return }
        let (done, all) = (progress.bytesDone, progress.size ?? progress.bytesDone)
        let percent = all > 0 ? "\(Aria2Text.percent(done, of: all))" : "--"
        line.add(
            " [Checksum:#\(Aria2Text.short(lane.gid)) \(size(done))/\(size(all))(\(percent)%)]")
        if verified.count > 1 { line.add("(+\(verified.count - 1))") }
    }

    private func size(_ bytes: Int64) -> String {
        Aria2Text.size(bytes, isHumanReadable: isHumanReadable)
    }
}

extension Aria2Readout.Lane {
    /// The rate in bytes per second.
    fileprivate var rate: Int64 {
        // The limit prevents an overflow of the sum.
        progress.map { min(1 << 50, Units.whole($0.bytesPerSecond)) } ?? 0
    }

    /// Whether bytes are still missing.
    fileprivate var isFetching: Bool {
        switch progress?.phase {
        case .verifying, .publishing, .ended: false
        case .starting, .downloading, .waitingForNetwork, nil: true
        }
    }

    fileprivate var bytesLeft: Int64? {
        progress.flatMap { progress in progress.size.map { max(0, $0 - progress.bytesDone) } }
    }
}

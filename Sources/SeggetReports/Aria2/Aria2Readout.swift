package import Segmenter

/// How far the files are that run, as aria2c says it once a second.
///
/// Pure.
package struct Aria2Readout {
    /// A file that runs.
    package struct Lane {
        package var gid: Download.ID
        /// Its path, or its URL until it has one.
        package var place: String
        /// Its size in bytes, as far as the server has stated it.
        package var size: Int64?
        /// `nil` until bytes are being fetched.
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

    /// How many files stand in one line.
    private static let most = 5

    private let lanes: [Lane]
    private let isHumanReadable: Bool

    package init(_ lanes: [Lane], isHumanReadable: Bool) {
        self.lanes = lanes
        self.isHumanReadable = isHumanReadable
    }

    /// The line: of one file all, of several how much is done of each.
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

    /// The block that comes now and then: a line for each file, and its path.
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
        // Before the first byte, one connection asks for it.
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

    /// The first file whose digest is being completed, and how many others there are.
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
    /// Bytes per second.
    fileprivate var rate: Int64 {
        // Small enough that the sum of all fits.
        progress.map { min(1 << 50, Units.whole($0.bytesPerSecond)) } ?? 0
    }

    /// Whether not all bytes are there.
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

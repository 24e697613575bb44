// Aria2: the command line, the files and the output of aria2c. The code here parses and prints, but
// decides nothing about a download.

import Glibc
import SeggetFormats
import SeggetReports
import Segmenter
import SeggetAria2

/// Reports a run like aria2c: a log, a line once a second, and a table at the end.
///
/// Times are in seconds since 1970.
struct Aria2Report {
    /// The known facts about a file.
    private struct Lane {
        var url: String
        var name: String?
        var path: String?
        var size: Int64?
        var progress: DownloadProgress?
    }

    /// The number (CUID) of aria2's first command that downloads.
    private static let firstNumber = 7

    private let console: Aria2Console
    private let tasks: [Aria2Task]
    private let common: Aria2Options
    private let folder: String
    private let screen: Aria2Screen
    private var lanes: [Int: Lane] = [:]
    private var results = Aria2Results()
    private var ticks = 0

    /// Creates a report of a run; events identify these tasks by their index.
    ///
    /// `common` are the options of all tasks. `folder` is the absolute path of the folder for names
    /// without one.
    init(
        _ console: Aria2Console, tasks: [Aria2Task], common: Aria2Options = Aria2Options(),
        folder: String, screen: Aria2Screen
    ) {
        self.console = console
        self.tasks = tasks
        self.common = common
        self.folder = folder
        self.screen = screen
    }

    /// Reports the start of the run.
    mutating func start(now: Double) {
        log(.info, "segget \(seggetVersion), compatible with aria2 \(Aria2Words.version)", now)
        log(.notice, "Downloading \(tasks.count) item(s)", now)
    }

    /// Reports an event of one file.
    ///
    /// - Returns: The code of the result, if the event is the result of the file.
    @discardableResult
    mutating func handle(_ event: BatchEvent, now: Double) -> Aria2ErrorCode? {
        let index = event.index
        guard tasks.indices.contains(index) else { return nil }
        switch event.kind {
        case .begun(let url): lanes[index] = Lane(url: url)
        case .event(.probed(let file)):
            lanes[index]?.name = file.suggestedName
            lanes[index]?.size = file.size
            if file.redirects > 0 {
                log(.notice, "\(number(index)) - Redirecting to \(file.effectiveURL)", now)
            }
        case .event(.started(let start)): started(start, index, now)
        case .event(.notice(let notice)):
            log(notice.aria2Level, "GID#\(tasks[index].gid) - \(notice.aria2Text)", now)
        case .event(.progress(let progress)): lanes[index]?.progress = progress
        case .event(.finished): break
        case .ended(.success(let file)):
            finished(file, index, now)
            return .finished
        case .ended(.failure(let error)): return failed(error, index, now)
        }
        return nil
    }

    /// Draws the readout, and the summary if it is due; call it once a second.
    mutating func tick(now: Double) {
        guard !console.isQuiet else { return }
        ticks += 1
        guard screen.isInForeground() else { return }
        let width = screen.width
        let readout = readout
        var text = screen.isTerminal ? "\r\(String(repeating: " ", count: width))\r" : ""
        if !lanes.isEmpty {
            if console.summaryInterval > 0, ticks % console.summaryInterval == 0 {
                text += readout.summary(at: Aria2Time(now), columns: width)
            }
            if console.showsReadout {
                text += readout.line(
                    isColoured: screen.isColoured,
                    columns: screen.isTerminal && console.cutsReadout ? width : .max)
                text += screen.isTerminal ? "" : "\n"
            }
        }
        if !text.isEmpty { screen.write(text) }
    }

    /// Reports a signal that requests an orderly stop.
    mutating func stopping(signal: Int32, now: Double) {
        log(
            .notice,
            signal == SIGINT
                ? "Shutdown sequence commencing... Press Ctrl-C again for emergency shutdown."
                : "Emergency shutdown sequence commencing...", now)
    }

    /// Writes a line to the log.
    func log(_ level: Aria2Console.Level, _ text: String, _ now: Double) {
        log(Aria2LogLine(level, text), now)
    }

    /// Reports the result of a file that was not downloaded: it was refused, or only checked.
    ///
    /// `place` is its path, or the part of its URL that may be shown. `why` describes the problem.
    mutating func conclude(
        _ index: Int, _ code: Aria2ErrorCode, _ place: String, why: String = "", now: Double
    ) {
        guard tasks.indices.contains(index) else { return }
        switch code {
        case .finished: log(.notice, "Download complete: \(place)", now)
        case .checksum:
            log(.error, "Checksum error detected. file=\(place)", now)
            log(Aria2Words.notComplete(tasks[index].gid, path: place), now)
        default:
            if !why.isEmpty {
                let number = Self.firstNumber + index
                log(Aria2Words.refused(place, code, number: number, why: why), now)
            }
            log(Aria2Words.notComplete(tasks[index].gid, path: ""), now)
        }
        end(index, code, place: place, received: (0, .zero), percent: nil)
    }

    /// Reports the end of the run.
    ///
    /// - Returns: The exit code of the run.
    mutating func finish() -> Int32 {
        let code = results.code(of: tasks.count)
        guard !console.isQuiet else { return code.rawValue }
        if console.results != .hide {
            screen.write(
                results.table(isFull: console.results == .full, isColoured: screen.isColoured))
        }
        if code != .finished { screen.write(Aria2Words.ending) }
        return code.rawValue
    }
}

extension Aria2Report {
    private mutating func started(_ start: DownloadStart, _ index: Int, _ now: Double) {
        let isAgain = lanes[index]?.path != nil
        let path = shown(start.path, index)
        lanes[index]?.path = path
        lanes[index]?.size = start.size
        let wanted = last(of: option("out", index) ?? lanes[index]?.name ?? "")
        if !isAgain, Aria2Text.isNumbered(last(of: path), of: wanted) {
            log(.notice, "File already exists. Renamed to \(path).", now)
        }
        if start.resumedBytes > 0 {
            log(
                isAgain ? .info : .notice,
                "GID#\(tasks[index].gid) - Continuing with \(Aria2Text.size(start.resumedBytes)) already "
                    + "received: \(path)", now)
        }
        if start.identity == "none", start.transfer == .segments {
            log(
                .info,
                "GID#\(tasks[index].gid) - the server sends nothing that identifies the version of the "
                    + "file", now)
        }
    }

    private mutating func finished(_ file: DownloadedFile, _ index: Int, _ now: Double) {
        let path = shown(file.path, index)
        // If a checksum shows that the file is complete, aria2c prints only the message about that.
        if file.unchanged != nil, file.verified.isEmpty {
            log(
                .notice, "GID#\(tasks[index].gid) - Download has already completed: \(path)", now)
            if file.isSampled {
                log(
                    .notice,
                    "GID#\(tasks[index].gid) - a sample of it matches the server's file; nothing else was "
                        + "compared", now)
            }
        }
        if !file.verified.isEmpty {
            log(
                option("checksum", index) == nil ? .info : .notice,
                "Verification finished successfully. file=\(path)", now)
        }
        if !file.isSynchronized {
            log(
                .warn,
                "GID#\(tasks[index].gid) - the file system cannot synchronize data: a power failure may destroy "
                    + path, now)
        }
        log(.notice, "Download complete: \(path)", now)
        end(
            index, .finished, place: path, received: (file.bytesReceived, file.duration),
            percent: file.size > 0 ? 100 : nil)
    }

    private mutating func failed(
        _ error: DownloadError, _ index: Int, _ now: Double
    ) -> Aria2ErrorCode {
        let code = code(of: error, index)
        let path = (error.path.map { shown($0, index) } ?? lanes[index]?.path) ?? ""
        let lines = Aria2Words.failure(
            error, code, number: Self.firstNumber + index, path: path)
        for line in lines { log(line, now) }
        log(Aria2Words.notComplete(tasks[index].gid, path: path), now)
        let progress = lanes[index]?.progress
        let size = progress?.size ?? 0
        end(
            index, code, place: path.isEmpty ? error.url : path,
            received: (progress?.bytesReceived ?? 0, progress?.elapsed ?? .zero),
            percent: size > 0 ? Aria2Text.percent(error.bytesKept, of: size) : nil)
        return code
    }

    /// Returns the code for a failed file.
    private func code(of error: DownloadError, _ index: Int) -> Aria2ErrorCode {
        Aria2ErrorCode(
            error, mostNotFound: option("max-file-not-found", index).flatMap { Int($0) } ?? 0,
            tries: option("max-tries", index).flatMap { Int($0) } ?? 5)
    }

    private mutating func end(
        _ index: Int, _ code: Aria2ErrorCode, place: String,
        received: (bytes: Int64, time: Duration), percent: Int64?
    ) {
        lanes[index] = nil
        results.add(
            Aria2Results.Row(
                gid: tasks[index].gid, code: code, place: place, received: received,
                percent: percent))
    }

    private func log(_ line: Aria2LogLine, _ now: Double) {
        if let writeLog = screen.writeLog, line.level.reaches(console.logLevel) {
            writeLog(line.file(at: Aria2Time(now)))
        }
        if !console.isQuiet, line.level.reaches(console.level) {
            screen.write(line.console(at: Aria2Time(now), isColoured: screen.isColoured))
        }
    }

    private var readout: Aria2Readout {
        let running = lanes.sorted { $0.key < $1.key }.map { index, lane in
            Aria2Readout.Lane(
                gid: tasks[index].gid, place: lane.path ?? lane.url, size: lane.size,
                progress: lane.progress)
        }
        return Aria2Readout(running, isHumanReadable: console.isHumanReadable)
    }

    private func number(_ index: Int) -> String { "CUID#\(Self.firstNumber + index)" }

    /// Returns the last value of a file's option.
    private func option(_ name: String, _ index: Int) -> String? {
        tasks[index].options.all(name).last ?? common.all(name).last
    }

    private func last(of path: String) -> String {
        path.split(separator: "/").last.map(String.init) ?? path
    }

    /// Returns a path as aria2c shows it: below the `dir` option as typed, else the current folder.
    func shown(_ path: String, _ index: Int) -> String {
        guard !path.hasPrefix("/") else { return path }
        let dir = dir(index)
        if let dir, dir != "." { return path.contains("/") ? path : below(dir, path) }
        return below(dir ?? folder, path.hasPrefix("./") ? String(path.dropFirst(2)) : path)
    }

    /// Returns the file's path if `out` names it; otherwise an empty text.
    func wanted(_ index: Int) -> String {
        guard let name = option("out", index), !name.isEmpty else { return "" }
        return below(dir(index) ?? folder, name)
    }

    /// Returns the `dir` option of a file; an empty value is the current folder.
    private func dir(_ index: Int) -> String? {
        option("dir", index).map { $0.isEmpty ? "." : $0 }
    }

    private func below(_ folder: String, _ name: String) -> String {
        folder == "/" ? "/\(name)" : "\(folder)/\(name)"
    }
}

import ArgumentParser
import Foundation
import SeggetCommand
import SeggetQueue
import SeggetReports
import SeggetService

/// `segget open`: prints the address of the service's page, and opens it in a browser.
struct OpenCommand: ParsableCommand {
    static let configuration = QueueCommandName.open.configuration(
        discussion: """
            The address contains a token that logs one browser in, once, within a minute. In a desktop session, \
            xdg-open opens the address in the browser; with `--no-browser`, segget only prints it. The page needs a \
            service that was started with `segget serve --web`.
            """)

    @Flag(help: "Only print the address.") var noBrowser = false
    @OptionGroup(title: "Queue") var queue: QueueOptions
    @OptionGroup(title: "Configuration") var configuration: ConfigurationOptions

    func run() throws {
        let startsBrowser = !noBrowser && Self.hasDesktop
        try queue.run { access in
            guard let client = access.client else {
                throw QueueError(
                    .unavailable, "no worker is running, so there is no page",
                    hint: "start one with `segget serve --web PORT`")
            }
            let address = try await client.opening()
            guard StandardStreams.write(address + "\n", to: STDOUT_FILENO) else { return .disk }
            if startsBrowser { Self.startBrowser(address) }
            return .done
        }
    }

    /// Whether the process belongs to a desktop session.
    private static var hasDesktop: Bool {
        ["DISPLAY", "WAYLAND_DISPLAY"].contains {
            ProcessInfo.processInfo.environment[$0]?.isEmpty == false
        }
    }

    private static func startBrowser(_ address: String) {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["xdg-open", address]
        (process.standardInput, process.standardOutput) = (
            FileHandle.nullDevice, FileHandle.nullDevice
        )
        process.standardError = FileHandle.nullDevice
        do {
            try process.run()
            process.waitUntilExit()
            guard process.terminationStatus != 0 else { return }
            Voice.say(.note, "xdg-open could not open the address; open it yourself")
        } catch {
            Voice.say(.note, "cannot start a browser: \(error.localizedDescription)")
        }
    }
}

import ArgumentParser
import Foundation
import SeggetCommand
import SeggetQueue
import Segmenter
import Testing

@testable import segget_manager

struct AddCommandTests {
    @Test func pathsOfATaskAreAbsolute() {
        let here = FileManager.default.currentDirectoryPath
        var options = DownloadOptions()
        options.caCertificate = "ca.pem"
        options.access.netrcFile = "../netrc"
        options.access.cookieFile = "a/jar"
        options.access.clientCertificate = "me.pem"
        options.access.clientKey = "/etc/me.key"
        options.access.pinnedPublicKey = "pin.pem"
        options.files.missingFolders = .madeBelow(["x", "."])
        options.makePathsAbsolute()
        #expect(options.caCertificate == "\(here)/ca.pem")
        #expect(options.access.netrcFile == "\(here)/../netrc")
        #expect(options.access.cookieFile == "\(here)/a/jar")
        #expect(options.access.clientCertificate == "\(here)/me.pem")
        #expect(options.access.clientKey == "/etc/me.key")
        #expect(options.access.pinnedPublicKey == "\(here)/pin.pem")
        #expect(
            options.files.missingFolders == .madeBelow([Paths.absolute("x"), Paths.absolute(".")]))
        let pins = "sha256//\(String(repeating: "A", count: 43))="
        options.access.pinnedPublicKey = pins
        options.makePathsAbsolute()
        #expect(options.access.pinnedPublicKey == pins)
    }

    @Test func numberableNameIsNotGiven() throws {
        let url = "http://127.0.0.1/a"
        let given = try AddCommand.parse(["--name", "x", url, "--queue", "q"]).tasks()
        #expect(given.map(\.place.isNameGiven) == [true])
        let wish = try AddCommand.parse(["--name", "x", url, "--auto-rename", "--queue", "q"])
            .tasks()
        #expect(wish.map(\.place.isNameGiven) == [false])
    }
}

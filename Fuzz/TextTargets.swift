import FoundationEssentials
import SeggetReports

@testable import Assembler
@testable import SeggetFormats
@testable import Segmenter
import SeggetAria2

/// What users write, and what is shown to them.
enum TextTargets {
    /// `-i FILE`.
    static func inputFile(_ bytes: [UInt8]) {
        let file: InputFile
        do throws(InputFile.LineError) {
            file = try InputFile(reading: bytes, ignoring: Aria2Option.ignoredInLists)
        } catch {
            let text = Gzip.isCompressed(bytes) ? (try? Gzip.text(of: bytes)) ?? [] : bytes
            let lines = text.count { $0 == UInt8(ascii: "\n") } + 1
            expect((1...lines).contains(error.line), "an error on line \(error.line) of \(lines)")
            return
        }
        // The first line may have a mark in front that is no part of a URL.
        var written = "\n"
        for item in file.items {
            expect(!item.urls.isEmpty, "a file without a URL")
            let target = item.batchItem(options: DownloadOptions(), folder: ".")
            for header in target.options.headers {
                expect(!header.utf8.contains { $0 == 0x0a || $0 == 0x0d }, "a header of two lines")
            }
            written += item.urls.joined(separator: "\t") + "\n"
            for setting in item.settings { written += " \(setting.name)=\(setting.value)\n" }
        }
        guard
            let again = try? InputFile(
                reading: written.utf8, ignoring: Aria2Option.ignoredInLists)
        else {
            fatalError("what was written does not read")
        }
        let isSame = zip(again.items, file.items).allSatisfy {
            $0.urls == $1.urls && $0.settings == $1.settings
        }
        expect(isSame && again.items.count == file.items.count, "written again, another list")
    }

    /// `--checksum-file`; the first line is the name of the file.
    static func checksumFile(_ bytes: [UInt8]) {
        let end = bytes.firstIndex(of: UInt8(ascii: "\n")) ?? 0
        let name = text(bytes[..<end])
        guard let file = try? ChecksumFile(bytes[end...], fileName: name) else { return }
        var written = ""
        for entry in file.entries {
            expect(
                entry.digest.bytes.count == entry.digest.algorithm.byteCount,
                "a digest of a wrong length")
            let name = entry.name.unicodeScalars.map {
                switch $0 {
                case "\\": "\\\\"
                case "\n": "\\n"
                case "\r": "\\r"
                default: String($0)
                }
            }.joined()
            written += "\\\(tag(entry.digest.algorithm)) (\(name)) = \(entry.digest.hex)\n"
            // It says of this name the digest, or that others contradict it.
            do throws(ChecksumFile.LookupError) {
                let found = try file.digest(of: entry.name)
                expect(file.entries.contains { $0.digest == found }, "an invented digest")
            } catch {
                if case .unreadable = error { fatalError("unreadable, and read") }
            }
        }
        let again = try? ChecksumFile(written.utf8, fileName: "")
        expect(again?.entries == file.entries, "written again, it reads differently")
    }

    private static func tag(_ algorithm: DigestAlgorithm) -> String {
        algorithm.rawValue.replacing("-", with: "").uppercased()
    }

    /// The configuration file.
    static func configuration(_ bytes: [UInt8]) {
        let text = text(bytes)
        let read: [ConfigurationFile.Line]
        do throws(ConfigurationFile.LineError) {
            read = try ConfigurationFile.lines(of: text, home: "/home/me")
        } catch {
            let rows = text.count { $0.isNewline } + 1
            expect((1...rows).contains(error.number), "an error on line \(error.number) of \(rows)")
            return
        }
        var written = ""
        for line in read {
            expect(
                !line.name.isEmpty && !line.name.hasPrefix("-")
                    && line.name.allSatisfy { $0.isASCII && $0 != "=" && $0 != " " },
                "no name of an option: \(line.name)")
            written += line.name
            if let value = line.value {
                written += " = \""
                for scalar in value.unicodeScalars {
                    written += scalar == "\"" || scalar == "\\" ? "\\\(scalar)" : "\(scalar)"
                }
                written += "\""
            }
            written += "\n"
        }
        let again = try? ConfigurationFile.lines(of: written, home: nil)
        let isSame = zip(again ?? [], read).allSatisfy {
            $0.name == $1.name && $0.value == $1.value
        }
        expect(isSame && again?.count == read.count, "written again, it reads differently")
    }

    /// Sizes and rates.
    static func quantity(_ bytes: [UInt8]) {
        let text = text(bytes)
        for number in [Quantity(text)?.bytes, Rate(text)?.bytesPerSecond].compactMap({ $0 }) {
            expect(number.isFinite && number >= 0 && number < 0x1p62, "\(number) is no number")
            expect(Int64(exactly: number.rounded()) != nil, "\(number) does not fit")
        }
    }

    /// Commands of hooks: the words, quoted, are the same words again.
    static func commandWords(_ bytes: [UInt8]) {
        guard let words = try? CommandWords.split(text(bytes)) else { return }
        let quoted = words.map { word in
            "'" + word.unicodeScalars.map { $0 == "'" ? "'\\''" : "\($0)" }.joined() + "'"
        }.joined(separator: " ")
        expect((try? CommandWords.split(quoted)) == words, "quoted, they are other words")
    }

    /// What a terminal is shown: no control character, no more columns than there are; and JSON.
    static func printable(_ bytes: [UInt8]) {
        let text = text(bytes.dropFirst())
        let columns = Int(bytes.first ?? 0)
        let isSafe: (String) -> Bool = {
            !$0.unicodeScalars.contains(where: PrintableText.isUnsafe)
        }
        expect(isSafe(PrintableText.escape(text)), "a control character")
        for unicode in [true, false] {
            let fitted = PrintableText.fit(text, columns: columns, unicode: unicode)
            expect(isSafe(fitted), "a control character")
            expect(PrintableText.width(fitted) <= columns, "wider than \(columns) columns")
            expect(unicode || fitted.utf8.allSatisfy { $0 < 0x80 }, "not in ASCII")
        }
        guard let json = JSONText.line(["a": text]) else { fatalError("no JSON") }
        expect(isSafe(json), "a control character in JSON")
        let read = try? JSONDecoder().decode([String: String].self, from: Data(json.utf8))
        expect(read.map { Array($0["a", default: ""].utf8) } == Array(text.utf8), "other JSON")
    }
}

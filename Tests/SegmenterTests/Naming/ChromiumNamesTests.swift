import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

/// Tests names against those that Chromium 156 saved, when a server sent it each header for
/// `/url.bin`.
@Suite struct ChromiumNamesTests {
    @Test(arguments: [
        (#"attachment; filename="a.zip""#, "a.zip"), (#"filename="a.zip""#, "a.zip"),
        ("filename=a.zip", "a.zip"), ("attachment; filename=a.zip", "a.zip"),
        (#"attachment; filename="100%25%20pure.zip""#, "100% pure.zip"),
        (#"attachment; filename="na%C3%AFve%20file.zip""#, "naïve file.zip"),
        ("attachment; filename=na%C3%AFve.zip", "naïve.zip"),
        (#"attachment; filename="%E4%B8%AD%E6%96%87.zip""#, "中文.zip"),
        (#"attachment; filename="%D6%D0.zip""#, "url.bin"),
        (#"attachment; filename="50% off.zip""#, "50% off.zip"),
        (#"attachment; filename="größe.zip""#, "größe.zip"),
        ("attachment; filename*=UTF-8''na%C3%AFve.zip", "naïve.zip"),
        ("attachment; filename*=ISO-8859-1''na%EFve.zip", "naïve.zip"),
        (#"attachment; filename="plain.zip"; filename*=UTF-8''ext%20ended.zip"#, "ext ended.zip"),
        (#"attachment;filename="a.zip";filename*=UTF-8''"#, "a.zip"),
        ("attachment; filename*=utf-8''x%ff.zip", "url.bin"),
        (#"attachment; filename="=?UTF-8?B?bmHDr3ZlLnppcA==?=""#, "naïve.zip"),
        ("attachment; filename==?utf-8?B?bmHDr3ZlLnppcA==?=", "naïve.zip"),
        (#"attachment; filename="=?UTF-8?Q?na=C3=AFve.zip?=""#, "naïve.zip"),
        ("attachment; filename=two words.zip", "two words.zip"),
        (#"attachment; filename="a \"b\".zip""#, "a _b_.zip"),
        (#"attachment; filename="report:2024?.zip""#, "report_2024_.zip"),
        ("attachment; filename=\"tab\there.zip\"", "tab here.zip"),
        (#"attachment; filename="a;b=c.zip"; size=4"#, "a;b=c.zip"),
        (#"inline; filename="x.zip""#, "x.zip"), ("attachment", "url.bin"),
        ("attachment; filename='single.zip'", "'single.zip'"),
        (#"attachment; filename="""#, "url.bin"), (#"attachment; filename="noext""#, "noext"),
        ("attachment; filename=first.zip; filename=second.zip", "first.zip"),
        (#"attachment; name="n.zip""#, "url.bin"), (#"name="n.zip""#, "url.bin"),
        ("a.zip", "url.bin"), (#""a.zip""#, "url.bin"),
        (#"attachment filename="a.zip""#, "url.bin"),
        (#"attachment; filename="trailing.zip";"#, "trailing.zip"),
        (#"attachment; FILENAME="upper.zip""#, "upper.zip"),
        (#"attachment; filename=".hidden.zip""#, "hidden.zip"),
    ])
    func agreesWithChromium(disposition: String, name: String) throws {
        #expect(try suggested(disposition) == name)
    }

    /// In these cases segget differs from Chromium on purpose.
    ///
    /// Only the last component of a path counts, so that a name cannot point to another folder.
    /// A server's choice of charset does not make segget load a converter.
    @Test(arguments: [
        (#"attachment; filename="../../evil.zip""#, "_.._evil.zip", "evil.zip"),
        (#"attachment; filename="..\\..\\evil.zip""#, "_.._evil.zip", "evil.zip"),
        ("attachment; filename*=UTF-8''%2e%2e%2fup.zip", "_up.zip", "up.zip"),
        (
            #"attachment; filename="plus+and%2Fslash.zip""#, "plus+and_slash.zip",
            "slash.zip"
        ),
        (
            "attachment; filename*=GBK''%D6%D0.zip; filename=fall.zip", "中.zip",
            "fall.zip"
        ),
    ])
    func differsWhereSafer(disposition: String, chromium: String, name: String) throws {
        #expect(try suggested(disposition) == name)
        #expect(name != chromium)
    }

    private func suggested(_ disposition: String) throws -> String {
        let url = try #require(WebURL("https://example.org/dir/url.bin"))
        return FileName.suggested(disposition: disposition, url: url)
    }
}

import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

@Suite struct PageForFileTests {
    @Test(arguments: [
        ("model.safetensors", true), ("a.GGUF", true), ("pytorch_model.bin", true),
        ("x.tar.gz", true), ("x.zip", true), ("x.7z", true), ("x_1_amd64.deb", true),
        ("x.rpm", true), ("x-1-py3-none-any.whl", true), ("debian.iso", true), ("sd.img", true),
        ("vm.qcow2", true), ("x.tar.zst", true), ("page.html", false), ("page.html.gz", false),
        ("data.json", false), ("README", false), ("zip", false), ("x.txt", false), ("", false),
    ])
    func recognizesBinaryFileNames(name: String, isPromise: Bool) {
        #expect(PageForFile.isPromised(names: [name], type: "text/html") == isPromise)
        #expect(PageForFile.isPromised(names: ["x", name], type: nil) == isPromise)
    }

    @Test(arguments: [
        ("application/zip", true), ("Application/GZIP; x=y", true),
        ("application/octet-stream", false), ("text/html", false),
    ])
    func recognizesBinaryTypes(type: String, isPromise: Bool) {
        #expect(PageForFile.isPromised(names: ["x"], type: type) == isPromise)
    }

    @Test(
        arguments: [
            ("<!DOCTYPE html><title>Log in</title>", nil, true), ("<html>", nil, true),
            ("\n  <HTML lang=en>", nil, true), ("\u{feff}<!doctype html>", nil, true),
            ("<!-- x --><html>", nil, true), ("<!-- x --><svg>", nil, false),
            ("<?xml version=\"1.0\"?><html xmlns=\"\">", nil, true), ("<htmlx>", nil, false),
            ("PK\u{3}\u{4}", "text/html", false), ("Please log in", "text/html; charset=x", true),
            ("Please log in", "text/plain", false), ("{\"error\":1}", "application/json", false),
            ("a\u{8}b", "text/html", false), ("a\u{b}b", "text/html", false),
            ("\t\u{c}\r\n\u{1b}[0m", "text/html", true),
            ("", nil, false),
        ] as [(String, String?, Bool)])
    func recognizesPagesByFirstBytes(start: String, type: String?, isPage: Bool) {
        #expect(PageForFile.isOne(type: type, start: Array(start.utf8)) == isPage)
    }

    @Test func typeDecidesWithoutBytes() {
        #expect(PageForFile.isOne(type: "text/html", start: nil))
        #expect(!PageForFile.isOne(type: "application/zip", start: nil))
    }
}

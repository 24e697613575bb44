import Assembler
import FoundationEssentials
import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport
@testable import SegmenterValues

/// Tests the options that a queue stores, across versions of segget.
///
/// This version writes these texts.
/// They are never changed: a new key is added to them, and those without it move to ``older``.
@Suite struct StoredOptionsTests {
    private static let defaults = """
        {
          "connections": "auto", "overwrite": false, "resume": true, "resume_unverified": false,
          "single_request": false,
          "continues_other_url": false, "waits_for_network": false,
          "waits_for_network_first": false, "ends_to_rest": false, "takes_over": "nothing",
          "continues_existing": false,
          "retry_wait": 0,
          "headers": [], "mirrors": [], "connect_timeout": 10, "stall_timeout": 15,
          "naming": {"uses_url": false, "numbers_taken": false},
          "stream": {"window": 67108864},
          "limits": {"min_rate_period": 30},
          "files": {
            "allocation": "auto", "remote_time": true, "attributes": "none", "keep_manifest": false,
            "timestamping": false, "skips_existing": false, "refuses_html": false,
            "missing_folders": "refused"
          },
          "access": {
            "scheme": "automatic", "uses_netrc": false, "keeps_cookies": true,
            "address_family": "any", "max_redirects": 20, "resolve": [], "denies_private": false,
            "is_insecure": false, "minimum_tls": "1.2",
            "allows_downgrade": false, "crosses_origins": false
          }
        }
        """

    private static let all = """
        {
          "connections": "auto:7", "min_split_size": 5, "retry_wait": 1.5, "takes_over": "begun",
          "continues_existing": true,
          "checksum": "md5:00112233445566778899aabbccddeeff",
          "pin": {"size": 5, "etag": "\\"e\\"", "last_modified": "d"}, "overwrite": true,
          "hub": {"endpoint": "http://e", "variable": "V", "file": "/f", "cache": "/h"},
          "resume": false, "resume_unverified": true, "single_request": true, "continues_other_url": true,
          "adopt": "/begun", "waits_for_network": true, "waits_for_network_first": true,
          "ends_to_rest": true,
          "headers": ["X-Api-Key: sesame", "Accept-Language: de", "Authorization: Basic sesame",
            "User-Agent: x", "Cookie: a=sesame", "Referer: http://h/?sesame", "sesame"],
          "ca_certificate": "/ca.pem", "connect_timeout": 2.5, "stall_timeout": 3, "retries": 4,
          "naming": {"uses_url": true, "numbers_taken": true},
          "stream": {"window": 1048576},
          "limits": {"max_size": 9, "max_time": 8.5, "rate": 5.5, "min_rate": 7.5, "min_rate_period": 6},
          "mirrors": ["https://me:sesame@m/f?q", "http://n/a@b", "u:p/@o"],
          "files": {
            "allocation": "trunc", "remote_time": false, "attributes": "proof",
            "keep_manifest": true, "timestamping": true, "skips_existing": true, "refuses_html": true,
            "missing_folders": ["/a", "b"],
            "umask": 63
          },
          "access": {
            "credentials": {"user": "me", "password": "sesame"}, "scheme": "digest",
            "uses_netrc": true, "netrc_file": "/n", "bearer_token": "sesame", "cookie_file": "/c",
            "keeps_cookies": false, "cookies": "a=sesame", "user_agent": "agent",
            "referer": "http://u:sesame@r/", "proxy": "me:sesame@p:1", "no_proxy": "*",
            "address_family": "ipv6", "max_redirects": 3, "interface": "lo", "resolve": ["h:1:::1"],
            "denies_private": true, "is_insecure": true, "pinned_public_key": "/pin", "client_certificate": "/cc",
            "client_key": "/ck", "client_key_password": "sesame", "minimum_tls": "1.3",
            "allows_downgrade": true, "crosses_origins": true
          }
        }
        """

    /// Options that an older version has stored, with fewer keys.
    private static let older = """
        {"connections": 3, "limits": {"max_size": 5}, "access": {"proxy": "p"}, "files": {}}
        """

    /// Options that a newer version stores, with more keys.
    private static let newer = """
        {
          "connections": 3, "pieces": {"order": ["rarest", 1.5, null, true, 18446744073709551615]},
          "naming": {"style": "short"}, "stream": {"ring": -1}, "limits": {"max_cost": 2},
          "files": {"mode": "0644", "note": ""},
          "access": {"vault": "sesame", "credentials": {"user": "u", "realm": "r"}}
        }
        """

    @Test func encodesDefaults() throws {
        #expect(try fields(DownloadOptions()) == fields(Self.defaults))
        #expect(try options(Self.defaults) == DownloadOptions())
        #expect(try options("{}") == DownloadOptions())
    }

    @Test func encodesEveryOption() throws {
        let options = try options(Self.all)
        #expect(try fields(options) == fields(Self.all))
        #expect(options.connections == .upTo(7))
        #expect(options.checksum?.hex == "00112233445566778899aabbccddeeff")
        #expect(options.files.missingFolders == .madeBelow(["/a", "b"]))
        #expect(options.access.minimumTLS == .tls13)
        #expect(options.areRetriesGiven && options.retries == 4)
        // No option has its default in this text. So the test fails for an option that is not
        // stored.
        let defaults = DownloadOptions()
        for (mine, other) in [
            (options, defaults) as (Any, Any), (options.access, defaults.access),
            (options.files, defaults.files), (options.limits, defaults.limits),
            (options.naming, defaults.naming), (options.stream, defaults.stream),
            (
                options.access.credentials ?? .init(user: "", password: nil),
                AccessOptions.Credentials(user: "", password: nil)
            ),
        ] {
            let values = Mirror(reflecting: mine).children
            for (one, two) in zip(values, Mirror(reflecting: other).children)
            // Kerberos tickets belong to the user who runs the download, so `negotiates` is never
            // stored. A range belongs to the shard of a fleet, which is no task, and so do parts that
            // others may read.
            where !["unknown", "negotiates", "window", "opensParts"].contains(one.label) {
                #expect("\(one.value)" != "\(two.value)", "\(one.label ?? "")")
            }
        }
    }

    @Test(arguments: [defaults, all, newer])
    func omitsDefaults(text: String) throws {
        let encoder = JSONEncoder()
        encoder.userInfo[.leavesOutDefaults] = true
        let short = try encoder.encode(options(text))
        #expect(try JSONDecoder().decode(DownloadOptions.self, from: short) == options(text))
        let stored = try JSONDecoder().decode(CodedValue.self, from: short)
        #expect(try fields(text).holds(stored))
        #expect((text == Self.defaults) == (stored == .fields([:])))
    }

    @Test func keepsGivenRetriesEqualToDefault() throws {
        var options = DownloadOptions()
        options.retries = DownloadOptions().retries
        let encoder = JSONEncoder()
        encoder.userInfo[.leavesOutDefaults] = true
        #expect(try encoder.encode(options) == Data(#"{"retries":10}"#.utf8))
    }

    @Test func missingKeysHaveDefaults() throws {
        var expected = DownloadOptions()
        expected.connections = 3
        expected.limits.maxSize = 5
        expected.access.proxy = "p"
        #expect(try options(Self.older) == expected)
    }

    @Test func keepsUnknownKeys() throws {
        var options = try options(Self.newer)
        #expect(options.connections == 3)
        #expect(options.access.credentials?.user == "u")
        let stored = try fields(options)
        #expect(stored.holds(try fields(Self.newer)))
        // Changes of this version keep the unknown values.
        options.limits.maxSize = 1
        options.access.proxy = "p"
        #expect(try fields(options).holds(try fields(Self.newer)))
    }

    /// A default instead of the unknown value might be less than the user has requested.
    @Test(arguments: [
        #"{"access": {"minimum_tls": "1.4"}}"#, #"{"connections": "many"}"#,
        #"{"checksum": "sha3:00"}"#, #"{"files": {"missing_folders": "asked"}}"#,
        #"{"files": {"allocation": "punch"}}"#, #"{"limits": {"max_size": "1G"}}"#, "[]",
    ]) func rejectsUnknownValues(text: String) {
        #expect(throws: DecodingError.self) { try options(text) }
    }

    @Test(arguments: [all, newer]) func omitsSecrets(text: String) throws {
        let options = try options(text)
        let encoder = JSONEncoder()
        #expect(try String(decoding: encoder.encode(options), as: UTF8.self).contains("sesame"))
        encoder.userInfo[.leavesOutSecrets] = true
        let data = try encoder.encode(options)
        #expect(!String(decoding: data, as: UTF8.self).contains("sesame"))
        let read = try JSONDecoder().decode(DownloadOptions.self, from: data)
        #expect(read == options.withoutSecrets)
        encoder.userInfo[.leavesOutSecrets] = false
        #expect(try encoder.encode(options.withoutSecrets).count == data.count)
    }

    @Test func withoutSecretsKeepsOtherOptions() throws {
        let options = try options(Self.all).withoutSecrets
        #expect(options.headers == ["Accept-Language: de", "User-Agent: x"])
        #expect(options.mirrors == ["https://m/f?q", "http://n/a@b", "u:p/@o"])
        #expect(options.access.proxy == "p:1")
        #expect(options.access.referer == "http://r/")
        #expect(options.access.clientKey == "/ck")
        #expect(options.access.netrcFile == "/n")
        #expect(options.retries == 4)
    }

    private func options(_ text: String) throws -> DownloadOptions {
        try JSONDecoder().decode(DownloadOptions.self, from: Data(text.utf8))
    }

    private func fields(_ text: String) throws -> CodedValue {
        try JSONDecoder().decode(CodedValue.self, from: Data(text.utf8))
    }

    private func fields(_ options: DownloadOptions) throws -> CodedValue {
        try JSONDecoder().decode(CodedValue.self, from: JSONEncoder().encode(options))
    }
}

extension CodedValue {
    /// Returns whether all fields of `other` are in this value, and equal.
    fileprivate func holds(_ other: CodedValue) -> Bool {
        guard case .fields(let mine) = self, case .fields(let others) = other else {
            return self == other
        }
        return others.allSatisfy { key, value in mine[key]?.holds(value) ?? false }
    }
}

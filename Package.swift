// swift-tools-version: 6.2
import PackageDescription

/// What our own modules are compiled and linked with beyond what every build has.
///
/// `SEGGET_INSTRUMENT` is set by scripts/sanitize.sh to `thread` or `address`, and by scripts/fuzz.sh to
/// `fuzzer`, which is AddressSanitizer with libFuzzer's counters. Dependencies are left as they are, and so are
/// built once for all of these.
let instrument = Context.environment["SEGGET_INSTRUMENT"]
let sanitizers = (instrument == "fuzzer" ? ["address", "fuzzer"] : [instrument].compactMap { $0 })
    .map { "-sanitize=\($0)" }

/// The commit that is built, which `make build` sets and `--version` prints.
let commit = Context.environment["SEGGET_COMMIT"]

/// Tests that are not built with instruments: they start the programs, or are about words and options.
let uninstrumented: Set = [
    "EndToEndTests", "SeggetTests", "SeggetManagerTests", "SeggetReportsTests",
]

/// What tests are compiled with: Swift 6, strict imports, no warnings.
let testSettings: [SwiftSetting] =
    [
        .swiftLanguageMode(.v6),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .treatAllWarnings(as: .error),
    ] + (instrument == nil ? [] : [.unsafeFlags(sanitizers)])

/// What all else of ours is compiled with; instruments are slow enough by themselves.
let settings = testSettings + (instrument == nil ? [] : [.unsafeFlags(["-O"])])

/// What is compiled for size: words, options and reports, through which no byte of a file goes.
let small = settings + [.unsafeFlags(["-Osize"], .when(configuration: .release))]

/// How programs are linked: `-static-stdlib` exports all symbols, and so keeps what nobody calls.
let linked: [LinkerSetting] = [.unsafeFlags(["-Xlinker", "--no-export-dynamic"])]

let package = Package(
    name: "segget",
    products: [
        .executable(name: "segget", targets: ["segget"]),
        .executable(name: "segget-manager", targets: ["segget-manager"]),
        .library(name: "Segmenter", targets: ["Segmenter"]),
        .library(name: "Assembler", targets: ["Assembler"]),
        .library(name: "SeggetFormats", targets: ["SeggetFormats"]),
        .library(name: "SeggetReports", targets: ["SeggetReports"]),
        .library(name: "SeggetQueue", targets: ["SeggetQueue"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.0"),
        .package(url: "https://github.com/apple/swift-http-structured-headers", from: "1.7.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    ],
    targets: [
        .systemLibrary(
            name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(
            name: "CDeflate", pkgConfig: "libdeflate", providers: [.apt(["libdeflate-dev"])]),
        .target(name: "CLinux"),
        .target(name: "CPage", exclude: ["files"]),
        .target(
            name: "CVersion",
            cSettings: commit.map { [.define("SEGGET_COMMIT", to: "\"\($0)\"")] } ?? []),
        .target(
            name: "Assembler",
            dependencies: [
                "CDeflate", "CLinux", "CZlib",
                .product(name: "Crypto", package: "swift-crypto"),
            ],
            swiftSettings: settings),
        // URLs and dates, as libcurl's parsers read them.
        .target(
            name: "SegmenterURLs", dependencies: ["CCurl", "CLinux"], swiftSettings: settings),
        // The public values: options, events, results and errors.
        .target(
            name: "SegmenterValues", dependencies: ["Assembler", "SegmenterURLs"],
            swiftSettings: settings),
        // Pure: what decides without a clock, a socket or a file.
        .target(
            name: "SegmenterRules",
            dependencies: [
                "SegmenterValues",
                .product(
                    name: "RawStructuredFieldValues", package: "swift-http-structured-headers"),
            ],
            swiftSettings: settings),
        // libcurl's transfers, and what is remembered of servers.
        .target(
            name: "SegmenterTransport", dependencies: ["CCurl", "CLinux", "SegmenterRules"],
            swiftSettings: settings),
        .target(
            name: "Segmenter",
            dependencies: [
                "Assembler", "CLinux", "SegmenterRules", "SegmenterTransport", "SegmenterValues",
            ],
            swiftSettings: settings),
        .target(
            name: "SeggetFormats", dependencies: ["Assembler", "CLinux", "CZlib", "Segmenter"],
            swiftSettings: small),
        .target(
            name: "SeggetReports",
            dependencies: ["Assembler", "SeggetFormats", "Segmenter", "SegmenterRules"],
            swiftSettings: small),
        // All that is aria2's: its options, its list, its output and exit codes.
        .target(
            name: "SeggetAria2",
            dependencies: ["Assembler", "CLinux", "SeggetFormats", "SeggetReports", "Segmenter"],
            swiftSettings: small),
        .target(
            name: "SeggetCommand",
            dependencies: [
                "Assembler", "CLinux", "CVersion", "SeggetAria2", "SeggetFormats",
                "SeggetReports", "Segmenter", "SegmenterRules", "SegmenterTransport",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: small),
        .target(
            name: "SeggetQueue",
            dependencies: [
                "Assembler", "CLinux", "SeggetFormats", "SeggetReports", "Segmenter",
                "SegmenterRules",
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            swiftSettings: settings),
        .target(
            name: "SeggetService",
            dependencies: [
                "Assembler", "CLinux", "CPage", "SeggetAria2", "SeggetFormats", "SeggetQueue",
                "SeggetReports", "Segmenter",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOWebSocket", package: "swift-nio"),
            ],
            swiftSettings: settings),
        .executableTarget(
            name: "segget",
            dependencies: [
                "SeggetCommand"
            ],
            swiftSettings: small, linkerSettings: linked),
        // What is heavy, SQLite and full Foundation, is in a program of its own that `segget` starts.
        .executableTarget(
            name: "segget-manager",
            dependencies: [
                "Assembler", "CLinux", "SeggetAria2", "SeggetCommand", "SeggetFormats",
                "SeggetQueue", "SeggetReports", "SeggetService", "Segmenter",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: small, linkerSettings: linked),
        // What bench/manager.py asks of the library itself.
        .executableTarget(
            name: "queue-subscribers", dependencies: ["SeggetQueue"], path: "bench/subscribers",
            swiftSettings: settings),
        .testTarget(
            name: "AssemblerTests",
            dependencies: [
                "Assembler", "CLinux", .product(name: "Crypto", package: "swift-crypto"),
                "TestSupport",
            ],
            swiftSettings: testSettings),
        .testTarget(
            name: "SegmenterTests",
            dependencies: [
                "Assembler", "Segmenter", "SegmenterRules", "SegmenterTransport", "SegmenterURLs",
                "SegmenterValues", "TestSupport",
            ],
            swiftSettings: testSettings),
        .testTarget(
            name: "SeggetFormatsTests",
            dependencies: ["Assembler", "SeggetFormats", "Segmenter", "TestSupport"],
            swiftSettings: testSettings),
        .target(
            name: "ReportExamples", dependencies: ["Assembler", "Segmenter"],
            path: "Tests/ReportExamples", swiftSettings: settings),
        .testTarget(
            name: "SeggetReportsTests",
            dependencies: [
                "Assembler", "ReportExamples", "SeggetFormats", "SeggetReports", "Segmenter",
            ],
            swiftSettings: testSettings),
        .testTarget(
            name: "SeggetAria2Tests",
            dependencies: [
                "Assembler", "ReportExamples", "SeggetAria2", "SeggetFormats", "SeggetReports",
                "Segmenter", "TestSupport",
            ],
            swiftSettings: testSettings),
        .testTarget(
            name: "SeggetTests",
            dependencies: [
                "Assembler", "ReportExamples", "SeggetAria2", "SeggetCommand", "SeggetFormats",
                "SeggetReports",
                "Segmenter",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: testSettings),
        .testTarget(
            name: "SeggetManagerTests",
            dependencies: [
                "SeggetCommand", "SeggetFormats", "SeggetQueue", "SeggetReports", "Segmenter",
                "segget-manager",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: testSettings),
        .testTarget(
            name: "SeggetQueueTests",
            dependencies: [
                "Assembler", "SeggetQueue", "SeggetReports", "Segmenter", "TestSupport",
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            swiftSettings: testSettings),
        .testTarget(
            name: "SeggetServiceTests",
            dependencies: [
                "SeggetAria2", "SeggetFormats", "SeggetQueue", "SeggetService", "Segmenter",
                "TestSupport",
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ],
            swiftSettings: testSettings),
        // The code of the articles about the library, compiled as in a package of its own.
        .target(
            name: "LibraryExamples", dependencies: ["Segmenter", "SeggetQueue"],
            path: "Tests/LibraryExamples",
            packageAccess: false, swiftSettings: testSettings),
        .target(name: "CTestSupport", path: "Tests/CTestSupport"),
        .target(
            name: "TestSupport",
            dependencies: [
                "CTestSupport", .product(name: "Crypto", package: "swift-crypto"),
            ],
            path: "Tests/TestSupport",
            // Optimized: it makes and compares most of the bytes that the tests move.
            swiftSettings: settings + (instrument == nil ? [.unsafeFlags(["-O"])] : [])),
        .testTarget(
            name: "TestSupportTests",
            dependencies: ["TestSupport"],
            swiftSettings: testSettings),
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "Assembler", "CLinux", "LibraryExamples", "SeggetAria2", "SeggetQueue",
                "SeggetReports", "Segmenter", "TestSupport", "segget", "segget-manager",
            ],
            swiftSettings: testSettings),
    ].filter { instrument == nil || !uninstrumented.contains($0.name) }
)

if instrument == "fuzzer" {
    package.targets.append(
        .executableTarget(
            name: "segget-fuzz",
            dependencies: [
                "Assembler", "SeggetAria2", "SeggetFormats", "SeggetReports", "SeggetService",
                "Segmenter", "SegmenterRules", "SegmenterURLs",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOWebSocket", package: "swift-nio"),
            ],
            path: "Fuzz",
            exclude: ["corpus", "tokens.dict"],
            swiftSettings: settings))
}
if instrument != nil {
    // What starts the program as a process of its own needs no instruments: the program has them.
    package.targets.removeAll { ["EndToEndTests", "TestSupportTests"].contains($0.name) }
    // lld, because gold cannot link AddressSanitizer's library.
    for target in package.targets where [.executable, .test].contains(target.type) {
        // libFuzzer has a main function of its own.
        let linked = sanitizers.filter { target.name == "segget-fuzz" || $0 != "-sanitize=fuzzer" }
        target.linkerSettings = [.unsafeFlags(linked + ["-use-ld=lld"])]
    }
}

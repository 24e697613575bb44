import Testing

/// A published command line of a program that calls aria2c.
struct Aria2Caller: Sendable, CustomTestStringConvertible {
    /// The calling program's name.
    var name: String
    /// The command line, for a shell.
    var line: String
    /// The texts that the caller writes before, by file name.
    ///
    /// `$B` is the origin's URL; `$SHA1` and `$SHA512` are digests of `/a.bin`.
    var files: [String: String] = [:]
    /// Expected files, each with the origin path whose content it has.
    var wanted: [String: String]
    /// Files whose content is not compared.
    var own: Set<String> = []
    /// The expected exit code.
    var code: Int32 = 0

    var testDescription: String { name }
}

extension Aria2Caller {
    /// Returns the list that hfd.sh writes; versions differ in the folder of files at the root.
    private static func hub(_ root: String) -> String {
        [("", root, "config.json"), ("data/", "data", "train.bin")].map {
            "$B/org/name/resolve/main/\($0)\($2)\n dir=\($1)\n out=\($2)\n"
                + " header=Authorization: Bearer hf_abc\n"
        }.joined(separator: "\n") + "\n"
    }

    private static let hubFiles = [
        "config.json": "/org/name/resolve/main/config.json",
        "data/train.bin": "/org/name/resolve/main/data/train.bin",
    ]

    private static let ytdlp =
        "aria2c --no-conf --auto-save-interval=10 --console-log-level=warn --summary-interval=0"
        + " --download-result=hide --http-accept-gzip=true --file-allocation=none -x16 -j16 -s16"
        + " --min-split-size 1M --load-cookies=cookies.txt --header 'User-Agent: Mozilla/5.0'"
        + " --header 'Accept: text/html,*/*;q=0.8' --header 'Accept-Language: en-us,en;q=0.5'"
        + " --header 'Sec-Fetch-Mode: navigate' --check-certificate=true --remote-time=true"
        + " --show-console-readout=true --remove-control-file=false"

    private static let cookies =
        "# Netscape HTTP Cookie File\n#HttpOnly_127.0.0.1\tFALSE\t/\tFALSE\t0\tid\tabc\n"

    /// Callers that download media, models and mirrors of the Hugging Face Hub.
    static let media: [Self] = [
        Self(
            name: "yt-dlp",
            line: ytdlp + " --allow-overwrite=true --always-resume=false"
                + " --auto-file-renaming=false --force-save=false --dir ./videos/"
                + " --out ./NAME.mp4.part -- $B/v.mp4",
            files: ["cookies.txt": cookies], wanted: ["videos/NAME.mp4.part": "/v.mp4"]),
        Self(
            name: "yt-dlp with its limit and arguments of the user's",
            line: ytdlp + " --max-overall-download-limit 100M -x 16 -k 1M --allow-overwrite=true"
                + " --always-resume=false --auto-file-renaming=false --force-save=false"
                + " --out ./-NAME.mp4.part -- $B/v.mp4",
            files: ["cookies.txt": ""], wanted: ["-NAME.mp4.part": "/v.mp4"]),
        Self(
            name: "hfd.sh, old",
            line: "aria2c --header='Authorization: Bearer T' --console-log-level=error"
                + " --file-allocation=none -x 4 -s 4 -k 1M -c \"$B/m/model.bin\" -d sub -o out.bin",
            wanted: ["sub/out.bin": "/m/model.bin"]),
        Self(
            name: "hfd.sh, 2025",
            line: "aria2c --console-log-level=error --file-allocation=none -x 4 -j 5 -s 4 -k 1M -c"
                + " -i .hfd/aria2_urls.txt --save-session=.hfd/aria2_urls.txt",
            files: [".hfd/aria2_urls.txt": hub(".")],
            wanted: hubFiles.merging([".hfd/aria2_urls.txt": "0 bytes, 0"]) { $1 }),
        Self(
            name: "hfd.sh, 2026",
            line: "aria2c --quiet=true --log=.hfd/download.log --log-level=error"
                + " --file-allocation=none -x 4 -j 5 -s 4 -k 1M -c -i .hfd/aria2_urls.txt"
                + " --save-session=.hfd/aria2_urls.txt >/dev/null",
            files: [".hfd/aria2_urls.txt": hub("")],
            wanted: hubFiles.merging([".hfd/aria2_urls.txt": "0 bytes, 0"]) { $1 }),
        Self(
            name: "ComfyUI's images",
            line: "aria2c --input-file=list --allow-overwrite=false --auto-file-renaming=false"
                + " --continue=true --max-connection-per-server=5",
            files: [
                "list": "$B/a.safetensors\n  dir=models/checkpoints\n  out=a.safetensors\n"
                    + "$B/b.pt\n  dir=./models/vae\n  out=b.pt\n"
            ],
            wanted: [
                "models/checkpoints/a.safetensors": "/a.safetensors", "models/vae/b.pt": "/b.pt",
            ]),
    ]

    /// Callers that install systems and packages.
    static let systems: [Self] = [
        Self(
            name: "apt-fast",
            line: "aria2c --no-conf -c -j 5 -x 10 -s 8 -i apt-fast.list --min-split-size=1M"
                + " --stream-piece-selector=default --connect-timeout=600 --timeout=600 -m0"
                + " --header \"Accept: */*\"",
            files: [
                "apt-fast.list":
                    "# apt-fast mirror list: now\n$B/a.bin\t$B/a.bin?mirror=2\n\n"
                    + " checksum=sha-512=$SHA512\n out=a_1%3a2.deb\n$B/b.bin\n\n out=b.deb\n"
            ],
            wanted: ["a_1%3a2.deb": "/a.bin", "b.deb": "/b.bin"]),
        Self(
            name: "apt-fast asks for the algorithms",
            line: "LC_ALL=C aria2c -v | sed '/^Hash Algorithms:/!d' >has;"
                + " for i in sha-1 sha-256 sha-512 md5; do grep -q $i has || exit 1; done",
            wanted: [:], own: ["has"]),
        Self(
            name: "pacman",
            line: "aria2c --allow-overwrite=true --continue=true --file-allocation=none"
                + " --log-level=error --max-tries=2 --max-connection-per-server=2"
                + " --max-file-not-found=5 --min-split-size=5M --no-conf --remote-time=true"
                + " --summary-interval=60 --timeout=5 --dir=/ --out $PWD/a.pkg.part $B/a.pkg",
            wanted: ["a.pkg.part": "/a.pkg"]),
        Self(
            name: "pacman, not found",
            line: "aria2c --allow-overwrite=true --continue=true --file-allocation=none"
                + " --log-level=error --max-tries=2 --max-connection-per-server=2"
                + " --max-file-not-found=5 --min-split-size=5M --no-conf --remote-time=true"
                + " --summary-interval=60 --timeout=5 --dir=/ --out $PWD/a.sig $B/none.sig",
            wanted: [:], code: 3),
        Self(
            name: "makepkg", line: "aria2c -c -o a.tar.gz $B/a.tar.gz",
            wanted: ["a.tar.gz": "/a.tar.gz"]),
        Self(
            name: "Gentoo",
            line: "aria2c -d $PWD/distfiles -o a.tar.xz --allow-overwrite=true --max-tries=5"
                + " --max-file-not-found=2 --max-concurrent-downloads=5 --connect-timeout=5"
                + " --timeout=5 --split=5 --min-split-size=2M --lowest-speed-limit=20K"
                + " --max-connection-per-server=9 --uri-selector=feedback $B/a.tar.xz",
            wanted: ["distfiles/a.tar.xz": "/a.tar.xz"]),
        Self(
            name: "Gentoo, not found",
            line: "aria2c -d $PWD/distfiles -o a.tar.xz --allow-overwrite=true --max-tries=5"
                + " --max-file-not-found=2 --max-concurrent-downloads=5 --connect-timeout=5"
                + " --timeout=5 --split=128 --min-split-size=2M --lowest-speed-limit=20K"
                + " --max-connection-per-server=9 --uri-selector=feedback $B/none.tar.xz",
            wanted: [:], code: 4),
        Self(
            name: "OpenWrt",
            line: "mkdir -p tmp/aria2c; aria2c --stderr -c -x2 -s10 -j10 -k1M $B/a.tar.gz"
                + " $B/a.tar.gz?mirror=2 --server-stat-of=tmp/aria2c/a_spp --server-stat-if=tmp/aria2c/a_spp"
                + " --daemon=false --no-conf -d tmp/aria2c -o a_rnd; code=$?;"
                + " cat tmp/aria2c/a_rnd >a.tar.gz; rm -f tmp/aria2c/a_rnd tmp/aria2c/a_spp; exit $code",
            wanted: ["a.tar.gz": "/a.tar.gz"]),
        Self(
            name: "OpenWrt asks for the program",
            line: "aria2c --version | head -1 | grep -q '^aria2 '", wanted: [:]),
        Self(
            name: "pyenv",
            line: "aria2c --allow-overwrite=true --no-conf=true -o P-3.13.tar.gz $B/P.tar.gz >&2",
            wanted: ["P-3.13.tar.gz": "/P.tar.gz"]),
        Self(
            name: "pyenv asks for the file",
            line: "aria2c --dry-run --no-conf=true $B/P.tar.gz >/dev/null", wanted: [:]),
        Self(
            name: "pyenv asks for a file that is not there",
            line: "aria2c --dry-run --no-conf=true $B/none.tar.gz >/dev/null", wanted: [:],
            code: 3),
    ]

    /// Callers of science, clusters and CI.
    static let science: [Self] = [
        Self(
            name: "AlphaFold", line: "aria2c \"$B/a.tar\" --dir=\"$PWD/params\"",
            wanted: ["params/a.tar": "/a.tar"]),
        Self(
            name: "MMseqs2",
            line: "aria2c --max-connection-per-server=8 --allow-overwrite=true -o a.gz -d tmp"
                + " $B/a.gz && exit 0; exit 9",
            wanted: ["tmp/a.gz": "/a.gz"]),
        Self(
            name: "nf-core", line: "aria2c --check-certificate=false  $B/a.bin",
            wanted: ["a.bin": "/a.bin"]),
        Self(
            name: "nf-core asks for the version",
            line: "aria2c --version 2>&1 | grep 'aria2 version' | cut -f3 -d ' '"
                + " | grep -Eq '^1[.][0-9]+[.][0-9]+$'", wanted: [:]),
        Self(
            name: "SRA", line: "aria2c -x 16 -s 16 -k 1M -d sra -o SRR1.sra $B/SRR1",
            wanted: ["sra/SRR1.sra": "/SRR1"]),
        Self(
            name: "BSC", line: "aria2c -s14 -x14 -k100M $B/a.lz4 -o geth.lz4",
            wanted: ["geth.lz4": "/a.lz4"]),
        Self(
            name: "Polygon",
            line: "aria2c -x6 -s6 --max-tries=0 --save-session-interval=60 --save-session=fail.txt"
                + " -i list",
            files: ["list": "$B/a.bin\n\tchecksum=sha-1=$SHA1\n"],
            wanted: ["a.bin": "/a.bin", "fail.txt": "0 bytes, 0"]),
        Self(
            name: "Zenodo",
            line: "aria2c -q -x16 -s16 -k4M --file-allocation=none --max-tries=10 --retry-wait=3"
                + " -d D -o N $B/a.zip?download=1",
            wanted: ["D/N": "/a.zip"]),
        Self(
            name: "UUP dump",
            line: "aria2c --no-conf --log-level=info --log=F -x16 -s16 -j5 -c -R -m0"
                + " --async-dns=false --check-integrity=true --continue=true --allow-overwrite=true"
                + " --conditional-get=true -d\"UUPs\" -i\"list\"",
            files: ["list": "$B/a.bin\n  out=a.esd\n  checksum=sha-1=$SHA1\n\n"],
            wanted: ["UUPs/a.esd": "/a.bin"], own: ["F"]),
        Self(
            name: "Slurm",
            line: "SLURM_ARRAY_TASK_ID=3; aria2c --dir=D"
                + " --input-file=url_chunks_$(printf %02d $SLURM_ARRAY_TASK_ID)",
            files: ["url_chunks_03": "$B/a.bin\n$B/b.bin\n$B/c/c.bin\n"],
            wanted: ["D/a.bin": "/a.bin", "D/b.bin": "/b.bin", "D/c.bin": "/c/c.bin"]),
        Self(
            name: "a CI",
            line: "printf '%s\\n' \"$B/a.bin?X-Amz-Signature=s3cret\" | aria2c --quiet=true"
                + " --max-connection-per-server=8 --dir=D --out=N --input-file=-",
            wanted: ["D/a.bin": "/a.bin"]),
    ]
}

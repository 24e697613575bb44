/// The version of segget, which `User-Agent`, `--version` and `--json` name.
public let seggetVersion = "0.2.0"

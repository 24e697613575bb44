/// The version of segget, as used in `User-Agent`, `--version` and `--json`.
public let seggetVersion = "0.2.0"

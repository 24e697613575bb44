/// Compressed lists of files, as `gzip` writes them.
public enum GzipExamples {
    /// `http://a/f\n out=x\n`, as Python's gzip makes it.
    public static let one: [UInt8] = [
        31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 203, 40, 41, 41, 176, 210, 215, 79, 212, 79, 227, 82, 200,
        47, 45, 177, 173, 224, 2, 0, 254, 100, 57, 83, 18, 0, 0, 0,
    ]
    /// `http://a/g\n`.
    public static let two: [UInt8] = [
        31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 203, 40, 41, 41, 176, 210, 215, 79, 212, 79, 231, 2, 0,
        213,
        144, 183, 188, 11, 0, 0, 0,
    ]
}

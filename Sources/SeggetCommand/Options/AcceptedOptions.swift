import ArgumentParser

/// Options of curl and wget that segget accepts, because it behaves that way without them.
package struct AcceptedOptions: ParsableArguments {
    @Flag(
        name: [.customShort("L"), .long],
        help: "Accepted for compatibility: redirects are always followed.")
    var location = false

    @Flag(
        name: [.customShort("f"), .long],
        help: "Accepted for compatibility: an error page is never saved.")
    var fail = false

    @Flag(
        name: [.customShort("J"), .long],
        help: "Accepted for compatibility: the server's file name is the default.")
    private var remoteHeaderName = false

    package init() {}
}

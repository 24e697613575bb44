import ArgumentParser

/// What curl and wget users type, and what segget does anyway.
package struct AcceptedOptions: ParsableArguments {
    @Flag(name: [.customShort("L"), .long], help: "Redirects are followed anyway.")
    var location = false

    @Flag(name: [.customShort("f"), .long], help: "An error page is never saved.")
    var fail = false

    @Flag(
        name: [.customShort("J"), .long], help: "The server's suggestion is the default.")
    var remoteHeaderName = false

    package init() {}
}

package import SeggetFormats

extension Diagnostic {
    /// Returns a message about the values that an option takes.
    ///
    /// The message omits the rejected value, because it may be a secret.
    ///
    /// - Parameters:
    ///   - name: The option's name on the surface that shows the message; `nil` if the surface already
    ///     names it.
    ///   - kind: The values that the option takes.
    /// - Returns: The message.
    package static func describe(_ name: String?, takes kind: OptionKind) -> String {
        "\(name.map(quote) ?? "it") takes \(kind.expected)"
    }
}

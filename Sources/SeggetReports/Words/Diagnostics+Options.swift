package import SeggetFormats

extension Diagnostic {
    /// Returns a message about the values that an option takes.
    ///
    /// The message omits the rejected value, because it may be a secret.
    ///
    /// - Parameters:
    ///   - name: Its name on the surface that shows the message; `nil` where the surface names it anyway.
    ///   - kind: Which values it takes.
    /// - Returns: The message.
    package static func describe(_ name: String?, takes kind: OptionKind) -> String {
        "\(name.map(quote) ?? "it") takes \(kind.expected)"
    }
}

package import SeggetFormats

extension Diagnostic {
    /// What an option takes, for a value that it does not take; the value is not repeated, which may be a secret.
    ///
    /// - Parameters:
    ///   - option: The option.
    ///   - name: Its name on the surface that shows the message; `nil` where the surface names it anyway.
    package static func describe(_ option: TransferOption, as name: String? = nil) -> String {
        describe(name, takes: option.kind)
    }

    /// The same for the values that a name takes.
    package static func describe(_ name: String?, takes kind: OptionKind) -> String {
        "\(name.map(quote) ?? "it") takes \(kind.expected)"
    }
}

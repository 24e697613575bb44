package import ArgumentParser
package import SeggetFormats
import SeggetReports
import Segmenter

extension ArgumentHelp {
    /// Returns the help of an option of the catalogue.
    ///
    /// - Parameters:
    ///   - name: The option's long name, without dashes.
    ///   - discussion: The text after the catalogue's sentence.
    ///   - valueName: The placeholder of the value.
    /// - Returns: The help for the parser.
    package static func row(
        _ name: String, discussion: String = "", valueName: String? = nil
    ) -> ArgumentHelp {
        guard let (option, found) = TransferOption.typed(name) else {
            preconditionFailure("no option of the catalogue has the name \(name)")
        }
        return ArgumentHelp(
            found.help ?? option.help, discussion: discussion, valueName: valueName)
    }
}

extension TransferOption {
    /// Refuses a value that an option does not accept.
    ///
    /// - Parameters:
    ///   - name: The option's long name, without dashes.
    ///   - value: The value; `nil` if the option is not given.
    /// - Throws: `ValidationError`.
    package static func check(_ name: String, _ value: (some CustomStringConvertible)?) throws {
        guard let value, let (option, found) = typed(name) else { return }
        var scratch = DownloadOptions()
        guard found.read(option, &scratch, value.description) else {
            throw ValidationError(
                Diagnostic.describe("--\(name)", takes: found.kind(of: option)))
        }
    }
}

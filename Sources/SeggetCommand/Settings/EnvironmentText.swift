import Glibc
import SeggetReports

/// Environment variables as text.
package enum EnvironmentText {
    /// Returns the value of a variable; `nil` if it is not set, or not UTF-8.
    ///
    /// Swift would replace bytes that are not UTF-8, and so change the name of a file.
    package static func value(_ name: String) -> String? {
        getenv(name).flatMap { String(validatingCString: $0) }
    }

    /// Whether a variable is set to something that is not UTF-8.
    package static func isUnreadable(_ name: String) -> Bool {
        getenv(name).map { String(validatingCString: $0) == nil } ?? false
    }

    /// The name of the first variable that sets an option of segget and is not UTF-8.
    static var firstUnreadableOption: String? {
        var next = environ
        while let variable = next.pointee {
            if strncmp(variable, "SEGGET_", 7) == 0, String(validatingCString: variable) == nil {
                let length = strcspn(variable, "=")
                return String(
                    decoding: UnsafeRawBufferPointer(start: variable, count: length), as: UTF8.self)
            }
            next += 1
        }
        return nil
    }
}

/// Options of aria2's with their values, as they were given.
///
/// All values are ones that the option takes.
package struct Aria2Options: Sendable, Hashable {
    /// The values of each option that was given, by its long name; more than one only where the option
    /// adds up (`header`).
    private(set) package var values: [String: [String]] = [:]

    /// Makes no options.
    package init() {}
}

package import Segmenter

extension ServerMemory {
    /// The remembered facts about servers in the current user's home; `nil` without a home.
    package static var own: ServerMemory? {
        ServerMemory(variable: EnvironmentText.value)
    }
}

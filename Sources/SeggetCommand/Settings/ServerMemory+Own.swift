package import Segmenter

extension ServerMemory {
    /// The user's.
    package static var own: ServerMemory? {
        ServerMemory(variable: EnvironmentText.value)
    }
}

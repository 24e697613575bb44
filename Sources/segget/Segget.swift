import ArgumentParser
import Segmenter
@main struct Segget: AsyncParsableCommand { mutating func run() async throws { x() } }

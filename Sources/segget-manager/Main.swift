import SeggetCommand

/// The program `segget-manager`, which `segget` becomes for the commands about the queue.
@main enum Main {
    static func main() { Program(Manager.self).run() }
}

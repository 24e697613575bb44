/// A request method (RFC 9110 §9.3).
enum RequestMethod: Sendable { case head, get }

/// How a server is asked (RFC 9110 §9.3).
enum RequestMethod: Sendable { case head, get }

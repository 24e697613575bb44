/// A request method (RFC 9110 §9.3).
package enum RequestMethod: Sendable { case head, get }

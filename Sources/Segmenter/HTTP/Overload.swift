/// Whether a status says that the server has too much to do at present (429, RFC 6585, section 4; 503, RFC
/// 9110, section 15.6.4).
func isOverload(_ status: Int) -> Bool { [429, 503].contains(status) }

/// Whether a status may say so: some servers refuse with 403 who asks for too much at a time, and it means
/// as well that the file is forbidden.
func mayBeOverload(_ status: Int) -> Bool { status == 403 || isOverload(status) }

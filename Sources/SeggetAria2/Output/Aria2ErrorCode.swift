/// The exit codes of aria2c, which it also prints as error codes (aria2c(1), `EXIT STATUS`).
package enum Aria2ErrorCode: Int32, CaseIterable, Sendable {
    case finished = 0
    case unknown = 1
    case timeOut = 2
    case resourceNotFound = 3
    case maxFileNotFound = 4
    case tooSlow = 5
    case networkProblem = 6
    case inProgress = 7
    case cannotResume = 8
    case notEnoughSpace = 9
    case pieceLengthChanged = 10
    case duplicateDownload = 11
    case duplicateInfoHash = 12
    case fileAlreadyExists = 13
    case renamingFailed = 14
    case fileOpen = 15
    case fileCreate = 16
    case fileIO = 17
    case directoryCreate = 18
    case nameResolution = 19
    case metalinkParse = 20
    case ftpProtocol = 21
    case httpProtocol = 22
    case tooManyRedirects = 23
    case authorizationFailed = 24
    case bencodeParse = 25
    case torrentParse = 26
    case magnetParse = 27
    case option = 28
    case serviceUnavailable = 29
    case jsonParse = 30
    case removed = 31
    case checksum = 32
}

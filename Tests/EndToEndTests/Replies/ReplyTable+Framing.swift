import Foundation

// Rows about the end of a body.
extension ReplyTable {
    private static let body = ReplyRow.body
    private static let length = ReplyRow.length

    private static let both = ReplyRow.Outcome.refusal("two lengths that differ: one is a lie")

    @RowList static var lengths: [ReplyRow] {
        ReplyRow.framing(length)
        ReplyRow.framing("content-length: 44")
        ReplyRow.framing("CONTENT-LENGTH:44")
        ReplyRow.framing("Content-Length:    44   ")
        ReplyRow.framing("Content-Length: 0000000044")
        ReplyRow.framing("Content-Length:\t44")
        ReplyRow.framing("Content-Length: 44", "Content-Length: 44")
        ReplyRow.framing("Content-Length: 44, 44")
        ReplyRow.framing("Content-Length: 44", "Content-Length: 43", is: both)
        ReplyRow.framing("Content-Length: 7", "Content-Length: 44", is: both)
        ReplyRow.framing("Content-Length: 44, 43", is: both)
        ReplyRow.framing("Content-Length: 44;x", is: .refusal("not a number"))
        ReplyRow.framing("Content-Length: 44 bytes", is: .refusal("not a number"))
        ReplyRow.framing("Content-Length: 44.0", is: .refusal("not a number"))
        ReplyRow.framing("Content-Length: 0x2C", is: .refusal("not a number"))
        ReplyRow.framing("Content-Length: +44", is: .refusal("not a number"))
        ReplyRow.framing("Content-Length: -44", is: .failure)
        ReplyRow.framing("Content-Length: -1", is: .failure)
        ReplyRow.framing("Content-Length:", is: .failure)
        ReplyRow.framing("Content-Length: many", is: .failure)
        ReplyRow.framing("Content-Length: \"44\"", is: .failure)
        ReplyRow.framing("Content-Length: 43")
        ReplyRow.framing("Content-Length: 1")
        ReplyRow.framing("Content-Length: 1", body: "x")
        ReplyRow.framing("Content-Length: 0", body: "")
        ReplyRow.framing("Content-Length: 0")
        ReplyRow.framing("Content-Length: 45", is: .failure)
        ReplyRow.framing("Content-Length: 4294967340", is: .failure)
        ReplyRow.framing("Content-Length: 1152921504606846977", is: .failure)
        ReplyRow.framing("Content-Length: 9223372036854775807", is: .failure)
        ReplyRow.framing(
            "Content-Length: 9223372036854775808",
            is: .refusal("no file is so long; curl reads until the connection closes"))
        ReplyRow.framing(
            "Content-Length: 18446744073709551660",
            is: .refusal("no file is so long; curl reads until the connection closes"))
        ReplyRow.framing(
            "Content-Length: " + String(repeating: "9", count: 40),
            is: .refusal("no file is so long; curl reads until the connection closes"))
        ReplyRow.framing("Content-Length: 44", body: body + "and more than was announced")
        ReplyRow.framing("Connection: close")
        ReplyRow.framing("Connection: keep-alive")
        ReplyRow.framing("Connection: close", body: "")
        ReplyRow.framing("Connection: close", "Accept-Ranges: bytes")
        ReplyRow.framing("Connection: Close, X", "X: y")
        ReplyRow.framing("Content-Length: 44", "Connection: close, keep-alive")
        ReplyRow.framing("Content-Length: 44", "Keep-Alive: timeout=0, max=0")
        ReplyRow.framing("Content-Length: 44", "Proxy-Connection: close")
        ReplyRow.framing("Transfer-Encoding: identity")
        ReplyRow.framing("Transfer-Encoding: identity", "Content-Length: 44")
        ReplyRow.framing("Transfer-Encoding:", "Content-Length: 44")
        ReplyRow.framing("Transfer-Encoding: unheard-of", is: .failure)
    }

    private static let hex = String(body.utf8.count, radix: 16)
    private static let end = "0\r\n\r\n"
    private static let whole = "\(hex)\r\n\(body)\r\n"

    @RowList static var chunks: [ReplyRow] {
        ReplyRow.chunked("one", whole + end)
        ReplyRow.chunked("of one byte each", body.map { "1\r\n\($0)\r\n" }.joined() + end)
        ReplyRow.chunked("none", end)
        ReplyRow.chunked("size in capitals", "2C\r\n\(body)\r\n" + end)
        ReplyRow.chunked("size with leading zeros", "0000002c\r\n\(body)\r\n" + end)
        ReplyRow.chunked("last size of many zeros", whole + "00000\r\n\r\n")
        ReplyRow.chunked("extension", "\(hex);name=value\r\n\(body)\r\n" + end)
        ReplyRow.chunked("extension in quotes", "\(hex);n=\"a;b\"\r\n\(body)\r\n" + end)
        ReplyRow.chunked("extension at the last", whole + "0;last\r\n\r\n")
        ReplyRow.chunked(
            "long extension", "\(hex);\(String(repeating: "x", count: 9000))\r\n\(body)\r\n" + end)
        ReplyRow.chunked("space behind the size", "\(hex) \r\n\(body)\r\n" + end)
        ReplyRow.chunked("space before the size", " \(hex)\r\n\(body)\r\n" + end, is: .failure)
        ReplyRow.chunked("LF alone", "\(hex)\n\(body)\n0\n\n")
        ReplyRow.chunked("size with 0x", "0x\(hex)\r\n\(body)\r\n" + end, is: .failure)
        ReplyRow.chunked("no size", "\r\n\(body)\r\n" + end, is: .failure)
        ReplyRow.chunked("size is no number", "many\r\n\(body)\r\n" + end, is: .failure)
        ReplyRow.chunked("negative size", "-2c\r\n\(body)\r\n" + end, is: .failure)
        ReplyRow.chunked(
            "size too large by far", "FFFFFFFFFFFFFFFFF\r\n\(body)\r\n" + end, is: .failure)
        ReplyRow.chunked("size of 64 bits", "FFFFFFFFFFFFFFFF\r\n\(body)\r\n" + end, is: .failure)
        ReplyRow.chunked("size of 63 bits", "7FFFFFFFFFFFFFFF\r\n\(body)\r\n" + end, is: .failure)
        ReplyRow.chunked("size too small", "10\r\n\(body)\r\n" + end, is: .failure)
        ReplyRow.chunked("size too large", "30\r\n\(body)\r\n" + end, is: .failure)
        ReplyRow.chunked("no line end behind the data", "\(hex)\r\n\(body)" + end, is: .failure)
        ReplyRow.chunked("cut in a size", whole + "1", is: .failure)
        ReplyRow.chunked("cut in the data", "\(hex)\r\n\(body.prefix(20))", is: .failure)
        ReplyRow.chunked("cut behind the data", "\(hex)\r\n\(body)", is: .failure)
        ReplyRow.chunked("cut before the last", whole, is: .failure)
        ReplyRow.chunked("cut in the last", whole + "0\r\n", is: .failure)
        ReplyRow.chunked("cut before any", "", is: .failure)
        ReplyRow.chunked("not chunked at all", body, is: .failure)
        ReplyRow.chunked("data behind the end", whole + end + "and more")
        ReplyRow.chunked("trailer", whole + "0\r\nX-Checksum: abc\r\n\r\n")
        ReplyRow.chunked("trailers", whole + "0\r\nA: 1\r\nB: 2\r\nC:\r\n\r\n")
        ReplyRow.chunked(
            "trailer with another ETag", whole + "0\r\nETag: \"z\"\r\n\r\n", fields: ["ETag: \"a\""]
        )
        ReplyRow.chunked("trailer with a length", whole + "0\r\nContent-Length: 3\r\n\r\n")
        ReplyRow.chunked("trailer with a coding", whole + "0\r\nContent-Encoding: gzip\r\n\r\n")
        ReplyRow.chunked("trailer with a range", whole + "0\r\nContent-Range: bytes 1-2/3\r\n\r\n")
        ReplyRow.chunked(
            "trailer like a status line", whole + "0\r\nHTTP/1.1 404 Not Found\r\n\r\n",
            is: .failure)
        ReplyRow.chunked(
            "trailer that is announced", whole + "0\r\nX-Sum: a\r\n\r\n", fields: ["Trailer: X-Sum"]
        )
        ReplyRow.chunked("trailer cut off", whole + "0\r\nX-Checksum: ab", is: .failure)
        ReplyRow.chunked(
            "trailer that is too long",
            whole + "0\r\nX: \(String(repeating: "x", count: 200_000))\r\n\r\n",
            is: .failure)
        ReplyRow.chunked(
            "trailers without end",
            whole + "0\r\n" + String(repeating: "X: y\r\n", count: 60_000) + "\r\n",
            is: .refusal("a flood: libcurl keeps all of it in memory"))
        ReplyRow.chunked("with the right length", whole + end, fields: [length])
        ReplyRow.chunked("with a shorter length", whole + end, fields: ["Content-Length: 7"])
        ReplyRow.chunked("with a longer length", whole + end, fields: ["Content-Length: 77"])
        ReplyRow.chunked("in HTTP/1.0's manner", whole + end, fields: ["Connection: close"])
        ReplyRow.framing("Transfer-Encoding: Chunked", body: whole + end)
        ReplyRow.framing("transfer-encoding:chunked", body: whole + end)
        ReplyRow.framing("Transfer-Encoding: identity, chunked", body: whole + end)
        ReplyRow.framing(
            "Transfer-Encoding: chunked", "Transfer-Encoding: chunked", body: whole + end)
        ReplyRow.framing("Transfer-Encoding: xchunked", body: whole + end, is: .failure)
        ReplyRow(
            "chunks: to HTTP/1.0",
            ReplyRow.head("HTTP/1.0 200 OK", ["Transfer-Encoding: chunked"]) + whole + end)
    }

    private static let coded = ReplyRow.Outcome.refusal(
        "a coding that nobody has asked for, or that the body is not in")

    @RowList static var codings: [ReplyRow] {
        ReplyRow.field("Content-Encoding: identity")
        ReplyRow.field("Content-Encoding: IDENTITY")
        ReplyRow.field("Content-Encoding:")
        ReplyRow.field("Content-Encoding: gzip", is: coded)
        ReplyRow.field("Content-Encoding: x-gzip", is: coded)
        ReplyRow.field("Content-Encoding: br", is: coded)
        ReplyRow.field("Content-Encoding: unheard-of", is: coded)
        ReplyRow.field("Content-Encoding: none")
        ReplyRow.field("Content-Encoding: utf-8")
        ReplyRow.field("Content-Encoding: binary, identity")
        ReplyRow.field("Content-Encoding: bzip2", is: coded)
        ReplyRow.field("Content-Encoding: gzip", "Content-Type: application/gzip")
        ReplyRow.field("Content-Encoding: x-gzip", "Content-Type: application/x-gzip")
        ReplyRow.field("Content-Encoding: gzip", "Content-Type: application/x-bzip2", is: coded)
        ReplyRow.field("Content-Encoding: identity, gzip", is: coded)
        ReplyRow.field("Content-Encoding: identity", "Content-Encoding: gzip", is: coded)
        ReplyRow.field("Vary: Accept-Encoding")
    }

    /// Replies that are cut off because the server closes the connection.
    static let cuts: [ReplyRow] =
        [1, 4, 8, 12, 15, 16, 17, 20, 33, 36, 37, 43, 44, 45, 46, 60, 88].map { count in
            let reply = ReplyRow.head("HTTP/1.1 200 OK", [length, "X: y"]) + body
            // If the cut header section has no length, curl takes it for that of an empty file.
            let isTaken = (17..<37).contains(count)
            return ReplyRow(
                "cut after \(count) of \(reply.utf8.count) bytes",
                isTaken ? .refusal("the head is cut off") : .failure,
                String(decoding: Array(reply.utf8.prefix(count)), as: UTF8.self))
        }
}

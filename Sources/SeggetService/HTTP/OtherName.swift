import Foundation
import NIOHTTP1

// The response to requests with a host name that is not the service's.
extension Refusal {
    /// The service does not accept the name in `Host`.
    static let otherName = Refusal("the service does not accept this host name", status: 403)
}

extension HTTPRequestHead {
    /// Whether a browser sent the request to show a page.
    var isNavigation: Bool {
        method == .GET
            && headers[canonicalForm: "accept"].contains {
                $0.prefix { $0 != ";" }.lowercased() == "text/html"
            }
    }
}

extension APIReply {
    /// ``Refusal/otherName`` as a page for people.
    ///
    /// The page is constant: it repeats nothing of the request, and names no host, path or task.
    static let otherName: APIReply = {
        var reply = APIReply(Data(text.utf8), type: "text/html; charset=utf-8")
        reply.status = Refusal.otherName.status
        reply.fields = [
            ("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"),
            ("Referrer-Policy", "no-referrer"),
        ]
        return reply
    }()

    private static let text = """
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <title>Name not allowed</title>
        </head>
        <body>
        <h1>This service does not accept this host name</h1>
        <p>Open it by its IP address instead. To allow the name, start the service
        with the option <code>--allow-host</code> and the name.</p>
        <div lang="de">
        <h1>Dieser Dienst akzeptiert diesen Hostnamen nicht</h1>
        <p>Öffnen Sie ihn stattdessen über seine IP-Adresse. Um den Namen zu erlauben,
        starten Sie den Dienst mit der Option <code>--allow-host</code> und dem Namen.</p>
        </div>
        </body>
        </html>

        """
}

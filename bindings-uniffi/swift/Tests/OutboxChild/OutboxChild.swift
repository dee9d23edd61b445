import Foundation
import Railgate
import Support

@main
struct OutboxChild {
    /// Adds settlements to an outbox and sends them until it is killed: `OutboxChild FOLDER KILL_AT before|after`.
    static func main() async throws {
        let arguments = CommandLine.arguments
        let folder = URL(fileURLWithPath: arguments[1], isDirectory: true)
        let signer = try SoftwareSigner(secret: Data(contentsOf: folder.appendingPathComponent("key")))
        let session = try String(contentsOf: folder.appendingPathComponent("session"), encoding: .utf8)
        let client = try over(Killer(at: Int(arguments[2])!, after: arguments[3] == "after"), signer: signer, session: session)
        let outbox = try await openOutbox(path: folder.appendingPathComponent("outbox.db").path, client: client)
        for n in 0..<childEntries {
            _ = try await outbox.put(request: request("7", reference: "pay-\(n)"))
        }
        var entries: [OutboxEntry]
        repeat {
            try await outbox.flush()
            entries = try await outbox.entries()
        } while !entries.allSatisfy { $0.state == .delivered }
        print(entries.compactMap(\.settlement?.id).sorted().joined(separator: " "))
    }
}

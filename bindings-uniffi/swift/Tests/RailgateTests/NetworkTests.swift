import Foundation
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif
import Railgate
import Support
import XCTest

/// With a network that lies, is unavailable or kills the process, nothing is lost and nothing is paid twice.
final class NetworkTests: XCTestCase {
    func testACreateOverALiarIsRightOrInDoubt() async throws {
        for seed in UInt64(0)..<4 {
            let signer = try SoftwareSigner()
            let honest = try await connect(signer: signer)
            let liar = Liar(seed: seed)
            let client = try over(liar, signer: signer, session: honest.session())
            var known: [String: String] = [:]
            for n in 0..<12 {
                let wanted = request("\(n + 1)", reference: "lie-\(n)")
                do {
                    let made = try await client.create(request: wanted)
                    XCTAssertEqual(made.reference, wanted.reference)
                    XCTAssertEqual(made.amount, wanted.amount)
                    known[wanted.reference] = made.id
                } catch GatewayError.unanswered {
                    // Unknown; a repetition over a better network finds out.
                    known[wanted.reference] = try await honest.create(request: wanted).id
                }
            }
            let there = try await all(of: honest)
            XCTAssertEqual(there.mapValues(\.id), known)
            XCTAssertEqual(known.count, 12)
            XCTAssertGreaterThan(liar.ways, 4)
        }
    }

    func testAnOutboxOverALiarDeliversEachOnce() async throws {
        for seed in UInt64(0)..<3 {
            let signer = try SoftwareSigner()
            let honest = try await connect(signer: signer)
            let client = try over(Liar(seed: 100 + seed), signer: signer, session: honest.session())
            let outbox = try await openOutbox(path: folder(self).appendingPathComponent("outbox.db").path, client: client)
            for n in 0..<8 {
                _ = try await outbox.put(request: request("\(n + 1)", reference: "out-\(n)"))
            }
            var entries: [OutboxEntry]
            repeat {
                try await outbox.flush()
                entries = try await outbox.entries()
                // Nothing was refused; a loop that waited for a refused one would never end.
                guard !entries.contains(where: { $0.state == .refused }) else { return XCTFail("\(entries)") }
            } while !entries.allSatisfy { $0.state == .delivered }
            let there = try await all(of: honest)
            let sent = Dictionary(uniqueKeysWithValues: entries.map { ($0.reference, $0.settlement!.id) })
            XCTAssertEqual(sent, there.mapValues(\.id))
            XCTAssertEqual(there.values.map(\.amount).sorted(), (1...8).map { Decimal($0) })
        }
    }

    func testWhatIsCreatedWithoutNetworkIsSentOnceWhenItReturns() async throws {
        let signer = try SoftwareSigner()
        let honest = try await connect(signer: signer)
        let network = Offline()
        let client = try over(network, signer: signer, session: honest.session())
        let outbox = try await openOutbox(path: folder(self).appendingPathComponent("outbox.db").path, client: client)
        let wanted = request(reference: "shop-1")
        let put = try await outbox.put(request: wanted)
        XCTAssertEqual(put.state, .queued)
        let again = try await outbox.put(request: wanted)
        XCTAssertEqual(again, put)
        try await throwing(GatewayError.self) { _ = try await outbox.put(request: request("11", reference: "shop-1")) } check: {
            XCTAssertEqual($0.code, "reference_conflict")
        }
        let (seen, first) = (Shared<[OutboxState]>([]), Signal())
        let watching = Task {
            for try await entry in outbox.changes() where entry.reference == "shop-1" {
                seen.with { $0.append(entry.state) }
                first.send()
                if entry.settlement?.status == .completed { return }
            }
        }
        try await first.wait()
        try await outbox.flush()
        let waiting = try await outbox.entry(reference: "shop-1")
        XCTAssertEqual(waiting?.state, .queued)
        // More than one if the disk is so slow that the next attempt is due before this one is stored.
        XCTAssertGreaterThanOrEqual(waiting?.tries ?? 0, 1)
        XCTAssertEqual(waiting?.problem?.contains("not_connected"), true)
        _ = try await outbox.put(request: request(reference: "shop-2"))
        let withdrawn = try await outbox.withdraw(reference: "shop-2")
        XCTAssertEqual(withdrawn.state, .withdrawn)

        network.connected()
        let running = Task { try await outbox.run() }
        try await outbox.wake()
        try await watching.value
        running.cancel()
        try await throwing(CancellationError.self) { try await running.value }
        let there = try await all(of: honest)
        XCTAssertEqual(Array(there.keys), ["shop-1"])
        XCTAssertEqual(seen.with { $0.first }, .queued)
        XCTAssertEqual(seen.with { $0.last }, .delivered)
        try await throwing(GatewayError.self) { _ = try await outbox.withdraw(reference: "shop-1") } check: {
            XCTAssertEqual($0.code, "invalid_state")
        }
        try await outbox.remove(reference: "shop-1")
        let left = try await outbox.entries()
        XCTAssertEqual(left.map(\.reference), ["shop-2"])
        let pruned = try await outbox.prune(before: Date().addingTimeInterval(3600))
        XCTAssertEqual(pruned, 1)
    }

    func testARefusalIsToldAndNothingIsPaid() async throws {
        let client = try await connect()
        let outbox = try await openOutbox(path: folder(self).appendingPathComponent("outbox.db").path, client: client)
        _ = try await outbox.put(request: request("99999999999", reference: "too-much"))
        try await outbox.flush()
        let refused = try await outbox.entry(reference: "too-much")
        XCTAssertEqual(refused?.state, .refused)
        XCTAssertNil(refused?.nextAt)
        XCTAssertNil(refused?.settlement)
        XCTAssertEqual(refused?.problem?.contains(#""code":""#), true)
        let there = try await all(of: client)
        XCTAssertEqual(there, [:])
    }

    func testAnOutboxIsOpenedOnceAndByItsOwnerAlone() async throws {
        let folder = try folder(self)
        let path = folder.appendingPathComponent("outbox.db").path
        let client = try await connect()
        func refused(_ path: String, _ client: GatewayClient, _ code: String) async throws {
            try await throwing(GatewayError.self) { _ = try await openOutbox(path: path, client: client) } check: { error in
                guard case .storage = error else { return XCTFail("\(error)") }
                XCTAssertEqual(error.code, code)
            }
        }
        var outbox: Outbox? = try await openOutbox(path: path, client: client)
        try await refused(path, client, "storage_in_use")
        _ = try await outbox?.entries()
        outbox = nil
        try await refused(path, connect(), "storage_owner")
        let other = folder.appendingPathComponent("other")
        try Data(String(repeating: "no database at all, but long enough", count: 50).utf8).write(to: other)
        try await refused(other.path, client, "storage_corrupt")
    }

    /// Runs the child until it ends in any way.
    private func child(_ folder: URL, _ at: Int, _ when: String) async throws -> (reason: Process.TerminationReason, printed: String) {
        let process = Process()
        process.executableURL = Bundle.main.bundleURL.appendingPathComponent("OutboxChild")
        process.arguments = [folder.path, String(at), when]
        let output = Pipe()
        process.standardOutput = output
        return try await withCheckedThrowingContinuation { continuation in
            process.terminationHandler = { ended in
                let printed = output.fileHandleForReading.readDataToEndOfFile()
                continuation.resume(returning: (ended.terminationReason, String(decoding: printed, as: UTF8.self)))
            }
            do { try process.run() } catch { continuation.resume(throwing: error) }
        }
    }

    func testAProcessThatIsKilledInMidOutboxLosesAndRepeatsNothing() async throws {
        for (at, when) in [(1, "before"), (1, "after"), (3, "before"), (3, "after")] {
            let folder = try folder(self)
            let signer = try SoftwareSigner()
            let client = try await connect(signer: signer)
            try signer.secret().write(to: folder.appendingPathComponent("key"))
            try Data(client.session().utf8).write(to: folder.appendingPathComponent("session"))
            for _ in 0..<2 {
                let killed = try await child(folder, at, when)
                XCTAssertEqual(killed.reason, .uncaughtSignal)
                XCTAssertEqual(killed.printed, "")
            }
            let ended = try await child(folder, 1000, when)
            XCTAssertEqual(ended.reason, .exit)
            let there = try await all(of: client)
            XCTAssertEqual(there.keys.sorted(), (0..<childEntries).map { "pay-\($0)" })
            XCTAssertEqual(ended.printed.split(whereSeparator: \.isWhitespace).map(String.init), there.values.map(\.id).sorted())
        }
    }
}

/// The package's transport over a misbehaving server.
final class TransportTests: XCTestCase {
    private func send(_ path: String, base: String = environment("RAILGATE_ODD_URL"), timeoutMs: UInt64 = 60_000) async throws -> HttpResponse {
        let headers = [HttpHeader(name: "content-type", value: "application/json")]
        let request = HttpRequest(method: "POST", url: base + path, headers: headers, body: Data("{}".utf8), timeoutMs: timeoutMs)
        return try await URLSessionTransport().send(request: request)
    }

    private func fails(_ certain: Bool, _ work: () async throws -> HttpResponse) async throws {
        try await throwing(TransportError.self) { _ = try await work() } check: { error in
            switch error {
            case .notSent: XCTAssertTrue(certain, "\(error)")
            case .noAnswer: XCTAssertFalse(certain, "\(error)")
            }
        }
    }

    func testARedirectIsAnAnswerAndIsNotFollowed() async throws {
        let answer = try await send("/redirect")
        XCTAssertEqual(answer.status, 302)
        XCTAssertEqual(answer.headers.first { $0.name.lowercased() == "x-seen" }?.value, "as it is")
    }

    func testABodyThatEndsTooEarlyIsNoAnswer() async throws {
        try await fails(false) { try await send("/cut") }
        try await fails(false) { try await send("/closed") }
    }

    func testAnAnswerThatTricklesIsWaitedForOnlySoLong() async throws {
        try await fails(false) { try await send("/trickle", timeoutMs: 1_500) }
    }

    func testWhereNobodyListensNothingIsSent() async throws {
        try await fails(true) { try await send("/", base: environment("RAILGATE_DEAD_URL")) }
        try await fails(true) { try await send("/", base: "http://no such address") }
    }

    private static let before: [URLError.Code] = [
        .notConnectedToInternet, .dataNotAllowed, .internationalRoamingOff, .cannotFindHost, .cannotConnectToHost,
        .secureConnectionFailed, .serverCertificateUntrusted, .clientCertificateRequired,
    ]
    private static let whenever: [URLError.Code] = [.timedOut, .networkConnectionLost, .cancelled, .badServerResponse]

    /// Fails each request with the error whose number is in its path, and sends nothing.
    private final class Failing: URLProtocol {
        override class func canInit(with request: URLRequest) -> Bool { true }
        override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }
        override func startLoading() {
            let codes = TransportTests.before + TransportTests.whenever
            client?.urlProtocol(self, didFailWithError: URLError(codes.first { "\($0.rawValue)" == request.url!.lastPathComponent }!))
        }
        override func stopLoading() {}
    }

    func testWhatFailsBeforeAnythingIsSentIsNotSent() async throws {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [Failing.self]
        let transport = URLSessionTransport(configuration: configuration)
        for (codes, certain) in [(Self.before, true), (Self.whenever, false)] {
            for code in codes {
                let request = HttpRequest(
                    method: "POST", url: "http://failing.example/\(code.rawValue)", headers: [], body: Data("{}".utf8), timeoutMs: 60_000)
                try await fails(certain) { try await transport.send(request: request) }
            }
        }
    }

    func testAnAnswerWithoutEndIsNone() async throws {
        try await fails(false) { try await send("/endless") }
    }

    func testACallOfATaskThatIsCancelledAlreadyComesBack() async throws {
        for _ in 0..<200 {
            let sending = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return try await send("/redirect")
            }
            _ = await sending.result
        }
    }

    func testACancelledPauseEndsAtOnce() async throws {
        let pausing = Task { try await URLSessionTransport().pause(ms: .max) }
        pausing.cancel()
        try await throwing(CancellationError.self) { try await pausing.value }
    }
}

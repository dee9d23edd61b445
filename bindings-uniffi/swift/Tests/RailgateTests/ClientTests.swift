import Foundation
import Railgate
import Support
import XCTest

/// The client against a real gateway.
final class ClientTests: XCTestCase {
    private func settled(_ client: GatewayClient, _ reference: String) async throws -> [Status] {
        var seen: [Status] = []
        for try await status in client.statuses(of: reference) {
            seen.append(status)
        }
        return seen
    }

    func testEnrolSettleFollowAndVerifyTheReceipt() async throws {
        let client = try await connect()
        func available() async throws -> Decimal {
            try await client.balances().first { $0.currency == "EUR" }!.available
        }
        let before = try await available()
        let made = try await client.create(request: request("10.5", description: "November", metadata: ["order": "42"]))
        XCTAssertEqual(made.amount, Decimal(string: "10.50"))
        XCTAssertEqual(made.metadata, ["order": "42"])
        XCTAssertEqual(made.description, "November")
        XCTAssertLessThan(abs(made.createdAt.timeIntervalSinceNow), 3600)
        let seen = try await settled(client, made.reference)
        XCTAssertEqual(seen.last?.status, .completed)
        XCTAssertEqual(seen.last?.isFinal, true)
        XCTAssertTrue(zip(seen, seen.dropFirst()).allSatisfy { $0.version < $1.version })

        let events = try await client.events(reference: made.reference)
        XCTAssertEqual(events.map(\.sequence), Array(1...UInt32(events.count)))
        XCTAssertTrue(zip(events, events.dropFirst()).allSatisfy { $0.hash == $1.prev })

        let receipt = try await client.receipt(reference: made.reference)
        let keys = try await client.receiptKeys()
        let claims = try verifyReceipt(jws: receipt.jws, jwks: keys)
        XCTAssertEqual(claims.reference, made.reference)
        XCTAssertEqual(claims.amount, Decimal(string: "10.50"))
        XCTAssertEqual(claims.trace.head, events.last?.hash)
        XCTAssertEqual(claims.settledAt, receipt.settledAt)
        var parts = receipt.jws.split(separator: ".").map(String.init)
        parts[1] = String(parts[1].dropLast(2)) + "AA"
        XCTAssertThrowsError(try verifyReceipt(jws: parts.joined(separator: "."), jwks: keys)) { error in
            guard case GatewayError.notGenuine = error else { return XCTFail("\(error)") }
        }
        let after = try await available()
        XCTAssertEqual(before - after, made.totalDebit)
    }

    func testACreateSentAgainIsTheSameSettlement() async throws {
        let client = try await connect()
        let wanted = request()
        let (made, again) = (try await client.create(request: wanted), try await client.create(request: wanted))
        XCTAssertEqual(made.id, again.id)
        try await throwing(GatewayError.self) {
            _ = try await client.create(request: request("11", reference: wanted.reference))
        } check: { error in
            guard case .refused(let problem) = error else { return XCTFail("\(error)") }
            XCTAssertEqual(problem.status, 409)
            XCTAssertEqual(error.code, "reference_conflict")
            XCTAssertFalse(error.isRetryable)
        }
    }

    func testReversingAPartAndLookingAtIt() async throws {
        let client = try await connect()
        let made = try await client.create(request: request("20"))
        _ = try await settled(client, made.reference)
        let part = ReversalRequest(reference: "refund-1", amount: Decimal(string: "4.2"), reason: .duplicate)
        let first = try await client.reverse(reference: made.reference, request: part)
        let again = try await client.reverse(reference: made.reference, request: part)
        XCTAssertEqual(first.reversal?.id, again.reversal?.id)
        let reversals = try await client.reversals(reference: made.reference)
        XCTAssertEqual(reversals.map(\.amount), [Decimal(string: "4.20")])
        try await throwing(GatewayError.self) {
            _ = try await client.reverse(reference: made.reference, request: ReversalRequest(reference: "refund-2", amount: 19))
        } check: { XCTAssertEqual($0.code, "reversal_exceeds_remaining") }
        let reconciled = try await client.reconcile(reference: made.reference)
        XCTAssertEqual(reconciled.settlement.id, made.id)
    }

    func testTheClockIsPutAheadOnceAlthoughTheResponseIsLost() async throws {
        let day: UInt64 = 86_400_000
        let transport = Loses("/simulator/clock", only: 2)
        let client = try await connect(transport)
        let made = try await client.create(request: request(to: "sim:returned-after-1d"))
        let stopped = try await client.setClock(frozen: true)
        let ahead = try await client.setClock(advanceMs: 2 * day)
        XCTAssertEqual(transport.sent, 3)
        XCTAssertTrue(stopped.frozen && ahead.frozen)
        XCTAssertNil(ahead.advancingTo)
        XCTAssertEqual(ahead.now.timeIntervalSince(stopped.now), 172_800, accuracy: 0.001)
        let there = try await client.clock()
        XCTAssertEqual(there.now, ahead.now)
        let found = try await client.settlement(reference: made.reference)
        XCTAssertEqual(found.status, .returned)
        let runs = try await client.setClock(frozen: false)
        XCTAssertFalse(runs.frozen)
        try await throwing(GatewayError.self) { _ = try await client.setClock(advanceMs: 367 * day) } check: {
            XCTAssertEqual($0.code, "invalid_fields")
        }
    }

    func testChecksListsAndWhatIsNotThere() async throws {
        let client = try await connect()
        let check = try await client.check(request: request(to: "sim:close-match"))
        XCTAssertTrue(check.ok)
        XCTAssertEqual(check.payee.payeeMatch, .closeMatch)
        var made: [String] = []
        for _ in 0..<3 {
            made.append(try await client.create(request: request()).id)
        }
        let page = try await client.settlements(filter: SettlementFilter(limit: 2))
        let rest = try await client.settlements(filter: SettlementFilter(limit: 2, cursor: page.nextCursor))
        XCTAssertEqual((page.data + rest.data).map(\.id), made.reversed())
        XCTAssertFalse(rest.hasMore)
        for (reference, code) in [("not-there", "settlement_not_found"), ("not/there", "settlement_not_found")] {
            try await throwing(GatewayError.self) { _ = try await client.settlement(reference: reference) } check: {
                XCTAssertEqual($0.code, code)
            }
        }
    }

    func testASessionIsKeptBetweenTwoRuns() async throws {
        let signer = try SoftwareSigner()
        let client = try await connect(signer: signer)
        let made = try await client.create(request: request())
        let kept = try over(URLSessionTransport(), signer: signer, session: client.session())
        // Without it a new token is fetched: the key alone is enough.
        let bare = try GatewayClient(baseUrl: url, environment: .sandbox, signer: signer, transport: URLSessionTransport())
        for again in [kept, bare] {
            let found = try await again.settlement(reference: made.reference)
            XCTAssertEqual(found.id, made.id)
        }
        let stranger = try GatewayClient(
            baseUrl: url, environment: .sandbox, signer: SoftwareSigner(), transport: URLSessionTransport())
        try await throwing(GatewayError.self) { _ = try await stranger.balances() } check: { error in
            guard case .refused = error else { return XCTFail("\(error)") }
        }
    }

    func testAKeyTakesThePlaceOfAnother() async throws {
        let client = try await connect()
        let made = try await client.create(request: request())
        let signer = try SoftwareSigner()
        let added = try await client.addKey(key: signer, label: "till \"2\"")
        let again = try await client.addKey(key: signer, label: "till \"2\"")
        XCTAssertEqual(added, again, "once more changes nothing")
        XCTAssertEqual(added.status, .active)
        XCTAssertEqual(added.label, "till \"2\"")
        let first = try client.keyId()
        let both = try await client.keys()
        XCTAssertEqual(both.map(\.keyId), [first, added.keyId])

        let second = try GatewayClient(baseUrl: url, environment: .sandbox, signer: signer, transport: URLSessionTransport())
        try await second.revokeKey(keyId: first)
        let left = try await second.keys()
        XCTAssertEqual(left.map(\.status), [.revoked, .active])
        let found = try await second.settlement(reference: made.reference)
        XCTAssertEqual(found.id, made.id)
        try await throwing(GatewayError.self) { _ = try await client.settlement(reference: made.reference) } check: { error in
            guard case .refused = error else { return XCTFail("\(error)") }
        }
        let others = try await connect()
        try await throwing(GatewayError.self) { _ = try await others.addKey(key: signer, label: nil) } check: {
            XCTAssertEqual($0.code, "key_exists")
        }
    }

    func testLiveAccessWaitsForAnOperator() async throws {
        let client = try await connect()
        let signer = try SoftwareSigner()
        let asked = try await client.enrollLive(key: signer)
        XCTAssertEqual(asked.status, .pending)
        let live = try GatewayClient(baseUrl: url, environment: .live, signer: signer, transport: URLSessionTransport())
        try await throwing(GatewayError.self) { _ = try await live.balances() } check: {
            XCTAssertEqual($0.code, "enrollment_pending")
        }
    }

    func testTheFeedOfAllSettlements() async throws {
        let client = try await connect()
        for _ in 0..<2 {
            _ = try await settled(client, client.create(request: request()).reference)
        }
        var (place, seen, more) = (Int64(0), [FeedEvent](), true)
        while more || seen.filter({ $0.event.kind == .settlementCompleted }).count < 2 {
            let page = try await client.feed(after: place, limit: 3)
            seen += page.data
            (place, more) = (page.nextAfter, page.hasMore)
        }
        XCTAssertEqual(seen.map(\.position), Array(1...Int64(seen.count)))
    }

    private final class Locked: Signer {
        let key: SoftwareSigner
        let answer: @Sendable () throws -> Data

        init(key: SoftwareSigner, answer: @escaping @Sendable () throws -> Data) {
            self.key = key
            self.answer = answer
        }

        func publicKey() throws -> Data { try key.publicKey() }
        func sign(message: Data) async throws -> Data { try answer() }
    }

    func testAKeyThatDoesNotSignIsATypedError() async throws {
        struct Odd: Error {}
        let answers: [@Sendable () throws -> Data] = [
            { throw SignerError.unavailable(detail: "the screen is locked") },
            { throw Odd() },
            { Data("no signature".utf8) },
        ]
        for answer in answers {
            let client = try GatewayClient(
                baseUrl: url, environment: .sandbox, signer: Locked(key: SoftwareSigner(), answer: answer),
                transport: URLSessionTransport())
            try await throwing(GatewayError.self) { _ = try await client.enroll(name: "Test") } check: { error in
                guard case .unsigned = error else { return XCTFail("\(error)") }
            }
        }
    }

    func testAFollowerThatIsCancelledStopsAtOnceAndLeavesNothingLocked() async throws {
        let client = try await connect()
        let made = try await client.create(request: request(to: "sim:pending"))
        let (seen, submitted) = (Shared<[Status]>([]), Signal())
        let following = Task {
            for try await status in client.statuses(of: made.reference) {
                seen.with { $0.append(status) }
                if status.status == .submitted { submitted.send() }
            }
        }
        // From now on the gateway delays its response.
        try await submitted.wait()
        following.cancel()
        try await throwing(CancellationError.self) { try await following.value }
        XCTAssertEqual(seen.with { $0.last?.isFinal }, false)
        let found = try await client.settlement(reference: made.reference)
        XCTAssertEqual(found.id, made.id)
    }

    /// Never responds, and reports when it was called and when it was cancelled.
    private final class Silent: HttpTransport {
        let inner = URLSessionTransport()
        let (asked, stopped) = (Signal(), Signal())
        func send(request: HttpRequest) async throws -> HttpResponse {
            guard request.url.hasSuffix("/settlements") else { return try await inner.send(request: request) }
            // It arrives, but its response is lost.
            _ = try await inner.send(request: request)
            return try await withTaskCancellationHandler {
                asked.send()
                try await inner.pause(ms: .max)
                throw TransportError.noAnswer(detail: "never")
            } onCancel: {
                stopped.send()
            }
        }
        func pause(ms: UInt64) async throws {}
    }

    func testACreateThatIsCancelledStopsItsTransportAndTheSameReferenceFindsOut() async throws {
        let signer = try SoftwareSigner()
        let honest = try await connect(signer: signer)
        let silent = Silent()
        let client = try over(silent, signer: signer, session: honest.session())
        let wanted = request()
        let creating = Task { try await client.create(request: wanted) }
        try await silent.asked.wait()
        creating.cancel()
        try await throwing(CancellationError.self) { _ = try await creating.value }
        try await silent.stopped.wait()
        let found = try await honest.create(request: wanted)
        let there = try await all(of: honest)
        XCTAssertEqual(there.mapValues(\.id), [wanted.reference: found.id])
    }

    @MainActor
    func testTheMainActorGoesOnWhileACallWaits() async throws {
        let client = try await connect()
        let made = try await client.create(request: request(to: "sim:pending"))
        let held = Signal()
        let following = Task { @MainActor in
            for try await status in client.statuses(of: made.reference) where status.status == .submitted {
                held.send()
            }
        }
        try await held.wait()
        // If the follower blocked the main actor, this would never resume.
        let found = try await client.settlement(reference: made.reference)
        XCTAssertEqual(found.id, made.id)
        following.cancel()
        _ = await following.result
    }

    func testThirtyTwoThreadsOnOneClient() async throws {
        let client = try await connect()
        try await onThreads(32) { thread in
            for n in 0..<3 {
                let made = try await client.create(request: request("1", reference: "thread-\(thread)-\(n)"))
                let found = try await client.settlement(reference: made.id)
                XCTAssertEqual(found.reference, made.reference)
            }
        }
        let there = try await all(of: client)
        XCTAssertEqual(there.count, 96)
        XCTAssertTrue(there.values.allSatisfy { $0.amount == 1 })
    }
}

import Foundation
import Railgate
import Support
import XCTest

/// Every call of a gateway: lists, batches, webhooks, documents, the statement, the log, and any other by its path.
final class CallTests: XCTestCase {
    /// Runs a scenario with a server's client, and with the gateway on the device.
    private func onBoth(_ scenario: (any Gateway & Simulator) async throws -> Void) async throws {
        let path = try folder(self).appendingPathComponent("sandbox.db").path
        try await scenario(connect())
        try await scenario(openSandbox(path: path, options: SandboxOptions()))
    }

    private func refused(_ code: String, line: UInt = #line, _ work: () async throws -> Void) async throws {
        try await throwing(GatewayError.self, line: line, work) { error in
            guard case .refused(let problem) = error else { return XCTFail("\(error)", line: line) }
            XCTAssertEqual(problem.code, code, line: line)
        }
    }

    private func invalid(line: UInt = #line, _ work: () async throws -> Void) async throws {
        try await throwing(GatewayError.self, line: line, work) { error in
            guard case .invalid = error else { return XCTFail("\(error)", line: line) }
        }
    }

    private func collected<Element>(_ changes: Changes<Element>) async throws -> [Element] {
        try await changes.reduce(into: []) { $0.append($1) }
    }

    func testEveryFilterSelectsAndListsAreReadPageAfterPage() async throws {
        try await onBoth { gateway in
            var made: [Settlement] = []
            for n in 0..<5 { made.append(try await gateway.create(request: request("\(n + 1)", reference: "f-\(n)"))) }
            _ = try await gateway.create(request: request("7", reference: "f-failed", to: "sim:decline-recipient_not_found"))
            for reference in made.map(\.reference) + ["f-failed"] { _ = try await gateway.settled(reference: reference) }
            func found(_ filter: SettlementFilter) async throws -> [String] {
                try await collected(gateway.allSettlements(filter: filter)).map(\.reference)
            }
            let everything = ["f-failed", "f-4", "f-3", "f-2", "f-1", "f-0"]
            let earlier = made[0].createdAt.addingTimeInterval(-3600)
            let expected: [(SettlementFilter, [String])] = [
                (SettlementFilter(), everything),
                (SettlementFilter(statuses: [.failed], limit: 2), ["f-failed"]),
                (SettlementFilter(statuses: [.failed, .completed], limit: 2), everything),
                (SettlementFilter(reference: "f-2"), ["f-2"]),
                (SettlementFilter(minAmount: Decimal(string: "2.5"), maxAmount: 4, limit: 1), ["f-3", "f-2"]),
                (SettlementFilter(to: "sim:decline-recipient_not_found"), ["f-failed"]),
                (SettlementFilter(currency: "EUR", sandbox: true, needsReview: false, limit: 2), everything),
                (SettlementFilter(provider: made[0].provider, direction: .outgoing), everything),
                (SettlementFilter(direction: .incoming), []),
                (SettlementFilter(createdFrom: earlier), everything),
                (SettlementFilter(createdTo: earlier), []),
            ]
            for (filter, references) in expected {
                let seen = try await found(filter)
                XCTAssertEqual(seen, references, "\(filter)")
            }
        }
    }

    func testABatchSucceedsOneByOne() async throws {
        try await onBoth { gateway in
            let wanted = [("1", "b-0"), ("0", "b-1"), ("2", "b-2"), ("1", "b-0")].map { request($0, reference: $1) }
            let results = try await gateway.createBatch(requests: wanted)
            XCTAssertEqual(results.map(\.status), [201, 422, 201, 200])
            XCTAssertEqual(results[0].settlement?.amount, 1)
            XCTAssertEqual(results[1].problem?.code, "invalid_fields")
            XCTAssertEqual(results[1].problem?.problems.map(\.pointer), ["/amount"])
            XCTAssertNil(results[1].settlement)
            let last = try await gateway.settled(reference: "b-2")
            XCTAssertEqual(last.status, .completed)
            try await throwing(GatewayError.self) { _ = try await gateway.createBatch(requests: []) }
        }
    }

    func testASettlementAndItsReversalsAreAwaited() async throws {
        try await onBoth { gateway in
            _ = try await gateway.create(request: request("20", reference: "r-0", to: "sim:slow-30s"))
            _ = try await gateway.setClock(frozen: nil, advanceMs: 60_000)
            let settled = try await gateway.settled(reference: "r-0")
            XCTAssertEqual(settled.status, .completed)
            let back = ReversalRequest(reference: "back-1", amount: Decimal(string: "4.20"))
            _ = try await gateway.reverse(reference: "r-0", request: back)
            let done = try await gateway.settled(reference: "r-0", reversals: true)
            XCTAssertEqual(done.reversedAmount, Decimal(string: "4.2"))
            XCTAssertEqual(done.reversingAmount, 0)
            let reversed = try await gateway.reversed(reference: "r-0", id: "back-1")
            let again = try await gateway.reversal(reference: "r-0", id: reversed.id)
            XCTAssertEqual(reversed.status, .completed)
            XCTAssertEqual(reversed, again)
            try await refused("reversal_not_found") { _ = try await gateway.reversal(reference: "r-0", id: "back-2") }
            let statuses = try await collected(gateway.statuses(of: "r-0"))
            XCTAssertEqual(statuses.map(\.status), [.partiallyReversed])
        }
    }

    func testTheFeedIsFollowed() async throws {
        try await onBoth { gateway in
            let waiting = Task {
                var seen: [Int64] = []
                for try await event in gateway.feedEvents() {
                    seen.append(event.position)
                    if event.event.kind == .settlementCompleted { break }
                }
                return seen
            }
            _ = try await gateway.create(request: request(reference: "inv-1"))
            let seen = try await waiting.value
            XCTAssertEqual(seen, Array(1...Int64(seen.count)))
            let page = try await gateway.feed(after: 0, limit: 2, epoch: 1)
            XCTAssertEqual(page.data.map(\.position), [1, 2])
            try await refused("epoch_changed") { _ = try await gateway.feed(after: 0, limit: 2, epoch: 2) }
        }
    }

    func testReceiptsInEveryForm() async throws {
        try await onBoth { gateway in
            _ = try await gateway.create(request: request(reference: "inv-1"))
            _ = try await gateway.settled(reference: "inv-1")
            func drawn(_ form: ReceiptForm) async throws -> Data { try await gateway.receiptAs(reference: "inv-1", form: form) }
            let (jws, keys) = (try await drawn(.jws), try await gateway.receiptKeys())
            XCTAssertEqual(try verifyReceipt(jws: String(decoding: jws, as: UTF8.self), jwks: keys).reference, "inv-1")
            let starts: [(ReceiptForm, String)] = [(.html, "<!DOCTYPE html>"), (.svg, "<svg"), (.text, "")]
            for (form, start) in starts {
                let text = String(decoding: try await drawn(form), as: UTF8.self)
                XCTAssertTrue(text.hasPrefix(start) && text.count > 100, text)
            }
            if gateway is GatewayClient {
                let paper = try await drawn(.pdf)
                XCTAssertEqual(paper.prefix(5), Data("%PDF-".utf8))
                XCTAssertNotNil(paper.range(of: Data("%%EOF".utf8), options: .backwards))
            } else {
                try await refused("not_acceptable") { _ = try await drawn(.pdf) }
            }
        }
    }

    func testOneProgramPlaysWithEitherSimulator() async throws {
        try await onBoth { gateway in
            let scenarios = try await gateway.scenarios()
            XCTAssertTrue(scenarios.contains { $0.to == "sim:pending" })
            let before = try await gateway.balance(currency: "EUR").available
            let funded = try await gateway.fund(currency: "EUR", amount: Decimal(string: "12.5")!)
            XCTAssertEqual(funded.available - before, Decimal(string: "12.5"))
            try await refused("balance_not_found") { _ = try await gateway.balance(currency: "XAF") }
            let made = try await gateway.create(request: request(to: "sim:pending"))
            let done = try await gateway.advance(reference: made.reference, to: "completed", code: nil)
            XCTAssertEqual(done.status, .completed)
        }
    }

    func testTheTourOfTheReadmePaysReportsAndShowsTheBooks() async throws {
        let salaries = (0..<3).map { request("100", reference: "salary-\($0)") }
        try await onBoth { gateway in
            let paid = try await pay(salaries, with: gateway)
            XCTAssertEqual(paid, 300)
            guard let client = gateway as? GatewayClient else { return }
            let secret = try await report(of: client, to: "https://hooks.invalid/railgate")
            XCTAssertEqual(secret?.hasPrefix("whsec_"), true)
            let table = String(decoding: try await books(of: client), as: UTF8.self)
            XCTAssertEqual(table.split(whereSeparator: \.isNewline).count, 4)
        }
    }

    func testAnExportIsOneFile() async throws {
        let client = try await connect()
        for n in 0..<3 { _ = try await client.create(request: request(reference: "x-\(n)")) }
        let file = String(decoding: try await client.export(filter: SettlementFilter(), form: .ndJson), as: UTF8.self)
        let lines = file.split(separator: "\n")
        XCTAssertEqual(lines.count, 3)
        XCTAssertTrue(zip(lines, ["x-2", "x-1", "x-0"]).allSatisfy { $0.contains("\"reference\":\"\($1)\"") && $0.contains(":10.50,") }, file)
        let table = String(decoding: try await client.export(filter: SettlementFilter(reference: "x-1"), form: .csv), as: UTF8.self)
        XCTAssertTrue(table.hasPrefix("id,reference,status,") && table.contains(",x-1,") && !table.contains(",x-2,"), table)
    }

    func testTheStatementAndMoneyThatAnOperatorMoved() async throws {
        let client = try await connect()
        for n in 0..<3 {
            _ = try await client.create(request: request("5", reference: "s-\(n)"))
            _ = try await client.settled(reference: "s-\(n)")
        }
        // Lines follow the payments that cause them within moments.
        var lines: [StatementEntry] = []
        while lines.first?.reference != "s-2" {
            lines = try await collected(client.allEntries(currency: "EUR", filter: StatementFilter(limit: 2)))
        }
        let paid = lines.filter { $0.kind == "payment" }
        XCTAssertEqual(paid.map(\.reference), ["s-2", "s-1", "s-0"])
        XCTAssertTrue(paid.allSatisfy { $0.amount == -5 })
        let ledger = try await client.balance(currency: "EUR").ledger
        XCTAssertEqual(lines[0].balance, ledger)
        let earlier = try await client.statement(currency: "EUR", filter: StatementFilter(until: Date(timeIntervalSinceNow: -86_400)))
        XCTAssertEqual(earlier.data, [])
        try await refused("movement_not_found") { _ = try await client.movement(reference: "wire-1") }
        try await invalid { _ = try await client.movement(reference: "../EUR") }
    }

    func testAWebhookIsMadeChangedTestedAndRemoved() async throws {
        let client = try await connect()
        let webhooks = try client.webhooks()
        let wanted = NewWebhook(url: "https://hooks.invalid/railgate", events: ["settlement.completed"], description: "till")
        let made = try await webhooks.create(request: wanted)
        XCTAssertTrue(made.secret!.hasPrefix("whsec_") && made.status == .enabled && !made.allEvents)
        let (list, shown) = (try await webhooks.list(), try await webhooks.get(id: made.id))
        XCTAssertEqual(list.map(\.id), [made.id])
        XCTAssertNil(shown.secret)
        let changed = try await webhooks.update(id: made.id, change: WebhookChange(events: [], description: "", enabled: false))
        XCTAssertTrue(changed.allEvents && changed.description == nil && changed.status == .disabled && changed.url == made.url)
        let enabled = try await webhooks.enable(id: made.id)
        XCTAssertEqual(enabled.status, .enabled)
        let rotated = try await webhooks.rotate(id: made.id, graceS: 60)
        XCTAssertNotEqual(rotated.secret, made.secret)

        let tested = try await webhooks.test(id: made.id, kind: "settlement.failed")
        XCTAssertTrue(!tested.delivered && tested.response.status == nil && tested.response.error != nil)
        XCTAssertEqual(tested.delivery.kind, "settlement.failed")
        XCTAssertEqual(tested.delivery.cause, .test)

        _ = try await client.create(request: request(reference: "w-0"))
        _ = try await client.settled(reference: "w-0")
        let replay = ReplayRequest(since: Date(timeIntervalSinceNow: -3600))
        // Events are numbered within moments.
        while try await webhooks.replay(id: made.id, request: replay).queued == 0 {}
        let deliveries = try await collected(webhooks.allDeliveries(id: made.id, filter: DeliveryFilter(limit: 2)))
        XCTAssertTrue(deliveries.contains { $0.cause == .replay })
        let first = try await webhooks.delivery(id: made.id, delivery: deliveries[0].id)
        let again = try await webhooks.redeliver(id: made.id, delivery: first.id)
        XCTAssertEqual(again.messageId, first.messageId)
        XCTAssertEqual(again.cause, .redelivery)
        let delivered = try await webhooks.deliveries(id: made.id, filter: DeliveryFilter(status: .delivered))
        XCTAssertEqual(delivered.data, [])

        try await webhooks.remove(id: made.id)
        try await refused("webhook_not_found") { _ = try await webhooks.get(id: made.id) }
        try await invalid { _ = try await webhooks.get(id: "whk_/../..") }
        try await refused("invalid_fields") { _ = try await webhooks.create(request: NewWebhook(url: "http://shop.example.com/hooks")) }
    }

    func testTheLogProvesASettlement() async throws {
        let client = try await connect()
        _ = try await client.create(request: request(reference: "p-0"))
        _ = try await client.settled(reference: "p-0")
        let (proof, events) = (try await client.proof(reference: "p-0"), try await client.events(reference: "p-0"))
        XCTAssertEqual(proof.eventHash, events.last?.hash)
        let (checkpoint, keys) = (try await client.logCheckpoint(), try await client.logKeys())
        let origin = checkpoint.prefix { $0 != "\n" }
        XCTAssertTrue(keys.hasPrefix("\(origin)+") && proof.checkpoint.hasPrefix("\(origin)\n"))
        let width = min(proof.treeSize, 256)
        let tile = try await client.logTile(tile: width < 256 ? "0/000.p/\(width)" : "0/000")
        XCTAssertEqual(tile.count, 32 * Int(width))
        try await invalid { _ = try await client.logTile(tile: "../keys") }
    }

    func testAnyCallByItsPath() async throws {
        let client = try await connect()
        let answer = try await client.raw(method: "GET", path: "/api/v1/balances/EUR")
        XCTAssertEqual(answer.status, 200)
        XCTAssertTrue(String(decoding: answer.body, as: UTF8.self).contains("\"EUR\""))
        let body = Data(#"{"currency": "EUR", "amount": "1"}"#.utf8)
        var bodies: [Data] = []
        for _ in 0..<2 {
            let headers = ["Idempotency-Key": "fund-1"]
            bodies.append(try await client.raw(method: "POST", path: "/api/v1/simulator/fund", body: body, headers: headers).body)
        }
        XCTAssertEqual(bodies[0], bodies[1])
        let refused = try await client.raw(method: "GET", path: "/api/v1/operator/overview")
        XCTAssertGreaterThanOrEqual(refused.status, 400, "a refusal is a response like any other")
        let csv = try await client.raw(method: "GET", path: "/api/v1/gateway/settlements/export", headers: ["accept": "text/csv"])
        XCTAssertTrue(String(decoding: csv.body, as: UTF8.self).hasPrefix("id,reference,"))
        try await invalid { _ = try await client.raw(method: "GET", path: "no path") }
    }

    func testAPartnersBundleIsCheckedSubmittedAndFollowed() async throws {
        func written(_ version: String) -> Data {
            Data(
                """
                {"manifest": {"id": "acme", "version": "\(version)", "name": "Acme Pay", "rail": "adapter", "namespaces": ["msisdn"],
                 "currencies": ["KES"], "contacts": [{"role": "technical", "email": "integration@acme.example"}],
                 "sandbox": {"base_url": "https://sandbox.acme.example/railgate", "test": {"to": "msisdn:+254700000001"}}}}
                """.utf8)
        }
        func json(_ body: Data) throws -> [String: Any] { try JSONSerialization.jsonObject(with: body) as? [String: Any] ?? [:] }
        let partner = try await connect()
        try await throwing(BundleRefused.self) {
            _ = try await submit(written("one"), of: partner)
        } check: { refused in
            let errors = try? json(Data(refused.problem.utf8))["errors"] as? [[String: Any]]
            XCTAssertEqual(errors?.compactMap { $0["pointer"] as? String }, ["/manifest/version"])
        }
        let path = try await submit(written("1.0.0"), of: partner)
        let bundle = try json(try await status(of: path, for: partner))
        XCTAssertEqual(bundle["status"] as? String, "submitted")
        let timeline = try await partner.raw(method: "GET", path: path + "/timeline")
        XCTAssertTrue(String(decoding: timeline.body, as: UTF8.self).contains("\"bundle.submitted\""))
    }

    func testErrorsSayWhatIsWrongAndWhere() async throws {
        let client = try await connect()
        try await throwing(GatewayError.self) {
            _ = try await client.create(request: request("0", reference: "no good", to: "nobody"))
        } check: { error in
            XCTAssertTrue(error.message.contains("/amount") && error.message.contains("2 more") && error.isNotSent, error.message)
        }
        let dead = environment("RAILGATE_DEAD_URL")
        let nobody = try GatewayClient(baseUrl: dead, environment: .sandbox, signer: SoftwareSigner(), transport: Hasty())
        try await throwing(GatewayError.self) { _ = try await nobody.enroll(name: "Test") } check: { error in
            XCTAssertTrue(error.isNotSent && error.message.contains("\(dead)/api/v1/"), error.message)
        }
        // The address of the interface is understood as that of the gateway.
        let there = try GatewayClient(
            baseUrl: "\(url)/api/v1", environment: .sandbox, signer: SoftwareSigner(), transport: URLSessionTransport())
        let enrolled = try await there.enroll(name: "Test")
        XCTAssertTrue(enrolled.clientId.hasPrefix("cli_"))
    }
}

/// A transport that does not wait before it tries again.
private final class Hasty: HttpTransport {
    private let inner = URLSessionTransport()

    func send(request: HttpRequest) async throws -> HttpResponse {
        try await inner.send(request: request)
    }

    func pause(ms: UInt64) async throws {}
}

import Foundation
import Railgate
import Support
import XCTest

/// The gateway on the device: its answers are the same as on every platform, byte for byte.
final class SandboxTests: XCTestCase {
    private struct Scenario: Decodable {
        struct Step: Decodable {
            let advance_ms: Int64?
            let restart: String?
            let work: Bool?
            let call: String?
            let answer: String?
        }

        let seed: String
        let start_ms: Int64
        let steps: [Step]
    }

    private func file() throws -> String {
        try folder(self).appendingPathComponent("sandbox.db").path
    }

    func testEveryScenarioIsAnsweredToTheByte() async throws {
        let scenarios = try FileManager.default.contentsOfDirectory(atPath: environment("RAILGATE_SCENARIOS")).filter { $0.hasSuffix(".json") }
        XCTAssertGreaterThanOrEqual(scenarios.count, 12)
        for name in scenarios.sorted() {
            let text = try Data(contentsOf: URL(fileURLWithPath: environment("RAILGATE_SCENARIOS")).appendingPathComponent(name))
            try await play(JSONDecoder().decode(Scenario.self, from: text), name, try file() + name)
        }
    }

    private func play(_ scenario: Scenario, _ name: String, _ path: String) async throws {
        var ms = scenario.start_ms
        func now() -> Date { Date(timeIntervalSince1970: Double(ms) / 1000) }
        func open(_ seed: String) async throws -> SandboxGateway {
            try await openSandbox(path: path, options: SandboxOptions(seed: bytes(seed), now: now()))
        }
        var sandbox: SandboxGateway? = try await open(scenario.seed)
        for (number, step) in scenario.steps.enumerated() {
            if let advance = step.advance_ms {
                ms += advance
            } else if let seed = step.restart {
                sandbox = nil
                sandbox = try await open(seed)
            } else if let call = step.call {
                let answer = try await sandbox!.call(request: call, now: now())
                XCTAssertEqual(answer, step.answer, "\(name) step \(number)")
            } else {
                let worked = try await sandbox!.work(now: now())
                let due = worked.due.map { String(Int64(($0.timeIntervalSince1970 * 1000).rounded())) } ?? "null"
                XCTAssertEqual(#"{"due":\#(due),"done":\#(worked.done)}"#, step.answer, "\(name) step \(number)")
            }
        }
    }

    private func bytes(_ hex: String) -> Data {
        let digits = Array(hex)
        return Data(stride(from: 0, to: digits.count, by: 2).map { UInt8(String(digits[$0...$0 + 1]), radix: 16)! })
    }

    func testSettleFollowAndVerifyWithoutAnyNetwork() async throws {
        let path = try file()
        let sandbox = try await openSandbox(path: path, options: SandboxOptions())
        let made = try await sandbox.create(request: request(reference: "inv-1"))
        XCTAssertEqual(made.amount, Decimal(string: "10.5"))
        var positions: [Int64] = []
        for try await event in sandbox.feedEvents() {
            positions.append(event.position)
            if event.event.kind == .settlementCompleted { break }
        }
        XCTAssertEqual(positions, Array(1...Int64(positions.count)))
        let status = try await sandbox.status(reference: "inv-1")
        XCTAssertEqual(status.status, .completed)
        let claims = try await verifyReceipt(jws: sandbox.receipt(reference: "inv-1").jws, jwks: sandbox.receiptKeys())
        XCTAssertEqual(claims.amount, Decimal(string: "10.5"))
        try await throwing(GatewayError.self) { _ = try await sandbox.create(request: request(reference: "a b")) } check: { error in
            XCTAssertEqual(error.fieldProblems.map(\.pointer), ["/reference"])
        }
        try await throwing(GatewayError.self) { _ = try await openSandbox(path: path, options: SandboxOptions()) } check: { error in
            guard case .storage = error else { return XCTFail("\(error)") }
        }
    }

    func testAPaymentWaitsForItsUserWithoutAnyNetwork() async throws {
        let sandbox = try await openSandbox(path: try file(), options: SandboxOptions())
        let limits = [UserLimits(currency: "EUR", approvalOver: 100)]
        let made = try await sandbox.enrollmentCode(user: "customer-17", limits: limits)
        XCTAssertTrue(made.link.contains(made.code) && made.qr.contains("<svg"))
        let phone = try await sandbox.enrollDevice(code: made.code, platform: "ios", name: "Ada's phone")
        let another = try await sandbox.enrollmentCode(user: "customer-17")
        let watch = try await sandbox.enrollDevice(code: another.code, platform: "watchos")
        try await throwing(GatewayError.self) { _ = try await sandbox.enrollDevice(code: made.code, platform: "ios") } check: {
            XCTAssertEqual($0.code, "device_code_invalid")
        }
        let devices = try await sandbox.devices(user: "customer-17")
        XCTAssertEqual(devices.map(\.id), [phone.id, watch.id])
        let rent = SettlementRequest(amount: 250, currency: "EUR", to: "sim:ok", reference: "rent", user: "customer-17")
        _ = try await sandbox.create(request: rent)
        let (onPhone, onWatch) = try (sandbox.onDevice(device: phone.id), sandbox.onDevice(device: watch.id))
        let waiting = try await onPhone.paymentApprovals()[0]
        XCTAssertEqual(waiting.reference, "rent")
        XCTAssertEqual(waiting.status, .accepted)
        _ = try await onPhone.approve(shown: waiting)
        try await throwing(GatewayError.self) { _ = try await onWatch.decline(shown: waiting) } check: {
            XCTAssertEqual($0.code, "approval_decided")
        }
        let paid = try await sandbox.settled(reference: "rent")
        XCTAssertEqual(paid.status, .completed)
        let shoes = try await onWatch.create(request: request("120", reference: "shoes"))
        let declined = try await onPhone.decline(shown: shoes, reason: "too dear")
        XCTAssertEqual(declined.status, .cancelled)
        _ = try await sandbox.create(request: request(reference: "own"))
        let page = try await onPhone.settlements(filter: SettlementFilter())
        XCTAssertEqual(page.data.map(\.reference), ["shoes", "rent"])
        _ = try await sandbox.revokeDevice(device: watch.id)
        _ = try await sandbox.putUser(user: "customer-17", status: .blocked)
        for (device, code) in [(onWatch, "key_revoked"), (onPhone, "user_blocked")] {
            try await throwing(GatewayError.self) { _ = try await device.paymentApprovals() } check: { XCTAssertEqual($0.code, code) }
        }
    }

    func testThirtyTwoThreadsOnOneGateway() async throws {
        let sandbox = try await openSandbox(path: try file(), options: SandboxOptions())
        func available() async throws -> Decimal {
            try await sandbox.balances().first { $0.currency == "EUR" }!.available
        }
        let before = try await available()
        try await onThreads(32) { thread in
            for n in 0..<3 {
                _ = try await sandbox.create(request: request("1", reference: "th-\(thread)-\(n)"))
            }
        }
        let page = try await sandbox.settlements(filter: SettlementFilter(limit: 200))
        XCTAssertEqual(page.data.count, 96)
        XCTAssertTrue(page.data.allSatisfy { $0.status == .completed })
        let after = try await available()
        XCTAssertEqual(before - after, 96)
    }

    func testAWatcherThatIsCancelledStopsAtOnce() async throws {
        let sandbox = try await openSandbox(path: try file(), options: SandboxOptions())
        let made = try await sandbox.create(request: request())
        let (seen, wakened) = (Shared<[FeedEvent]>([]), Signal())
        let watching = Task {
            for try await event in sandbox.feedEvents() {
                seen.with { $0.append(event) }
                if event.event.kind == .settlementCompleted { wakened.send() }
            }
        }
        // It has seen all events: nothing will wake it.
        try await wakened.wait()
        watching.cancel()
        try await throwing(CancellationError.self) { try await watching.value }
        XCTAssertEqual(Set(seen.with { $0 }.map(\.event.reference)), [made.reference])
        // No lock is left.
        let again = try await sandbox.create(request: request(reference: made.reference))
        XCTAssertEqual(again.id, made.id)
    }
}

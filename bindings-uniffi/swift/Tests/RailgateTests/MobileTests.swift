import Foundation
import Railgate
import Support
import XCTest

/// A backend and the phones of its users, against a real gateway.
final class MobileTests: XCTestCase {
    /// A phone with a new key, enrolled with a code that the backend made.
    private func enrolled(_ backend: GatewayClient, _ user: String) async throws -> GatewayClient {
        let limits = UserLimits(currency: "EUR", approvalOver: 100)
        let code = try await backend.enrollmentCode(user: user, limits: [limits])
        XCTAssertTrue(code.link.hasPrefix("railgate:enroll?code=") && code.qr.hasPrefix("<svg"))
        let signer = try SoftwareSigner()
        let phone = try GatewayClient(baseUrl: url, environment: .sandbox, signer: signer, transport: URLSessionTransport())
        let made = try await phone.enrollDevice(code: code.code.lowercased(), platform: "ios", model: "iPhone 18", name: "phone of \(user)")
        XCTAssertEqual(made.device.user, user)
        XCTAssertEqual(made.device.keyId, try phone.keyId())
        return phone
    }

    private func refusal(_ call: () async throws -> Void) async throws -> String {
        do {
            try await call()
        } catch GatewayError.refused(let problem) {
            return problem.code
        }
        return "accepted"
    }

    func testAPaymentWaitsUntilItsUserApprovesItOnAPhone() async throws {
        let backend = try await connect()
        let phone = try await enrolled(backend, "ada")
        let wanted = SettlementRequest(amount: 250, currency: "EUR", to: "sim:ok", reference: "t-\(UUID())", user: "ada")
        let waiting = try await backend.create(request: wanted)
        XCTAssertEqual(waiting.approval?.status, .pending)
        let shown = try await phone.paymentApprovals()
        XCTAssertEqual(shown, [waiting])
        let approved = try await phone.approve(shown: waiting, payeeName: "Ada's shop")
        XCTAssertEqual(approved.approval?.status, .approved)
        let done = try await phone.settled(reference: waiting.reference)
        XCTAssertEqual(done.status, .completed)
        let events = try await phone.events(reference: waiting.reference)
        XCTAssertTrue(events.contains { $0.kind == .approvalApproved })
        // The same answer again is the same; another one is too late.
        let again = try await phone.approve(shown: waiting)
        XCTAssertEqual(again.status, .completed)
        let late = try await refusal { _ = try await phone.decline(shown: waiting, reason: "changed my mind") }
        XCTAssertEqual(late, "approval_decided")
    }

    func testAPhoneSeesItsUsersPaymentsAndIsRevoked() async throws {
        let backend = try await connect()
        let ada = try await enrolled(backend, "ada")
        let bob = try await enrolled(backend, "bob")
        let mine = try await ada.create(request: request("10"))
        XCTAssertEqual(mine.user, "ada")
        XCTAssertNil(mine.approval)
        let listed = try await backend.settlements(filter: SettlementFilter(user: "ada"))
        XCTAssertEqual(listed.data.map(\.id), [mine.id])
        let hidden = try await refusal { _ = try await bob.settlement(reference: mine.reference) }
        XCTAssertEqual(hidden, "settlement_not_found")
        let large = try await bob.create(request: request("101"))
        let declined = try await bob.decline(shown: large, reason: "not now")
        XCTAssertEqual(declined.status, .cancelled)

        let devices = try await backend.devices(user: "bob")
        XCTAssertEqual(devices.count, 1)
        let renamed = try await bob.renameDevice(device: devices[0].id, name: "the blue one")
        XCTAssertEqual(renamed.name, "the blue one")
        try await backend.revokeDevice(device: devices[0].id)
        let refused = try await refusal { _ = try await bob.paymentApprovals() }
        XCTAssertTrue(["token_invalid", "key_revoked"].contains(refused), refused)
        let blocked = try await backend.putUser(user: "ada", status: .blocked)
        XCTAssertEqual(blocked.status, .blocked)
        let stopped = try await refusal { _ = try await ada.create(request: request("1")) }
        XCTAssertEqual(stopped, "user_blocked")
    }
}

import Foundation
import Railgate
import Support
import XCTest

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

private let provider = environment("RAILGATE_STORY_PROVIDER")

private func client() throws -> GatewayClient {
    let signer = try SoftwareSigner()
    let url = environment("RAILGATE_STORY_URL")
    return try GatewayClient(baseUrl: url, environment: .sandbox, signer: signer, transport: URLSessionTransport())
}

/// An app on a user's phone.
private struct Phone {
    let gateway: GatewayClient
    let keys: PushKeys
    let endpoint = "\(environment("RAILGATE_STORY_PUSH"))/p/\(UUID())"

    init(code: String) async throws {
        gateway = try client()
        // As after a restart of the app, which keeps its keys.
        keys = try PushKeys(secret: PushKeys().secret())
        _ = try await gateway.enrollDevice(code: code, platform: "ios", appVersion: "3.2.0")
        try await subscribe(gateway, endpoint: endpoint, keys: keys)
    }

    /// The next push of this kind, decrypted, and the payment that it asks to approve.
    func told(_ kind: NotificationKind) async throws -> (PushMessage, Settlement?) {
        while true {
            // The part of whatever hands pushes to the app.
            let (message, _) = try await URLSession.shared.data(from: URL(string: endpoint)!)
            let push = try keys.decrypt(message: message)
            if push.kind == kind { return (push, try await waiting(gateway, keys: keys, message: message)) }
        }
    }
}

/// The story of a payment: a backend, the phones of its users, and a partner's provider, which the Rust test has set up.
final class StoryTests: XCTestCase {
    /// A payment that a user approves on a new phone.
    private func approved(_ backend: GatewayClient, _ number: Int) async throws {
        let limits = [UserLimits(currency: "EUR", max: 5000, approvalOver: 100)]
        let code = try await backend.enrollmentCode(user: "user-\(number)", limits: limits)
        let phone = try await Phone(code: code.code)
        let wanted = SettlementRequest(
            amount: 250, currency: "EUR", to: "msisdn:+254700000001", reference: "rent-\(number)", provider: provider, user: "user-\(number)")
        let made = try await backend.create(request: wanted)
        XCTAssertEqual(made.approval?.status, .pending)

        let (push, shown) = try await phone.told(.approvalRequested)
        XCTAssertEqual(shown, made)
        XCTAssertEqual(push.amount, 250)
        XCTAssertEqual(push.to, made.to)
        _ = try await phone.gateway.approve(shown: try XCTUnwrap(shown))
        let done = try await phone.gateway.settled(reference: made.reference)
        XCTAssertEqual(done.status, .completed)
        XCTAssertEqual(done.provider, provider)
        let (completed, _) = try await phone.told(.paymentCompleted)
        XCTAssertEqual(completed.settlementId, made.id)

        try await inbox(phone, push)
        let sent = try await phone.gateway.sendQuality()
        XCTAssertGreaterThan(sent, 5)
    }

    /// The inbox has what was pushed, and what was read stays read.
    private func inbox(_ phone: Phone, _ push: PushMessage) async throws {
        let page = try await phone.gateway.notifications(filter: NotificationFilter(unread: true, limit: 10))
        let listed = page.data.filter { $0.id == push.notificationId }
        XCTAssertEqual(listed.map(\.kind), [push.kind])
        XCTAssertEqual(listed.map(\.title), [push.title])
        XCTAssertEqual(page.unreadCount, UInt64(page.data.count))
        let oldest = page.data[page.data.count - 1].id
        for try await notification in phone.gateway.notificationsAsTheyCome(after: oldest) {
            XCTAssertEqual(notification.id, page.data[page.data.count - 2].id)
            break
        }
        let left = try await phone.gateway.markRead(id: oldest)
        XCTAssertEqual(left, page.unreadCount - 1)
        let none = try await phone.gateway.markAllRead()
        XCTAssertEqual(none, 0)
        let preferences = try await phone.gateway.preferences()
        XCTAssertEqual(preferences.detail, "full")
        let subscriptions = try await phone.gateway.pushSubscriptions().data
        XCTAssertEqual(subscriptions.map(\.thisDevice), [true])
        XCTAssertNil(subscriptions[0].failingSince)
        try await phone.gateway.unsubscribePush(id: subscriptions[0].id)
        let remaining = try await phone.gateway.pushSubscriptions().data
        XCTAssertEqual(remaining, [])
    }

    func testPhonesApprovePaymentsThatGoThroughAPartnersBundle() async throws {
        let backend = try client()
        _ = try await backend.enroll(name: "Shop")
        for number in 0..<5 {
            try await approved(backend, number)
        }
        let query = QualityQuery(metric: "approval.answer", by: ["provider", "network"])
        let groups = try await backend.qualitySummary(query: query).groups
        XCTAssertEqual(groups.map(\.provider), [provider])
        XCTAssertEqual(groups.map(\.network), [.cellular])
        XCTAssertEqual(groups.map(\.count), [5])
        XCTAssertEqual(groups.map(\.unit), [.milliseconds])
        XCTAssertEqual(groups.map(\.failureRate), [0])
        XCTAssertTrue(groups.allSatisfy { 0 < $0.min && $0.min <= $0.max })
        let points = [
            QualityPoint(metric: "report.export", value: 2.5, unit: .seconds, os: "linux"),
            QualityPoint(metric: "report.export", value: 1, unit: .seconds, os: "Ada's server"),
        ]
        let taken = try await backend.reportQuality(points: points)
        XCTAssertEqual(taken.accepted, 1)
        XCTAssertEqual(taken.refused.map(\.index), [1])
        XCTAssertThrowsError(try PushKeys().decrypt(message: Data("something else".utf8))) { error in
            guard case GatewayError.notGenuine(let problem) = error else { return XCTFail("\(error)") }
            XCTAssertEqual(problem.code, "push_invalid")
        }
    }
}

import Foundation
import Railgate
import Support
import XCTest

/// Tests without a gateway: exact values, validation, webhooks, errors.
final class ValueTests: XCTestCase {
    /// 2026-11-21T10:38:17.042Z.
    private let now = Date(timeIntervalSince1970: 1_795_257_497.042)

    private func problems(_ request: SettlementRequest) -> [String: String] {
        do {
            try validateSettlement(request: request, now: now)
            return [:]
        } catch GatewayError.invalid(let problem) {
            return Dictionary(problem.problems.map { ($0.pointer, $0.code) }, uniquingKeysWith: { first, _ in first })
        } catch {
            XCTFail("\(error)")
            return [:]
        }
    }

    func testAGoodRequestPassesWhateverFormItsDecimalHas() throws {
        for amount in ["10.50", "10.5", "1E+1", "0.01", "999999999999.99"] {
            XCTAssertEqual(problems(request(amount)), [:], amount)
        }
        XCTAssertEqual(problems(SettlementRequest(amount: 10, currency: "EUR", to: "sim:ok", reference: "r")), [:])
    }

    func testEveryProblemIsToldAtOnceAndForPeople() {
        let bad = SettlementRequest(amount: Decimal(string: "10.505")!, currency: "EUR", to: "nowhere", reference: "a b")
        XCTAssertThrowsError(try validateSettlement(request: bad, now: now)) { error in
            guard let error = error as? GatewayError, case .invalid = error else { return XCTFail("\(error)") }
            let found = Dictionary(uniqueKeysWithValues: error.fieldProblems.map { ($0.pointer, $0.code) })
            XCTAssertEqual(Set(found.keys), ["/amount", "/to", "/reference"])
            XCTAssertEqual(found["/amount"], "amount_scale")
            XCTAssertEqual(error.code, "invalid_fields")
            XCTAssertFalse(error.isRetryable)
            XCTAssertEqual(error.localizedDescription, error.message)
            XCTAssertFalse(error.message.contains("GatewayError"), error.message)
        }
    }

    func testAPayerReadsWhatToChange() {
        let bad = SettlementRequest(amount: Decimal(string: "10.505")!, currency: "EUR", to: "sim:declined", reference: "r")
        XCTAssertThrowsError(try validateSettlement(request: bad, now: now)) { error in
            guard let problems = (error as? GatewayError)?.fieldProblems, problems.count == 2 else { return XCTFail("\(error)") }
            XCTAssertEqual(problems.map(\.params), [["max": "2"], ["nearest": "sim:decline-other"]])
            XCTAssertEqual(payerMessage(problem: problems[0], locale: "fr-CM"), "Saisissez au plus 2 décimales.")
        }
    }

    func testTimesAreMoments() {
        XCTAssertEqual(problems(request(expiresAt: now.addingTimeInterval(0.001))), [:])
        XCTAssertEqual(Array(problems(request(expiresAt: now)).keys), ["/expires_at"])
        XCTAssertEqual(problems(request(expiresAt: .distantFuture)), [:])
        // An invalid date must not crash.
        for odd in [Date.distantPast, Date(timeIntervalSince1970: -.infinity), Date(timeIntervalSince1970: .nan)] {
            XCTAssertEqual(Array(problems(request(expiresAt: odd)).keys), ["/expires_at"])
        }
    }

    func testWhatIsNoFiniteDecimalIsATypedError() {
        let long = Decimal(string: String(repeating: "1", count: 38))!
        for amount in [Decimal.nan, long] {
            let bad = SettlementRequest(amount: amount, currency: "EUR", to: "sim:ok", reference: "r")
            XCTAssertThrowsError(try validateSettlement(request: bad, now: now)) { error in
                guard case GatewayError.invalid = error else { return XCTFail("\(error)") }
            }
        }
    }

    func testATransportsErrorsAreReadable() {
        XCTAssertEqual(TransportError.notSent(detail: "there is no network").localizedDescription, "there is no network")
        XCTAssertEqual(SignerError.unavailable(detail: "the screen is locked").localizedDescription, "the screen is locked")
    }

    func testAKeyInMemoryIsTheSameFromItsSecret() async throws {
        let made = try SoftwareSigner()
        let again = try SoftwareSigner(secret: made.secret())
        XCTAssertEqual(try made.publicKey(), try again.publicKey())
        let (first, second) = (try await made.sign(message: Data("pay".utf8)), try await again.sign(message: Data("pay".utf8)))
        XCTAssertEqual(first, second)
        XCTAssertThrowsError(try SoftwareSigner(secret: Data(count: 31)))
    }

    // HMAC-SHA256 with the bytes 0 to 31 over "evt_1.1795257497.…", as Standard Webhooks specifies.
    private let secret = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
    private let body = Data(
        #"{"type":"settlement.completed","timestamp":"2026-11-21T10:38:16.042Z","data":{"sequence":5,"amount":10.50}}"#.utf8)
    private let headers = [
        "Webhook-Id": "evt_1", "webhook-timestamp": "1795257497", "webhook-signature": "v1,/fhAFDjZ2JEuw+zM3MuGHFssajFCT0I0/psCdG8RprE=",
    ]

    func testAGenuineWebhookIsTold() throws {
        let other = "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
        let message = try WebhookVerifier(secrets: [other, secret]).verify(headers: headers, body: body, now: now)
        XCTAssertEqual(message.id, "evt_1")
        XCTAssertEqual(message.kind, "settlement.completed")
        XCTAssertEqual(message.at.timeIntervalSince1970, 1_795_257_496.042, accuracy: 0.000_5)
        XCTAssertEqual(message.data, #"{"sequence":5,"amount":10.50}"#)
    }

    func testAnyOtherIsNot() throws {
        let verifier = try WebhookVerifier(secrets: [secret])
        var renamed = headers
        renamed["Webhook-Id"] = "evt_2"
        var empty = headers
        empty["webhook-signature"] = "v1,BXpwhVF+rEEuqB4WF3tXTaAiZLw9WCLgNPWmLZtxXDs="
        for (headers, body, now, code) in [
            (headers, body + Data(" ".utf8), now, "webhook_signature_invalid"),
            (renamed, body, now, "webhook_signature_invalid"),
            (headers, body, now.addingTimeInterval(301), "webhook_too_old"),
            (headers, body, now.addingTimeInterval(-302), "webhook_too_new"),
            ([:], body, now, "webhook_malformed"),
            (empty, Data("{}".utf8), now, "webhook_malformed"),
        ] {
            XCTAssertThrowsError(try verifier.verify(headers: headers, body: body, now: now)) { error in
                guard case GatewayError.notGenuine(let problem) = error else { return XCTFail("\(error)") }
                XCTAssertEqual(problem.code, code)
            }
        }
        XCTAssertThrowsError(try WebhookVerifier(secrets: ["whsec_!"]))
    }
}

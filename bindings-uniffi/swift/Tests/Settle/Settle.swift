import Foundation
import Railgate

@main
struct Settle {
    /// Enrols, settles, follows, and verifies the receipt.
    static func main() async throws {
        // On a phone: SecureEnclaveSigner(tag: "dev.example.shop"), and client.session() is kept in the keychain.
        let signer = try SoftwareSigner()
        let client = try GatewayClient(
            baseUrl: CommandLine.arguments[1], environment: .sandbox, signer: signer, transport: URLSessionTransport())
        print("enrolled", try await client.enroll(name: "Corner shop").clientId)

        let amount = Decimal(string: "25.00")!
        _ = try await client.create(request: SettlementRequest(amount: amount, currency: "EUR", to: "sim:ok", reference: "inv-1"))
        for try await status in client.statuses(of: "inv-1") {
            print("status", status.status)
        }

        let receipt = try await client.receipt(reference: "inv-1")
        let claims = try await verifyReceipt(jws: receipt.jws, jwks: client.receiptKeys())
        print("receipt", claims.amount, claims.currency, claims.status)
    }
}

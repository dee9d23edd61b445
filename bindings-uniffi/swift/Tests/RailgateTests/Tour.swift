import Foundation
import Railgate

/// Pays all at once, with a server's client or on the device, waits until all have arrived, and returns what was paid in all.
func pay(_ salaries: [SettlementRequest], with gateway: any Gateway) async throws -> Decimal {
    for result in try await gateway.createBatch(requests: salaries) {
        guard let made = result.settlement else { throw GatewayError.refused(problem: result.problem!) }
        _ = try await gateway.settled(reference: made.reference)
    }
    let paid = SettlementFilter(statuses: [.completed], currency: "EUR", minAmount: 1)
    return try await gateway.allSettlements(filter: paid).reduce(0) { $0 + $1.amount }
}

/// Has a server report to this URL what becomes of payments; returns the secret that verifies the reports.
func report(of client: GatewayClient, to url: String) async throws -> String? {
    let wanted = NewWebhook(url: url, events: ["settlement.completed", "settlement.failed"])
    return try await client.webhooks().create(request: wanted).secret
}

/// The books of a server, page by page, and as a file.
func books(of client: GatewayClient) async throws -> Data {
    for try await line in client.allEntries(currency: "EUR") {
        print(line.at, line.kind, line.amount, line.balance)
    }
    return try await client.export(filter: SettlementFilter(), form: .csv)
}

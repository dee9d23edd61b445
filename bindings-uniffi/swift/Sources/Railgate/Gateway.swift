import Foundation

/// What a server's client (`GatewayClient`) and the gateway on the device (`SandboxGateway`) have in common: a program that takes a
/// `Gateway` runs with either. Each function is documented there.
public protocol Gateway: AnyObject, Sendable {
    func create(request: SettlementRequest) async throws -> Settlement
    func createBatch(requests: [SettlementRequest]) async throws -> [BatchResult]
    func check(request: SettlementRequest) async throws -> Check
    func settlement(reference: String) async throws -> Settlement
    func status(reference: String) async throws -> Status
    func follow(reference: String) throws -> StatusFollower
    func settled(reference: String, reversals: Bool) async throws -> Settlement
    func events(reference: String) async throws -> [Event]
    func feed(after: Int64, limit: UInt32, epoch: UInt32?) async throws -> FeedPage
    func followFeed(after: Int64, epoch: UInt32?) throws -> FeedFollower
    func settlements(filter: SettlementFilter) async throws -> SettlementPage
    func reverse(reference: String, request: ReversalRequest) async throws -> Reversed
    func reversals(reference: String) async throws -> [Reversal]
    func reversal(reference: String, id: String) async throws -> Reversal
    func reversed(reference: String, id: String) async throws -> Reversal
    func reconcile(reference: String) async throws -> Reconciliation
    func receipt(reference: String) async throws -> Receipt
    func receiptAs(reference: String, form: ReceiptForm) async throws -> Data
    func receiptKeys() async throws -> String
    func providers() async throws -> [Provider]
    func provider(id: String) async throws -> Provider
    func balances() async throws -> [Balance]
    func balance(currency: String) async throws -> Balance
}

/// The simulated operator of a sandbox, on a server or on the device. Each function is documented at `GatewayClient`.
public protocol Simulator: AnyObject, Sendable {
    func scenarios() async throws -> [Scenario]
    func fund(currency: String, amount: Decimal) async throws -> Balance
    func advance(reference: String, to: String, code: String?) async throws -> Settlement
    func clock() async throws -> SandboxClock
    func setClock(frozen: Bool?, advanceMs: UInt64) async throws -> SandboxClock
    func faults() async throws -> SandboxFaults
    func setFaults(faults: SandboxFaults) async throws -> SandboxFaults
    func reset() async throws -> UInt64
}

extension GatewayClient: Gateway, Simulator {}

extension SandboxGateway: Gateway, Simulator {}

extension Gateway {
    /// Waits until a settlement no longer changes by itself, whatever becomes of its reversals.
    public func settled(reference: String) async throws -> Settlement {
        try await settled(reference: reference, reversals: false)
    }
}

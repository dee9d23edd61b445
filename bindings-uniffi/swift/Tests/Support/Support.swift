import Foundation
import Railgate

/// The number of settlements that the child adds to its outbox.
public let childEntries = 5

/// The environment that the Rust test prepared.
public func environment(_ name: String) -> String {
    guard let value = ProcessInfo.processInfo.environment[name] else { fatalError("\(name) is not set") }
    return value
}

/// The gateway that the Rust test started.
public let url = environment("RAILGATE_TEST_URL")

public func request(
    _ amount: String = "10.50", reference: String = "t-\(UUID().uuidString.lowercased())", to: String = "sim:ok",
    description: String? = nil, metadata: [String: String] = [:], expiresAt: Date? = nil
) -> SettlementRequest {
    SettlementRequest(
        amount: Decimal(string: amount)!, currency: "EUR", to: to, reference: reference, description: description, metadata: metadata,
        expiresAt: expiresAt)
}

/// A client with an existing key and session; it need not enrol.
public func over(_ transport: HttpTransport, signer: Signer, session: String) throws -> GatewayClient {
    try GatewayClient(baseUrl: url, environment: .sandbox, signer: signer, transport: transport, session: session)
}

public func connect(_ transport: HttpTransport = URLSessionTransport(), signer: Signer? = nil) async throws -> GatewayClient {
    let signer = try signer ?? SoftwareSigner()
    let client = try GatewayClient(baseUrl: url, environment: .sandbox, signer: signer, transport: transport)
    _ = try await client.enroll(name: "Test")
    return client
}

/// All settlements of a client, by reference.
public func all(of client: GatewayClient) async throws -> [String: Settlement] {
    let page = try await client.settlements(filter: SettlementFilter(limit: 200))
    precondition(!page.hasMore)
    return Dictionary(uniqueKeysWithValues: page.data.map { ($0.reference, $0) })
}

/// A value that several tasks share.
public final class Shared<Value>: @unchecked Sendable {
    private let lock = NSLock()
    private var value: Value

    public init(_ value: Value) {
        self.value = value
    }

    public func with<T>(_ work: (inout Value) throws -> T) rethrows -> T {
        lock.lock()
        defer { lock.unlock() }
        return try work(&value)
    }
}

import Foundation
import Railgate

/// Calls a second of the gateway on the device, over SQLite; `bench.sh` runs it.
@main
struct Bench {
    static let warmUpS = 2.0
    static let measuredS = 5.0

    static func main() async throws {
        // Here, not among temporary files, which may be in memory.
        let folder = URL(fileURLWithPath: FileManager.default.currentDirectoryPath).appendingPathComponent("bench-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let sandbox = try await openSandbox(path: folder.appendingPathComponent("sandbox.db").path, options: SandboxOptions())
        _ = try await sandbox.fund(currency: "EUR", amount: 900_000_000)
        let now = Date()

        try await report("validate", 1) { try validateSettlement(request: request($0), now: now) }
        try await report("check", 1) { _ = try await sandbox.check(request: request($0)) }
        try await report("create, one at a time", 1) { _ = try await sandbox.create(request: request($0)) }
        try await report("create, 32 at once", 32) { _ = try await sandbox.create(request: request($0)) }
    }

    static func request(_ reference: String) -> SettlementRequest {
        SettlementRequest(amount: Decimal(string: "10.50")!, currency: "EUR", to: "sim:ok", reference: reference)
    }

    static func report(_ what: String, _ atOnce: Int, _ call: @escaping @Sendable (String) async throws -> Void) async throws {
        _ = try await rate("warm-\(atOnce)", atOnce, warmUpS, call)
        print("| Swift | \(what) |", Int(try await rate("run-\(atOnce)", atOnce, measuredS, call)), "|")
    }

    /// Measures calls a second at the given concurrency.
    static func rate(
        _ name: String, _ atOnce: Int, _ forS: Double, _ call: @escaping @Sendable (String) async throws -> Void
    ) async throws -> Double {
        let start = DispatchTime.now().uptimeNanoseconds
        @Sendable func passed() -> Double { Double(DispatchTime.now().uptimeNanoseconds - start) / 1e9 }
        let count = try await withThrowingTaskGroup(of: Int.self) { lanes in
            for lane in 0..<atOnce {
                lanes.addTask {
                    var count = 0
                    while passed() < forS {
                        try await call("\(name)-\(lane)-\(count)")
                        count += 1
                    }
                    return count
                }
            }
            return try await lanes.reduce(0, +)
        }
        return Double(count) / passed()
    }
}

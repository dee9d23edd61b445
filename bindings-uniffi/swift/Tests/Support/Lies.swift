import Foundation
import Railgate

/// SplitMix64: the same seed behaves the same way on every platform.
struct SeededGenerator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var z = state
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }
}

/// Sends requests to this path and loses the response to the one with this number, from 1.
public final class Loses: HttpTransport {
    private let inner = URLSessionTransport()
    private let count = Shared(0)
    private let path: String
    private let only: Int

    public init(_ path: String, only: Int) {
        (self.path, self.only) = (path, only)
    }

    /// The number of requests to the path so far.
    public var sent: Int { count.with { $0 } }

    public func send(request: HttpRequest) async throws -> HttpResponse {
        let answer = try await inner.send(request: request)
        guard request.url.hasSuffix(path) else { return answer }
        let number = count.with { count in
            count += 1
            return count
        }
        if number == only { throw TransportError.noAnswer(detail: "lost") }
        return answer
    }

    public func pause(ms: UInt64) async throws {
        await Task.yield()
    }
}

/// Loses requests and responses, sends twice, truncates responses, and returns responses late, out of order and to other calls.
public final class Liar: HttpTransport {
    enum Way: CaseIterable {
        case honest, quiteHonest, unsent, lost, twice, late, cut, swapped, madeUp
    }

    private struct Mind {
        var random: SeededGenerator
        var kept: [HttpResponse] = []
        var told: Set<Way> = []
    }

    private let inner = URLSessionTransport()
    private let mind: Shared<Mind>

    public init(seed: UInt64) {
        mind = Shared(Mind(random: SeededGenerator(state: seed)))
    }

    /// The number of different behaviours so far.
    public var ways: Int { mind.with { $0.told.count } }

    public func send(request: HttpRequest) async throws -> HttpResponse {
        let way = mind.with { mind in
            let way = Way.allCases.randomElement(using: &mind.random)!
            mind.told.insert(way)
            return way
        }
        let lost = TransportError.noAnswer(detail: "\(way)")
        switch way {
        case .unsent:
            throw TransportError.notSent(detail: "\(way)")
        case .madeUp:
            return HttpResponse(status: 422, headers: [], body: Data(#"{"code":"insufficient_funds","status":422}"#.utf8))
        case .honest, .quiteHonest:
            return try await inner.send(request: request)
        case .twice:
            _ = try await inner.send(request: request)
            return try await inner.send(request: request)
        case .lost:
            _ = try await inner.send(request: request)
            throw lost
        case .cut:
            let answer = try await inner.send(request: request)
            return HttpResponse(status: answer.status, headers: answer.headers, body: answer.body.prefix(answer.body.count / 2))
        case .late:
            let answer = try await inner.send(request: request)
            mind.with { $0.kept.append(answer) }
            throw lost
        case .swapped:
            let answer = try await inner.send(request: request)
            let other = mind.with { mind in
                let other = mind.kept.indices.randomElement(using: &mind.random).map { mind.kept.remove(at: $0) }
                mind.kept.append(answer)
                return other
            }
            guard let other else { throw lost }
            return other
        }
    }

    public func pause(ms: UInt64) async throws {
        await Task.yield()
    }
}

/// A network that is unavailable until it is switched on.
public final class Offline: HttpTransport {
    private let inner = URLSessionTransport()
    private let online = Shared(false)

    public init() {}

    public func connected() {
        online.with { $0 = true }
    }

    public func send(request: HttpRequest) async throws -> HttpResponse {
        guard online.with({ $0 }) else { throw TransportError.notSent(detail: "there is no network") }
        return try await inner.send(request: request)
    }

    public func pause(ms: UInt64) async throws {
        try await inner.pause(ms: ms)
    }
}

/// Kills its own process at the given create: before it is sent, or when its response arrived but was not reported.
public final class Killer: HttpTransport {
    private let inner = URLSessionTransport()
    private let at: Int
    private let after: Bool
    private let creates = Shared(0)

    public init(at: Int, after: Bool) {
        self.at = at
        self.after = after
    }

    public func send(request: HttpRequest) async throws -> HttpResponse {
        let create = request.method == "POST" && request.url.hasSuffix("/settlements")
        let now = create && creates.with { $0 += 1; return $0 } == at
        if now && !after { kill(getpid(), SIGKILL) }
        let answer = try await inner.send(request: request)
        if now { kill(getpid(), SIGKILL) }
        return answer
    }

    public func pause(ms: UInt64) async throws {
        await Task.yield()
    }
}

import Foundation
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A connection to a gateway over `URLSession`.
///
/// It follows no redirects and stores no cookies or responses. A cancelled call cancels its connection. If `URLSession` repeats
/// a request whose connection broke before a response, the gateway accepts it once: every request carries a unique, signed
/// nonce.
public final class URLSessionTransport: HttpTransport, @unchecked Sendable {
    private let exchanges = Exchanges()
    private let session: URLSession

    /// Makes a session from a copy of `configuration`, which can set proxies, cellular access or background rules.
    public init(configuration: URLSessionConfiguration = .ephemeral) {
        let own = configuration.copy() as? URLSessionConfiguration ?? configuration
        own.httpShouldSetCookies = false
        own.httpCookieStorage = nil
        own.urlCache = nil
        own.requestCachePolicy = .reloadIgnoringLocalCacheData
        // Each follower occupies one connection while nothing changes.
        own.httpMaximumConnectionsPerHost = max(own.httpMaximumConnectionsPerHost, 64)
        session = URLSession(configuration: own, delegate: exchanges, delegateQueue: nil)
    }

    deinit {
        session.finishTasksAndInvalidate()
    }

    /// Sends the request once and returns the response, whatever its status.
    public func send(request: HttpRequest) async throws -> HttpResponse {
        guard let url = URL(string: request.url) else {
            throw TransportError.notSent(detail: "\(request.url) is not an address")
        }
        var outgoing = URLRequest(url: url, timeoutInterval: TimeInterval(request.timeoutMs) / 1000)
        outgoing.httpMethod = request.method
        outgoing.httpBody = request.body.isEmpty ? nil : request.body
        for header in request.headers {
            outgoing.addValue(header.value, forHTTPHeaderField: header.name)
        }
        let task = session.dataTask(with: outgoing)
        // The session ends with this object.
        defer { withExtendedLifetime(self) {} }
        return try await exchanges.carry(task, within: request.timeoutMs)
    }

    /// Sleeps for this many milliseconds.
    public func pause(ms: UInt64) async throws {
        try await Task.sleep(nanoseconds: nanoseconds(ms))
    }
}

/// Milliseconds in nanoseconds, clamped to the clock's range.
private func nanoseconds(_ ms: UInt64) -> UInt64 {
    min(ms, UInt64(Int64.max) / 1_000_000) * 1_000_000
}

/// Far more than any response of a gateway; an endless one would exhaust the memory.
private let mostBytes = 16 * 1024 * 1024

/// The requests in flight, by task: each has one continuation, resumed once.
///
/// A task that is cancelled at once may end before its caller waits for it; its outcome is kept until then.
private final class Exchanges: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    private struct Exchange {
        var continuation: CheckedContinuation<HttpResponse, Error>?
        var body = Data()
        var outcome: Result<HttpResponse, Error>?
    }

    private let lock = NSLock()
    private var open: [Int: Exchange] = [:]

    func carry(_ task: URLSessionDataTask, within ms: UInt64) async throws -> HttpResponse {
        locked { open[task.taskIdentifier] = Exchange() }
        // The session's own timeout restarts with each byte; this one is for the complete response.
        let patience = Task {
            try await Task.sleep(nanoseconds: nanoseconds(ms))
            end(task) { _ in .failure(TransportError.noAnswer(detail: "time-out: no complete response within \(ms) ms")) }
            task.cancel()
        }
        defer { patience.cancel() }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let outcome = locked {
                    open[task.taskIdentifier]?.continuation = continuation
                    guard let outcome = open[task.taskIdentifier]?.outcome else { return Result<HttpResponse, Error>?.none }
                    open[task.taskIdentifier] = nil
                    return outcome
                }
                if let outcome {
                    continuation.resume(with: outcome)
                } else {
                    task.resume()
                }
            }
        } onCancel: {
            task.cancel()
        }
    }

    private func locked<T>(_ work: () -> T) -> T {
        lock.lock()
        defer { lock.unlock() }
        return work()
    }

    /// Resumes the caller. Outcomes after the first are ignored.
    private func end(_ task: URLSessionTask, _ outcome: (Data) -> Result<HttpResponse, Error>) {
        let ended: (continuation: CheckedContinuation<HttpResponse, Error>, outcome: Result<HttpResponse, Error>)? = locked {
            guard let exchange = open[task.taskIdentifier], exchange.outcome == nil else { return nil }
            let outcome = outcome(exchange.body)
            guard let continuation = exchange.continuation else {
                open[task.taskIdentifier]?.outcome = outcome
                return nil
            }
            open[task.taskIdentifier] = nil
            return (continuation, outcome)
        }
        if let ended {
            ended.continuation.resume(with: ended.outcome)
        }
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let isTooLong = locked {
            open[dataTask.taskIdentifier]?.body.append(data)
            return open[dataTask.taskIdentifier].map { $0.body.count > mostBytes } ?? false
        }
        guard isTooLong else { return }
        end(dataTask) { _ in .failure(TransportError.noAnswer(detail: "the response has more than \(mostBytes) bytes")) }
        dataTask.cancel()
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: Error?) {
        end(task) { body in
            if let error { return .failure(transportError(error, of: task)) }
            guard let answer = task.response as? HTTPURLResponse else {
                return .failure(TransportError.noAnswer(detail: "the response is not HTTP"))
            }
            return .success(answer.whole(body))
        }
    }

    /// A redirect is a response.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }
}

extension HTTPURLResponse {
    fileprivate func whole(_ body: Data) -> HttpResponse {
        let headers = allHeaderFields.map { HttpHeader(name: "\($0.key)", value: "\($0.value)") }
        return HttpResponse(status: UInt16(clamping: statusCode), headers: headers, body: body)
    }
}

/// Only certainty counts as not sent: the error is from before the request is sent, and nothing of the body was sent. If
/// `URLSession` repeated a request by itself, the error is that of the last attempt, and an earlier one may have arrived.
private func transportError(_ error: Error, of task: URLSessionTask) -> TransportError {
    let detail = error.localizedDescription
    switch (error as? URLError)?.code {
    case .badURL, .unsupportedURL, .cannotFindHost, .dnsLookupFailed, .cannotConnectToHost,
        .notConnectedToInternet, .dataNotAllowed, .internationalRoamingOff, .callIsActive,
        .secureConnectionFailed, .serverCertificateHasBadDate, .serverCertificateUntrusted,
        .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid, .clientCertificateRejected,
        .clientCertificateRequired, .appTransportSecurityRequiresSecureConnection:
        return task.countOfBytesSent == 0 ? .notSent(detail: detail) : .noAnswer(detail: detail)
    default:
        return .noAnswer(detail: detail)
    }
}

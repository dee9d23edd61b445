import Foundation
import XCTest

/// A temporary folder for a test, deleted when the test ends.
func folder(_ test: XCTestCase) throws -> URL {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString, isDirectory: true)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    test.addTeardownBlock { try? FileManager.default.removeItem(at: folder) }
    return folder
}

/// Asserts that something throws an error of this kind, and passes it to further checks.
func throwing<Failure: Error>(
    _ kind: Failure.Type, file: StaticString = #filePath, line: UInt = #line, _ work: () async throws -> Void,
    check: (Failure) -> Void = { _ in }
) async throws {
    do {
        try await work()
    } catch let error as Failure {
        return check(error)
    }
    XCTFail("nothing was thrown", file: file, line: line)
}

/// A one-time event that tasks can wait for.
final class Signal: Sendable {
    private let (stream, continuation) = AsyncStream.makeStream(of: Void.self)

    func send() {
        continuation.yield()
    }

    func wait() async throws {
        for await _ in stream { return }
        try Task.checkCancellation()
    }
}

/// Runs the work on several threads at once; each waits for its own.
func onThreads(_ count: Int, _ work: @escaping @Sendable (Int) async throws -> Void) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<count {
            group.addTask {
                try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, Error>) in
                    Thread.detachNewThread {
                        let done = DispatchSemaphore(value: 0)
                        let result = Outcome()
                        Task {
                            do { try await work(number) } catch { result.error = error }
                            done.signal()
                        }
                        done.wait()
                        result.error.map { continuation.resume(throwing: $0) } ?? continuation.resume()
                    }
                }
            }
        }
        try await group.waitForAll()
    }
}

/// Written before the semaphore, read after it.
private final class Outcome: @unchecked Sendable {
    var error: Error?
}

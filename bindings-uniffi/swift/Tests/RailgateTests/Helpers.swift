import Foundation
import XCTest

/// A folder of a test's own, gone when the test is over.
func folder(_ test: XCTestCase) throws -> URL {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString, isDirectory: true)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    test.addTeardownBlock { try? FileManager.default.removeItem(at: folder) }
    return folder
}

/// That something throws an error of this kind, and what is to be said about it.
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

/// Something that happens once, and who waits for it.
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

/// Runs the work on so many threads at once, each of which waits for its own.
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

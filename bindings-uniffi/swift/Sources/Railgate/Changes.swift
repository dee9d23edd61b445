/// Things as they happen, one by one: `for try await status in client.statuses(of: "inv-1")`.
///
/// Each loop over it begins anew. Leaving the loop, or cancelling its task, ends the waiting at once; nothing goes on behind.
public struct Changes<Element: Sendable>: AsyncSequence, Sendable {
    /// What is new; none at the end.
    typealias Next = @Sendable () async throws -> [Element]?

    let begin: @Sendable () throws -> Next

    /// Where one loop stands.
    public struct Iterator: AsyncIteratorProtocol {
        let begin: @Sendable () throws -> Next
        var more: Next?
        var fetched: ArraySlice<Element> = []

        /// The next one, as soon as there is one; none at the end.
        public mutating func next() async throws -> Element? {
            while fetched.isEmpty {
                let more = try self.more ?? begin()
                self.more = more
                guard let new = try await more() else { return nil }
                fetched = new[...]
            }
            return fetched.removeFirst()
        }
    }

    /// Begins a loop.
    public func makeAsyncIterator() -> Iterator {
        Iterator(begin: begin)
    }
}

extension GatewayClient {
    /// The settlement's status now and at each change, until nothing more happens by itself.
    public func statuses(of reference: String) -> Changes<Status> {
        Changes {
            let follower = try self.follow(reference: reference)
            return { try await follower.next().map { [$0] } }
        }
    }
}

extension Outbox {
    /// Every entry as it stands, and then each as often as it changes; without end.
    public func changes() -> Changes<OutboxEntry> {
        Changes {
            let watcher = try self.watch()
            return { try await watcher.next() }
        }
    }
}

extension SandboxGateway {
    /// Every event of the gateway after the position `after`, and each that happens; without end.
    public func events(after: Int64 = 0) -> Changes<FeedEvent> {
        Changes {
            let watcher = try self.watch(after: after)
            return { try await watcher.next() }
        }
    }
}

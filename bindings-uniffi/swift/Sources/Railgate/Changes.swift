/// A sequence of elements as they arrive: changes as they happen, such as `for try await status in client.statuses(of: "inv-1")`, or a
/// list page after page.
///
/// Each loop over it starts from the beginning. Leaving it or cancelling its task ends the wait at once; nothing keeps running.
public struct Changes<Element: Sendable>: AsyncSequence, Sendable {
    /// Returns new elements; nil at the end.
    typealias Next = @Sendable () async throws -> [Element]?

    let begin: @Sendable () throws -> Next

    /// The position of one loop.
    public struct Iterator: AsyncIteratorProtocol {
        let begin: @Sendable () throws -> Next
        var more: Next?
        var fetched: ArraySlice<Element> = []

        /// The next element as soon as there is one; nil at the end.
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

    /// Starts a loop.
    public func makeAsyncIterator() -> Iterator {
        Iterator(begin: begin)
    }
}

extension Gateway {
    /// The settlement's status now and at each change, until it no longer changes by itself.
    public func statuses(of reference: String) -> Changes<Status> {
        Changes {
            let follower = try self.follow(reference: reference)
            return { try await follower.next().map { [$0] } }
        }
    }

    /// Every event of the gateway after the position `after`, then each as it happens; does not end. `epoch` is that of an earlier page.
    public func feedEvents(after: Int64 = 0, epoch: UInt32? = nil) -> Changes<FeedEvent> {
        Changes {
            let follower = try self.followFeed(after: after, epoch: epoch)
            return { try await follower.next() }
        }
    }
}

extension GatewayClient {
    /// The notifications of this device's user after the one with the id `after`, then each as it comes; by default only those that come
    /// from now on. Does not end. `locale`: the language of the texts, a BCP 47 tag, unless the user has chosen one.
    public func notificationsAsTheyCome(after: String? = nil, locale: String? = nil) -> Changes<UserNotification> {
        Changes {
            let follower = try self.followNotifications(after: after, locale: locale)
            return { try await follower.next() }
        }
    }
}

extension Outbox {
    /// Every entry in its current state, then each entry whenever it changes; does not end.
    public func changes() -> Changes<OutboxEntry> {
        Changes {
            let watcher = try self.watch()
            return { try await watcher.next() }
        }
    }
}

import Foundation

extension Gateway {
    /// Every settlement that matches, newest first, page after page.
    public func allSettlements(filter: SettlementFilter = SettlementFilter()) -> Changes<Settlement> {
        paged(filter.cursor) { cursor in
            let page = try await self.settlements(filter: filter.after(cursor))
            return (page.data, page.nextCursor)
        }
    }
}

extension GatewayClient {
    /// Every line of the statement of one currency, newest first, page after page.
    public func allEntries(currency: String, filter: StatementFilter = StatementFilter()) -> Changes<StatementEntry> {
        paged(filter.cursor) { cursor in
            let next = StatementFilter(since: filter.since, until: filter.until, limit: filter.limit, cursor: cursor)
            let page = try await self.statement(currency: currency, filter: next)
            return (page.data, page.nextCursor)
        }
    }
}

extension Webhooks {
    /// Every delivery to a webhook, newest first, page after page.
    public func allDeliveries(id: String, filter: DeliveryFilter = DeliveryFilter()) -> Changes<Delivery> {
        paged(filter.cursor) { cursor in
            let next = DeliveryFilter(status: filter.status, limit: filter.limit, cursor: cursor)
            let page = try await self.deliveries(id: id, filter: next)
            return (page.data, page.nextCursor)
        }
    }
}

extension SettlementFilter {
    fileprivate func after(_ cursor: String?) -> SettlementFilter {
        SettlementFilter(
            statuses: statuses, currency: currency, provider: provider, to: to, reference: reference, direction: direction,
            sandbox: sandbox, needsReview: needsReview, createdFrom: createdFrom, createdTo: createdTo, minAmount: minAmount,
            maxAmount: maxAmount, limit: limit, cursor: cursor)
    }
}

/// The place of one loop, which asks for one page after the other.
private final class Place: @unchecked Sendable {
    var cursor: String?
    var ended = false

    init(_ cursor: String?) {
        self.cursor = cursor
    }
}

/// Page after page: `page` returns what follows a cursor, and the next cursor.
private func paged<Element: Sendable>(
    _ first: String?, _ page: @escaping @Sendable (String?) async throws -> ([Element], String?)
) -> Changes<Element> {
    Changes {
        let place = Place(first)
        return {
            if place.ended { return nil }
            let (data, next) = try await page(place.cursor)
            place.cursor = next
            place.ended = next == nil
            return data
        }
    }
}

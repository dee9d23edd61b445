package dev.railgate

import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.flow

/** The settlement's status now and at each change, until it no longer changes by itself. */
public fun Gateway.statuses(reference: String): Flow<Status> = flow {
    follow(reference).use { follower ->
        while (true) emit(follower.next() ?: break)
    }
}

/** Every event of the gateway after the position [after], then each as it happens; does not end. [epoch] is that of an earlier page. */
public fun Gateway.feedEvents(after: Long = 0L, epoch: UInt? = null): Flow<FeedEvent> = flow {
    followFeed(after, epoch).use { follower ->
        while (true) follower.next().forEach { emit(it) }
    }
}

/**
 * The notifications of this device's user after the one with the id [after], then each as it comes; by default only those that come from
 * now on. Does not end. [locale] is the language of the texts, a BCP 47 tag, unless the user has chosen one.
 */
public fun GatewayClient.notificationsAsTheyCome(after: String? = null, locale: String? = null): Flow<UserNotification> = flow {
    followNotifications(after, locale).use { follower ->
        while (true) follower.next().forEach { emit(it) }
    }
}

/** Every settlement that matches, newest first, page after page. */
public fun Gateway.allSettlements(filter: SettlementFilter = SettlementFilter()): Flow<Settlement> =
    paged(filter.cursor) { cursor -> settlements(filter.copy(cursor = cursor)).let { it.data to it.nextCursor } }

/** Every line of the statement of one currency, newest first, page after page. */
public fun GatewayClient.allEntries(currency: String, filter: StatementFilter = StatementFilter()): Flow<StatementEntry> =
    paged(filter.cursor) { cursor -> statement(currency, filter.copy(cursor = cursor)).let { it.data to it.nextCursor } }

/** Every delivery to a webhook, newest first, page after page. */
public fun Webhooks.allDeliveries(id: String, filter: DeliveryFilter = DeliveryFilter()): Flow<Delivery> =
    paged(filter.cursor) { cursor -> deliveries(id, filter.copy(cursor = cursor)).let { it.data to it.nextCursor } }

/** Page after page: [page] returns what follows a cursor, and the next cursor. */
private fun <T> paged(first: String?, page: suspend (String?) -> Pair<List<T>, String?>): Flow<T> = flow {
    var cursor = first
    do {
        val (data, next) = page(cursor)
        data.forEach { emit(it) }
        cursor = next
    } while (cursor != null)
}

/** Every entry in its current state, then each entry whenever it changes; does not end. */
public fun Outbox.changes(): Flow<OutboxEntry> = flow {
    watch().use { watcher ->
        while (true) watcher.next().forEach { emit(it) }
    }
}

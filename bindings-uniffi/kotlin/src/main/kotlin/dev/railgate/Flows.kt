package dev.railgate

import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.flow

/** The settlement's status now and at each change, until it no longer changes by itself. */
public fun GatewayClient.statuses(reference: String): Flow<Status> = flow {
    follow(reference).use { follower ->
        while (true) emit(follower.next() ?: break)
    }
}

/** Every entry in its current state, then each entry whenever it changes; does not end. */
public fun Outbox.changes(): Flow<OutboxEntry> = flow {
    watch().use { watcher ->
        while (true) watcher.next().forEach { emit(it) }
    }
}

/** Every event of the gateway after the position [after], then each as it happens; does not end. */
public fun SandboxGateway.events(after: Long): Flow<FeedEvent> = flow {
    watch(after).use { watcher ->
        while (true) watcher.next().forEach { emit(it) }
    }
}

package dev.railgate

import java.math.BigDecimal

/**
 * What a server's client ([GatewayClient]) and the gateway on the device ([SandboxGateway]) have in common: a program that takes a
 * `Gateway` runs with either. Each function is documented there.
 */
public interface Gateway : AutoCloseable {
    public suspend fun create(request: SettlementRequest): Settlement
    public suspend fun createBatch(requests: List<SettlementRequest>): List<BatchResult>
    public suspend fun check(request: SettlementRequest): Check
    public suspend fun settlement(reference: String): Settlement
    public suspend fun status(reference: String): Status
    public fun follow(reference: String): StatusFollower
    public suspend fun settled(reference: String, reversals: Boolean): Settlement
    public suspend fun events(reference: String): List<Event>
    public suspend fun feed(after: Long, limit: UInt, epoch: UInt?): FeedPage
    public fun followFeed(after: Long, epoch: UInt?): FeedFollower
    public suspend fun settlements(filter: SettlementFilter): SettlementPage
    public suspend fun reverse(reference: String, request: ReversalRequest): Reversed
    public suspend fun reversals(reference: String): List<Reversal>
    public suspend fun reversal(reference: String, id: String): Reversal
    public suspend fun reversed(reference: String, id: String): Reversal
    public suspend fun reconcile(reference: String): Reconciliation
    public suspend fun receipt(reference: String): Receipt
    public suspend fun receiptAs(reference: String, form: ReceiptForm): ByteArray
    public suspend fun receiptKeys(): String
    public suspend fun providers(): List<Provider>
    public suspend fun provider(id: String): Provider
    public suspend fun balances(): List<Balance>
    public suspend fun balance(currency: String): Balance
}

/** The simulated operator of a sandbox, on a server or on the device. Each function is documented at [GatewayClient]. */
public interface Simulator {
    public suspend fun scenarios(): List<Scenario>
    public suspend fun fund(currency: String, amount: BigDecimal): Balance
    public suspend fun advance(reference: String, to: String, code: String?): Settlement
    public suspend fun clock(): SandboxClock
    public suspend fun setClock(frozen: Boolean?, advanceMs: ULong): SandboxClock
    public suspend fun faults(): SandboxFaults
    public suspend fun setFaults(faults: SandboxFaults): SandboxFaults
    public suspend fun reset(): ULong
}

/** Waits until a settlement no longer changes by itself, whatever becomes of its reversals. */
public suspend fun Gateway.settled(reference: String): Settlement = settled(reference, reversals = false)

/** Follows the events of all settlements from the first one on. */
public fun Gateway.followFeed(after: Long = 0L): FeedFollower = followFeed(after, null)

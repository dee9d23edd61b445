package dev.railgate.example

import dev.railgate.*
import java.math.BigDecimal
import kotlinx.coroutines.flow.fold

/** Pays all at once, with a server's client or on the device, waits until all have arrived, and returns what was paid in all. */
suspend fun pay(gateway: Gateway, salaries: List<SettlementRequest>): BigDecimal {
    for (result in gateway.createBatch(salaries)) {
        val made = result.settlement ?: error("not created: ${result.problem?.detail}")
        gateway.settled(made.reference)
    }
    val paid = SettlementFilter(statuses = listOf(SettlementStatus.COMPLETED), currency = "EUR", minAmount = BigDecimal("1"))
    return gateway.allSettlements(paid).fold(BigDecimal.ZERO) { sum, settlement -> sum + settlement.amount }
}

/** Has a server report to this URL what becomes of payments; returns the secret that verifies the reports. */
suspend fun report(client: GatewayClient, url: String): String? =
    client.webhooks().create(NewWebhook(url, events = listOf("settlement.completed", "settlement.failed"))).secret

/** The books of a server, page by page, and as a file. */
suspend fun books(client: GatewayClient): ByteArray {
    client.allEntries("EUR").collect { println("${it.at} ${it.kind} ${it.amount} ${it.balance}") }
    return client.export(SettlementFilter(), ExportForm.CSV)
}

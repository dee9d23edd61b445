package dev.railgate.example

import dev.railgate.*
import java.math.BigDecimal
import java.security.KeyPairGenerator
import java.security.spec.ECGenParameterSpec

suspend fun main(arguments: Array<String>) {
    // On Android: KeyPairGenerator.getInstance("EC", "AndroidKeyStore"); made once, and client.session() is kept beside it.
    val keys = KeyPairGenerator.getInstance("EC").apply { initialize(ECGenParameterSpec("secp256r1")) }.generateKeyPair()
    val client = GatewayClient(arguments[0], Environment.SANDBOX, KeyStoreSigner(keys.private, keys.public), OkHttpTransport())
    println("enrolled ${client.enroll("Corner shop").clientId}")

    client.create(SettlementRequest(BigDecimal("25.00"), "EUR", "sim:ok", reference = "inv-1"))
    client.statuses("inv-1").collect { println("status ${it.status}") }

    val claims = verifyReceipt(client.receipt("inv-1").jws, client.receiptKeys())
    println("receipt ${claims.amount} ${claims.currency} ${claims.status}")
}

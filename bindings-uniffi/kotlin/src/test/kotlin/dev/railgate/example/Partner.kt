package dev.railgate.example

import dev.railgate.*

/** Sends a partner's bundle as JSON and asks for its review; returns its path. The exception says what is wrong; then nothing is kept. */
suspend fun submit(partner: GatewayClient, bundle: ByteArray): String {
    val sent = partner.raw("POST", "/api/v1/bundles", bundle)
    check(sent.status.toInt() == 201) { sent.body.decodeToString() } // each of its `errors` has a `pointer` into the bundle
    val path = sent.headers.first { it.name.equals("location", ignoreCase = true) }.value
    val asked = partner.raw("POST", "$path/submit")
    check(asked.status.toInt() == 200) { asked.body.decodeToString() }
    return path
}

/** The bundle as JSON, with its `status` and what the test of its endpoint found so far. */
suspend fun status(partner: GatewayClient, path: String): String = partner.raw("GET", path).body.decodeToString()

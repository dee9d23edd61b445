package dev.railgate

import java.io.File
import java.security.KeyFactory
import java.security.KeyPair
import java.security.spec.PKCS8EncodedKeySpec
import java.security.spec.X509EncodedKeySpec

const val ENTRIES = 5

/** The files that a process needs to continue as the same client. */
fun keep(folder: File, keys: KeyPair, session: String) {
    folder.resolve("private").writeBytes(keys.private.encoded)
    folder.resolve("public").writeBytes(keys.public.encoded)
    folder.resolve("session").writeText(session)
}

private fun signerOf(folder: File): Signer {
    val keys = KeyFactory.getInstance("EC")
    val private = keys.generatePrivate(PKCS8EncodedKeySpec(folder.resolve("private").readBytes()))
    return KeyStoreSigner(private, keys.generatePublic(X509EncodedKeySpec(folder.resolve("public").readBytes())))
}

/** Adds settlements to an outbox and sends them until it is killed: FOLDER KILL_AT before|after. */
fun main(arguments: Array<String>) = test {
    val folder = File(arguments[0])
    val killer = Killer(OkHttpTransport(), arguments[1].toInt(), arguments[2] == "after")
    val client = over(signerOf(folder), folder.resolve("session").readText(), killer)
    val outbox = openOutbox(folder.resolve("outbox.db").path, client)
    repeat(ENTRIES) { outbox.put(request("7", "pay-$it")) }
    while (outbox.entries().any { it.state != OutboxState.DELIVERED }) outbox.flush()
    println(outbox.entries().map { it.settlement!!.id }.sorted().joinToString(" "))
}

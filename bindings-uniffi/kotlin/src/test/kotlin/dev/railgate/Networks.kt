package dev.railgate

import kotlin.random.Random
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.yield

/** No network until there is one. */
class Offline(private val inner: HttpTransport) : HttpTransport {
    @Volatile
    var online = false

    override suspend fun send(request: HttpRequest) =
        if (online) inner.send(request) else throw TransportException.NotSent("there is no network")

    override suspend fun pause(ms: ULong) = yield()
}

/**
 * Loses requests and answers, sends twice, cuts answers short, makes some up, and gives answers late, out of order and to
 * others. The same seed lies the same way.
 */
class Liar(private val inner: HttpTransport, seed: Int) : HttpTransport {
    private val random = Random(seed)
    private val kept = mutableListOf<HttpResponse>()
    val told = mutableSetOf<String>()

    override suspend fun send(request: HttpRequest): HttpResponse {
        val way = WAYS.random(random)
        told += way
        return when (way) {
            "unsent" -> throw TransportException.NotSent(way)
            "made up" -> HttpResponse(422u, emptyList(), """{"code":"insufficient_funds","retryable":false,"status":422}""".toByteArray())
            else -> bent(way, request, inner.send(request))
        }
    }

    private suspend fun bent(way: String, request: HttpRequest, answer: HttpResponse): HttpResponse = when (way) {
        "honest" -> answer
        "twice" -> inner.send(request)
        "cut" -> HttpResponse(answer.status, answer.headers, answer.body.copyOf(answer.body.size / 2))
        "swapped" -> kept.removeLastOrNull().also { kept += answer } ?: throw TransportException.NoAnswer(way)
        "late" -> throw TransportException.NoAnswer(way).also { kept.add(0, answer) }
        else -> throw TransportException.NoAnswer(way)
    }

    override suspend fun pause(ms: ULong) = yield()

    private companion object {
        val WAYS = listOf("honest", "honest", "unsent", "lost", "twice", "late", "cut", "swapped", "made up")
    }
}

/** Carries what [isLast] is not true of; of that one it keeps the answer to itself, for ever. */
class Silent(private val inner: HttpTransport, private val isLast: (HttpRequest) -> Boolean, private val carried: () -> Unit) : HttpTransport {
    override suspend fun send(request: HttpRequest): HttpResponse {
        val answer = inner.send(request)
        if (!isLast(request)) return answer
        carried()
        awaitCancellation()
    }

    override suspend fun pause(ms: ULong) = yield()
}

/** Kills its own process at the given create: before it leaves, or when its answer is here and nobody was told. */
class Killer(private val inner: HttpTransport, private val at: Int, private val after: Boolean) : HttpTransport {
    private var creates = 0

    override suspend fun send(request: HttpRequest): HttpResponse {
        val now = isCreate(request) && ++creates == at
        if (now && !after) kill()
        val answer = inner.send(request)
        if (now) kill()
        return answer
    }

    override suspend fun pause(ms: ULong) = yield()

    /** Hard: nothing is cleaned up, nothing is flushed. */
    private suspend fun kill() {
        ProcessBuilder("kill", "-KILL", ProcessHandle.current().pid().toString()).start()
        awaitCancellation()
    }
}

fun isCreate(request: HttpRequest) = request.method == "POST" && request.url.endsWith("/settlements")

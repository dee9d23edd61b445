package dev.railgate

import kotlin.random.Random
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.yield

/** A network that is unavailable until it is switched on. */
class Offline(private val inner: HttpTransport) : HttpTransport {
    @Volatile
    var online = false

    override suspend fun send(request: HttpRequest) =
        if (online) inner.send(request) else throw TransportException.NotSent("there is no network")

    override suspend fun pause(ms: ULong) = yield()
}

/**
 * Loses requests and responses, sends twice, truncates responses, makes some up, and returns responses late, out of order and to
 * other calls. The same seed behaves the same way.
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

/** Sends requests to this path and loses the response to the one with this number, from 1. */
class Loses(private val inner: HttpTransport, private val path: String, private val only: Int) : HttpTransport {
    var sent = 0
        private set

    override suspend fun send(request: HttpRequest): HttpResponse {
        val answer = inner.send(request)
        if (request.url.endsWith(path) && ++sent == only) throw TransportException.NoAnswer("lost")
        return answer
    }

    override suspend fun pause(ms: ULong) = yield()
}

/** Forwards requests; withholds the response to the one for which [isLast] is true, for ever. */
class Silent(private val inner: HttpTransport, private val isLast: (HttpRequest) -> Boolean, private val carried: () -> Unit) : HttpTransport {
    override suspend fun send(request: HttpRequest): HttpResponse {
        val answer = inner.send(request)
        if (!isLast(request)) return answer
        carried()
        awaitCancellation()
    }

    override suspend fun pause(ms: ULong) = yield()
}

/** Kills its own process at the given create: before it is sent, or when its response arrived but was not reported. */
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

    /** Kills without cleanup and without a flush. */
    private suspend fun kill() {
        ProcessBuilder("kill", "-KILL", ProcessHandle.current().pid().toString()).start()
        awaitCancellation()
    }
}

fun isCreate(request: HttpRequest) = request.method == "POST" && request.url.endsWith("/settlements")

package dev.railgate

import java.io.IOException
import java.net.ProtocolException
import java.util.concurrent.SynchronousQueue
import java.util.concurrent.ThreadFactory
import java.util.concurrent.ThreadPoolExecutor
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicBoolean
import kotlin.coroutines.resume
import kotlin.coroutines.resumeWithException
import kotlinx.coroutines.delay
import kotlinx.coroutines.suspendCancellableCoroutine
import okhttp3.Authenticator
import okhttp3.Call
import okhttp3.Callback
import okhttp3.Dispatcher
import okhttp3.Interceptor
import okhttp3.MediaType
import okhttp3.OkHttpClient
import okhttp3.Request
import okhttp3.RequestBody
import okhttp3.Response
import okio.BufferedSink

/**
 * Over OkHttp; the app brings that dependency. Whatever client is given, it follows no redirect and repeats nothing: a request
 * is sent once or not at all. Each of a host's addresses is tried until one takes the connection. A call that is cancelled
 * closes its connection. The client's connections are shared, its threads are not.
 */
public class OkHttpTransport(client: OkHttpClient = OkHttpClient()) : HttpTransport {
    private val client = client.newBuilder()
        .followRedirects(false)
        .followSslRedirects(false)
        // Without it, a host is given up when its first address does not answer. What was sent is not sent again: see Once.
        .retryOnConnectionFailure(true)
        .authenticator(Authenticator.NONE)
        // An answer belongs to the request that it names; one that is kept was another's.
        .cache(null)
        .addInterceptor(Patience)
        .addNetworkInterceptor(Once)
        .dispatcher(dispatcher())
        .build()

    override suspend fun send(request: HttpRequest): HttpResponse {
        val call = client.newCall(built(request))
        call.timeout().timeout(request.timeoutMs.toLong(), TimeUnit.MILLISECONDS)
        return answer(call)
    }

    override suspend fun pause(ms: ULong): Unit = delay(ms.toLong())

    private fun built(request: HttpRequest): Request = try {
        val builder = Request.Builder().url(request.url).tag(Sent::class.java, Sent())
        request.headers.forEach { builder.addHeader(it.name, it.value) }
        val bodyless = request.method == "GET" || request.method == "HEAD"
        builder.method(request.method, if (bodyless) null else OneShot(request.body)).build()
    } catch (error: IllegalArgumentException) {
        throw TransportException.NotSent(error.toString())
    }

    private suspend fun answer(call: Call): HttpResponse = suspendCancellableCoroutine { continuation ->
        continuation.invokeOnCancellation { call.cancel() }
        call.enqueue(object : Callback {
            override fun onFailure(call: Call, e: IOException) = continuation.resumeWithException(failure(call, e))

            override fun onResponse(call: Call, response: Response) {
                val answer = try {
                    whole(response)
                } catch (error: Throwable) {
                    // Memory that runs out, too: nobody else tells who waits.
                    return continuation.resumeWithException(TransportException.NoAnswer(error.toString()))
                }
                continuation.resume(answer)
            }
        })
    }

    private fun whole(response: Response): HttpResponse = response.use {
        val headers = it.headers.map { (name, value) -> HttpHeader(name, value) }
        val body = it.body?.source()
        if (body?.request(MOST_BYTES + 1) == true) throw IOException("the answer has more than $MOST_BYTES bytes")
        HttpResponse(it.code.toUShort(), headers, body?.readByteArray() ?: ByteArray(0))
    }

    /** What failed last says nothing: before it, an interceptor of the app's may have got the request through. */
    private fun failure(call: Call, error: IOException): TransportException =
        if (call.request().tag(Sent::class.java)?.once?.get() == false) {
            TransportException.NotSent(error.toString())
        } else {
            TransportException.NoAnswer(error.toString())
        }
}

/** OkHttp's own asks a host for five things at once: as many followed settlements would hold up every other call. */
private fun dispatcher(): Dispatcher {
    val daemons = ThreadFactory { task -> Thread(task, "railgate").apply { isDaemon = true } }
    val threads = ThreadPoolExecutor(0, Int.MAX_VALUE, 10, TimeUnit.SECONDS, SynchronousQueue(), daemons)
    return Dispatcher(threads).apply {
        maxRequests = MOST_AT_ONCE
        maxRequestsPerHost = MOST_AT_ONCE
    }
}

private const val MOST_AT_ONCE = 256

/** No answer of a gateway comes near it; one without end would take all memory. */
private const val MOST_BYTES = 16L * 1024 * 1024

/** Whether a request may have been on the network. */
private class Sent {
    val once = AtomicBoolean()
}

/** OkHttp gives an answer after which it would ask again, such as a 503 that says so, rather than send this a second time. */
private class OneShot(private val bytes: ByteArray) : RequestBody() {
    // Without a media type of OkHttp's own: the signed header is the one that is sent.
    override fun contentType(): MediaType? = null

    override fun contentLength(): Long = bytes.size.toLong()

    override fun isOneShot(): Boolean = true

    override fun writeTo(sink: BufferedSink) {
        sink.write(bytes)
    }
}

/** OkHttp and an app's interceptors ask again by themselves; a signed request counts once. */
private object Once : Interceptor {
    override fun intercept(chain: Interceptor.Chain): Response {
        // That of the call: the app's interceptors may have made another request of it.
        val sent = chain.call().request().tag(Sent::class.java)
        // Of all failures, OkHttp does not try to recover from this one.
        if (sent != null && !sent.once.compareAndSet(false, true)) throw ProtocolException("a request is not sent again")
        return chain.proceed(chain.request())
    }
}

/**
 * OkHttp finds out whether a silent HTTP/2 connection is dead when a read takes too long, not when a call does: without that,
 * the next call would use it again, and so on. A little shorter than the call's time, so that it is up first.
 */
private object Patience : Interceptor {
    override fun intercept(chain: Interceptor.Chain): Response {
        val ms = TimeUnit.NANOSECONDS.toMillis(chain.call().timeout().timeoutNanos()) * 9 / 10
        val read = ms.coerceIn(1, Int.MAX_VALUE.toLong()).toInt()
        return chain.withReadTimeout(read, TimeUnit.MILLISECONDS).proceed(chain.request())
    }
}

package dev.railgate

import java.io.IOException
import java.io.InterruptedIOException
import java.net.ConnectException
import java.net.ProtocolException
import java.net.UnknownHostException
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
 * A transport over OkHttp, a dependency that the app adds. With any client it follows no redirect and repeats nothing: a request
 * is sent at most once. Each address of a host is tried until one accepts the connection. A cancelled call
 * closes its connection. The client's connections are shared, its threads are not.
 */
public class OkHttpTransport(client: OkHttpClient = OkHttpClient()) : HttpTransport {
    private val client = client.newBuilder()
        .followRedirects(false)
        .followSslRedirects(false)
        // Otherwise OkHttp gives up when a host's first address does not respond. `Once` prevents a second send.
        .retryOnConnectionFailure(true)
        .authenticator(Authenticator.NONE)
        // A response names its request; a cached one would belong to another request.
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
                    // Also out of memory: otherwise the waiting caller would never resume.
                    return continuation.resumeWithException(TransportException.NoAnswer(error.toString()))
                }
                continuation.resume(answer)
            }
        })
    }

    private fun whole(response: Response): HttpResponse = response.use {
        val headers = it.headers.map { (name, value) -> HttpHeader(name, value) }
        val body = it.body?.source()
        if (body?.request(MOST_BYTES + 1) == true) throw IOException("the response has more than $MOST_BYTES bytes")
        HttpResponse(it.code.toUShort(), headers, body?.readByteArray() ?: ByteArray(0))
    }

    /** The last error alone proves nothing: an interceptor of the app may have sent the request before it. */
    private fun failure(call: Call, error: IOException): TransportException =
        if (call.request().tag(Sent::class.java)?.once?.get() == false) {
            TransportException.NotSent(why(error))
        } else {
            TransportException.NoAnswer(why(error))
        }
}

/** The reason for which there is no connection or no response, for people. */
private fun why(error: IOException): String = when (error) {
    is ConnectException -> "connection refused, or no way there: ${error.message}"
    is UnknownHostException -> "the host is not found, or this device is offline: ${error.message}"
    is InterruptedIOException -> "time-out: ${error.message}"
    else -> error.toString()
}

/** OkHttp's default allows five concurrent calls to a host: five followed settlements would block every other call. */
private fun dispatcher(): Dispatcher {
    val daemons = ThreadFactory { task -> Thread(task, "railgate").apply { isDaemon = true } }
    val threads = ThreadPoolExecutor(0, Int.MAX_VALUE, 10, TimeUnit.SECONDS, SynchronousQueue(), daemons)
    return Dispatcher(threads).apply {
        maxRequests = MOST_AT_ONCE
        maxRequestsPerHost = MOST_AT_ONCE
    }
}

private const val MOST_AT_ONCE = 256

/** Far more than any response of a gateway; an endless one would exhaust the memory. */
private const val MOST_BYTES = 16L * 1024 * 1024

/** Records whether a request may have been sent. */
private class Sent {
    val once = AtomicBoolean()
}

/** A body that OkHttp does not send a second time: it returns the response instead of retrying, for example after a 503. */
private class OneShot(private val bytes: ByteArray) : RequestBody() {
    // No media type from OkHttp, so that the signed header is sent.
    override fun contentType(): MediaType? = null

    override fun contentLength(): Long = bytes.size.toLong()

    override fun isOneShot(): Boolean = true

    override fun writeTo(sink: BufferedSink) {
        sink.write(bytes)
    }
}

/** Prevents retries by OkHttp and the app's interceptors, because a signed request counts once. */
private object Once : Interceptor {
    override fun intercept(chain: Interceptor.Chain): Response {
        // The tag of the call: the app's interceptors may have replaced the request.
        val sent = chain.call().request().tag(Sent::class.java)
        // OkHttp does not retry after this kind of exception.
        if (sent != null && !sent.once.compareAndSet(false, true)) throw ProtocolException("a request is not sent again")
        return chain.proceed(chain.request())
    }
}

/**
 * Sets a read timeout. OkHttp detects a dead HTTP/2 connection by a read timeout, not by a call timeout; otherwise every
 * later call would use it again. It is slightly shorter than the call timeout, so that it expires first.
 */
private object Patience : Interceptor {
    override fun intercept(chain: Interceptor.Chain): Response {
        val ms = TimeUnit.NANOSECONDS.toMillis(chain.call().timeout().timeoutNanos()) * 9 / 10
        val read = ms.coerceIn(1, Int.MAX_VALUE.toLong()).toInt()
        return chain.withReadTimeout(read, TimeUnit.MILLISECONDS).proceed(chain.request())
    }
}

package dev.railgate

import com.sun.net.httpserver.HttpServer
import java.io.Closeable
import java.io.File
import java.io.IOException
import java.net.InetAddress
import java.net.InetSocketAddress
import java.net.ServerSocket
import java.net.Socket
import java.util.concurrent.atomic.AtomicInteger
import kotlin.concurrent.thread
import kotlin.test.assertEquals
import kotlin.test.assertFailsWith
import kotlin.test.assertTrue
import okhttp3.Cache
import okhttp3.Dns
import okhttp3.Interceptor
import okhttp3.MediaType
import okhttp3.OkHttpClient
import okhttp3.Protocol
import okhttp3.ResponseBody
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.io.TempDir

/** OkHttp, configured by an app, over misbehaving servers. */
class TransportTest {
    private val loopback = InetAddress.getByName("127.0.0.1")

    private fun post(port: Int, host: String = "127.0.0.1", timeoutMs: ULong = 30_000u) =
        HttpRequest("POST", "http://$host:$port/", emptyList(), "x".toByteArray(), timeoutMs)

    /** Serves each connection on a separate thread until it is closed. */
    private inner class Odd(private val serve: Odd.(Socket) -> Unit) : Closeable {
        private val listening = ServerSocket(0, 50, loopback)
        val port get() = listening.localPort
        val connections = AtomicInteger()

        init {
            thread(isDaemon = true) {
                // Closing it ends the loop.
                runCatching { while (true) listening.accept().let { begin(it) } }
            }
        }

        private fun begin(connection: Socket) {
            connections.incrementAndGet()
            // Errors after the client closed the connection are ignored.
            thread(isDaemon = true) { runCatching { connection.use { serve(it) } } }
        }

        override fun close() = listening.close()
    }

    private fun Socket.readSome() = getInputStream().read(ByteArray(4096))

    @Test
    fun `a request that arrived is in doubt, although the app's own second try cannot connect`() = test {
        val arrived = AtomicInteger()
        val cuts = Odd {
            close()
            if (it.readSome() > 0) arrived.incrementAndGet()
        }
        val again = Interceptor { chain ->
            try {
                chain.proceed(chain.request())
            } catch (_: IOException) {
                chain.proceed(chain.request())
            }
        }
        val transport = OkHttpTransport(OkHttpClient.Builder().addInterceptor(again).build())
        cuts.use { assertFailsWith<TransportException.NoAnswer> { transport.send(post(it.port)) } }
        assertEquals(1, arrived.get())
    }

    @Test
    fun `nothing was sent where nobody speaks TLS`() = test {
        Odd { it.getOutputStream().write("HTTP/1.0 400\r\n\r\n".toByteArray()) }.use {
            val secure = post(it.port).copy(url = "https://127.0.0.1:${it.port}/")
            assertFailsWith<TransportException.NotSent> { OkHttpTransport().send(secure) }
        }
    }

    @Test
    fun `another address of the host is tried`() = test {
        val server = HttpServer.create(InetSocketAddress(loopback, 0), 0)
        val asked = AtomicInteger()
        server.createContext("/") {
            asked.incrementAndGet()
            it.sendResponseHeaders(200, -1)
            it.close()
        }
        server.start()
        try {
            val both = object : Dns {
                override fun lookup(hostname: String) = listOf(InetAddress.getByName("::1"), loopback)
            }
            val transport = OkHttpTransport(OkHttpClient.Builder().dns(both).build())
            assertEquals(200u, transport.send(post(server.address.port, "two.example")).status)
            assertEquals(1, asked.get())
        } finally {
            server.stop(0)
        }
    }

    @Test
    fun `a read whose connection breaks is not sent again`() = test {
        Odd { it.readSome() }.use {
            val read = HttpRequest("GET", "http://127.0.0.1:${it.port}/", emptyList(), ByteArray(0), 30_000u)
            assertFailsWith<TransportException.NoAnswer> { OkHttpTransport().send(read) }
        }
    }

    @Test
    fun `an app's cache answers nothing`(@TempDir folder: File) = test {
        Cache(folder, 1_000_000).use { cache ->
            val client = connect(OkHttpTransport(OkHttpClient.Builder().cache(cache).build()))
            assertEquals(client.receiptKeys(), client.receiptKeys())
        }
    }

    @Test
    fun `an answer without end is none`() = test {
        val endless = Odd {
            it.readSome()
            val output = it.getOutputStream()
            output.write("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n".toByteArray())
            // It does end: this detects a client that accepts everything without exhausting the memory.
            repeat(17) { output.write(ByteArray(1 shl 20)) }
        }
        endless.use { assertFailsWith<TransportException.NoAnswer> { OkHttpTransport().send(post(it.port)).body.size } }
    }

    @Test
    fun `whatever happens while an answer is read, its call comes back`() = test {
        val answers = Odd {
            it.readSome()
            it.getOutputStream().write("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n".toByteArray())
        }
        val fails = Interceptor { chain ->
            val body = object : ResponseBody() {
                override fun contentType(): MediaType? = null
                override fun contentLength() = -1L
                override fun source() = throw OutOfMemoryError("made up")
            }
            chain.proceed(chain.request()).newBuilder().body(body).build()
        }
        val transport = OkHttpTransport(OkHttpClient.Builder().addInterceptor(fails).build())
        answers.use { assertFailsWith<TransportException.NoAnswer> { transport.send(post(it.port)) } }
    }

    @Test
    fun `a connection that has gone silent is not used for ever`() = test {
        // HTTP/2: empty settings, acknowledges the client's, then falls silent, as after a change of networks.
        val mute = Odd {
            it.getOutputStream().write(byteArrayOf(0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 4, 1, 0, 0, 0, 0))
            while (it.readSome() >= 0) Unit
        }
        mute.use {
            val transport = OkHttpTransport(OkHttpClient.Builder().protocols(listOf(Protocol.H2_PRIOR_KNOWLEDGE)).build())
            for (tries in 1..20) {
                assertFailsWith<TransportException.NoAnswer> { transport.send(post(it.port, timeoutMs = 2_000u)) }
                if (it.connections.get() > 1) break
            }
            assertTrue(it.connections.get() > 1, "the silent connection was used each time")
        }
    }
}

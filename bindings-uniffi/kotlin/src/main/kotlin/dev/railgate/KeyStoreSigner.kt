package dev.railgate

import java.security.GeneralSecurityException
import java.security.PrivateKey
import java.security.PublicKey
import java.security.Signature
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.withContext

/**
 * A P-256 key in a key store, such as the Android Keystore: the private key never leaves it.
 *
 * On Android, make one with `KeyPairGenerator` for `EC` in `AndroidKeyStore`, with `secp256r1`, `PURPOSE_SIGN` and `DIGEST_SHA256`.
 */
public class KeyStoreSigner(private val privateKey: PrivateKey, private val publicKey: PublicKey) : Signer {
    override fun publicKey(): ByteArray = publicKey.encoded

    override suspend fun sign(message: ByteArray): ByteArray = withContext(Dispatchers.IO) {
        try {
            Signature.getInstance("SHA256withECDSA").run {
                initSign(privateKey)
                update(message)
                sign()
            }
        } catch (error: GeneralSecurityException) {
            throw SignerException.Unavailable(error.toString())
        }
    }
}

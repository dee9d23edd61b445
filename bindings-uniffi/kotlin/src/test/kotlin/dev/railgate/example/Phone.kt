package dev.railgate.example

import dev.railgate.*

/** Has pushes sent to the address that a push service gave the app, and has the package measure its calls. */
suspend fun subscribe(phone: GatewayClient, endpoint: String, keys: PushKeys) {
    phone.measureQuality(QualityOptions(appVersion = "3.2.0", os = "android 16", network = NetworkKind.CELLULAR))
    phone.putPreferences(NotificationPreferences(detail = "full")) // otherwise a push names no payment
    phone.subscribePush(endpoint, keys, locale = "en") // at every start; keys.secret() is kept
}

/** The payment that a message of the push service asks the user to approve; null if it tells something else. */
suspend fun waiting(phone: GatewayClient, keys: PushKeys, message: ByteArray): Settlement? {
    val push = keys.decrypt(message)
    return if (push.kind == NotificationKind.APPROVAL_REQUESTED) phone.settlement(push.settlementId!!) else null
}

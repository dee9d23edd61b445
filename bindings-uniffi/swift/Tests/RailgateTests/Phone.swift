import Foundation
import Railgate

/// Has pushes sent to the address that a push service gave the app, and has the package measure its calls.
func subscribe(_ phone: GatewayClient, endpoint: String, keys: PushKeys) async throws {
    try phone.measureQuality(options: QualityOptions(appVersion: "3.2.0", os: "ios 26.1", network: .cellular))
    _ = try await phone.putPreferences(preferences: NotificationPreferences(detail: "full"))  // otherwise a push names no payment
    _ = try await phone.subscribePush(endpoint: endpoint, keys: keys, locale: "en")  // at every start; keys.secret() is kept
}

/// The payment that a message of the push service asks the user to approve; nil if it tells something else.
func waiting(_ phone: GatewayClient, keys: PushKeys, message: Data) async throws -> Settlement? {
    let push = try keys.decrypt(message: message)
    guard push.kind == .approvalRequested, let id = push.settlementId else { return nil }
    return try await phone.settlement(reference: id)
}

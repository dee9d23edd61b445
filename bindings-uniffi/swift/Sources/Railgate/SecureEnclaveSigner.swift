#if canImport(Security)
import Foundation
import Security

/// A P-256 key of the Secure Enclave, identified by its tag in the app's keychain. The private key never leaves the device.
///
/// A key made here can sign as soon as the device has been unlocked once since it started, even while it is locked, so that a
/// background task can flush an outbox. With `requiring`, its owner must be present; an existing key keeps its rules.
///
/// A simulator and a Mac without an enclave have no such keys: use `inSecureEnclave: false` to keep one in the keychain.
public final class SecureEnclaveSigner: Signer, @unchecked Sendable {
    private let key: SecKey

    /// Uses a key that the app provides: a P-256 key that may sign.
    public init(key: SecKey) {
        self.key = key
    }

    /// Finds the key with this tag, or makes it.
    ///
    /// - Parameters:
    ///   - tag: the app's name of the key, such as `dev.example.shop.railgate`.
    ///   - requiring: what its owner must do for each signature, such as `.biometryCurrentSet`; nothing by default.
    ///   - inSecureEnclave: whether the key is in the enclave.
    /// - Throws: `SignerError.unavailable`.
    public convenience init(tag: String, requiring: SecAccessControlCreateFlags = [], inSecureEnclave: Bool = true) throws {
        let found = try Self.find(tag)
        self.init(key: try found ?? Self.make(tag, requiring, inSecureEnclave))
    }

    private static func find(_ tag: String) throws -> SecKey? {
        let query: [CFString: Any] = [
            kSecClass: kSecClassKey,
            kSecAttrApplicationTag: Data(tag.utf8),
            kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom,
            kSecAttrKeyClass: kSecAttrKeyClassPrivate,
            kSecReturnRef: true,
        ]
        var found: CFTypeRef?
        switch SecItemCopyMatching(query as CFDictionary, &found) {
        case errSecSuccess:
            guard let found, CFGetTypeID(found) == SecKeyGetTypeID() else { return nil }
            return (found as! SecKey)
        case errSecItemNotFound:
            return nil
        case let status:
            throw SignerError.unavailable(detail: SecCopyErrorMessageString(status, nil) as String? ?? "keychain error \(status)")
        }
    }

    private static func make(_ tag: String, _ requiring: SecAccessControlCreateFlags, _ inSecureEnclave: Bool) throws -> SecKey {
        var failure: Unmanaged<CFError>?
        let flags = inSecureEnclave ? requiring.union(.privateKeyUsage) : requiring
        let when = kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly
        guard let access = SecAccessControlCreateWithFlags(nil, when, flags, &failure) else {
            throw unavailable(failure)
        }
        let kept: [CFString: Any] = [
            kSecAttrIsPermanent: true,
            kSecAttrApplicationTag: Data(tag.utf8),
            kSecAttrAccessControl: access,
        ]
        var attributes: [CFString: Any] = [
            kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom,
            kSecAttrKeySizeInBits: 256,
            kSecPrivateKeyAttrs: kept,
        ]
        if inSecureEnclave {
            attributes[kSecAttrTokenID] = kSecAttrTokenIDSecureEnclave
        }
        guard let key = SecKeyCreateRandomKey(attributes as CFDictionary, &failure) else { throw unavailable(failure) }
        return key
    }

    /// The uncompressed point of the public key: 65 bytes.
    public func publicKey() throws -> Data {
        var failure: Unmanaged<CFError>?
        guard let half = SecKeyCopyPublicKey(key), let point = SecKeyCopyExternalRepresentation(half, &failure) else {
            throw unavailable(failure)
        }
        return point as Data
    }

    /// Signs with ECDSA and SHA-256, in DER. This may ask the owner; no thread of the app's tasks waits for that.
    public func sign(message: Data) async throws -> Data {
        let key = self.key
        return try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global(qos: .userInitiated).async {
                var failure: Unmanaged<CFError>?
                if let signature = SecKeyCreateSignature(key, .ecdsaSignatureMessageX962SHA256, message as CFData, &failure) {
                    continuation.resume(returning: signature as Data)
                } else {
                    continuation.resume(throwing: unavailable(failure))
                }
            }
        }
    }
}

private func unavailable(_ failure: Unmanaged<CFError>?) -> SignerError {
    let error = failure?.takeRetainedValue()
    return .unavailable(detail: error.map { CFErrorCopyDescription($0) as String } ?? "the key cannot be used")
}
#endif

#if canImport(Security)
import Foundation
import Security

/// A P-256 key of the Secure Enclave, found again by its tag in the app's keychain: the private half never leaves the device.
///
/// A key that is made here signs from the first time on that the device was unlocked since it was started, locked or not: a
/// background task can flush an outbox. With `requiring`, its owner must be there; a key that was made before keeps its rules.
///
/// A simulator and a Mac without an enclave have no such keys: `inSecureEnclave: false` keeps one in the keychain alone.
public final class SecureEnclaveSigner: Signer, @unchecked Sendable {
    private let key: SecKey

    /// A key that the app got in its own way: a P-256 key that may sign.
    public init(key: SecKey) {
        self.key = key
    }

    /// The key with this tag, made if there is none yet.
    ///
    /// - Parameters:
    ///   - tag: the app's own name of it, such as `dev.example.shop.railgate`.
    ///   - requiring: what its owner must do each time that it signs, such as `.biometryCurrentSet`; nothing unless given.
    ///   - inSecureEnclave: whether it is one of the enclave's.
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

    /// The point of the curve, uncompressed: 65 bytes.
    public func publicKey() throws -> Data {
        var failure: Unmanaged<CFError>?
        guard let half = SecKeyCopyPublicKey(key), let point = SecKeyCopyExternalRepresentation(half, &failure) else {
            throw unavailable(failure)
        }
        return point as Data
    }

    /// ECDSA with SHA-256, in DER. Its owner may be asked meanwhile; no thread of an app's tasks waits for that.
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

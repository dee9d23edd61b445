import Foundation
import Railgate

/// A bundle, or a step of it, was refused: the body has a problem.
struct BundleRefused: Error { let problem: String }

/// Sends a partner's bundle as JSON and asks for its review; returns its path. The error says what is wrong with it; then nothing is kept.
func submit(_ bundle: Data, of partner: GatewayClient) async throws -> String {
    let sent = try await partner.raw(method: "POST", path: "/api/v1/bundles", body: bundle)
    guard sent.status == 201, let path = sent.headers.first(where: { $0.name.lowercased() == "location" })?.value else {
        throw BundleRefused(problem: String(decoding: sent.body, as: UTF8.self))  // each of its `errors` has a `pointer` into the bundle
    }
    let asked = try await partner.raw(method: "POST", path: path + "/submit")
    guard asked.status == 200 else { throw BundleRefused(problem: String(decoding: asked.body, as: UTF8.self)) }
    return path
}

/// The bundle as JSON, with its `status` and what the test of its endpoint found so far.
func status(of path: String, for partner: GatewayClient) async throws -> Data {
    try await partner.raw(method: "GET", path: path).body
}

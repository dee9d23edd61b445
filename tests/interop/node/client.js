// A railgate client with the npm package http-message-signatures:  node client.js https://gateway.example
//
// Web Crypto generates the key as non-extractable: neither this program nor anything injected into it can read it.
// The same code runs in a browser, with the key kept in IndexedDB. Each step is printed as one line of JSON.
import { Buffer } from 'node:buffer'
import nodeCrypto from 'node:crypto'
import { httpbis } from 'http-message-signatures'

const { subtle } = (globalThis.crypto ?? nodeCrypto.webcrypto)
const base = process.argv[2]
if (!base) throw new Error('usage: node client.js BASE_URL')
const api = `${base}/api/v1`

// --- The key ---------------------------------------------------------------------------------------------------------

const sha256 = async (text) => Buffer.from(await subtle.digest('SHA-256', Buffer.from(text)))

const { privateKey, publicKey } = await subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, false, ['sign'])
const { crv, kty, x, y } = await subtle.exportKey('jwk', publicKey)
const jwk = { crv, kty, x, y }
const key = {
  // The RFC 7638 thumbprint: the hash of these four members in this order.
  id: (await sha256(JSON.stringify(jwk))).toString('base64url'),
  alg: 'ecdsa-p256-sha256',
  // Web Crypto returns the 64 bytes r‖s that RFC 9421 requires.
  sign: async (data) => Buffer.from(await subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, privateKey, data)),
}

// --- A signed call ---------------------------------------------------------------------------------------------------

let challenge // The latest from the server; every response carries a fresh one.
let token
let calls = 0

/** A signed request that was not sent yet, signed by the key or in a session. */
async function sign(method, path, body, by = key) {
  const headers = {}
  if (token) headers.Authorization = `Bearer ${token}`
  if (body !== undefined) {
    headers['Content-Type'] = 'application/json'
    headers['Content-Digest'] = `sha-256=:${(await sha256(body)).toString('base64')}:`
  }
  const fields = ['@method', '@target-uri', ...Object.keys(headers).map((name) => name.toLowerCase())]
  // A nonce is the server's challenge and our suffix; each is valid for one call.
  const paramValues = { nonce: `${challenge}.${++calls}`, tag: 'railgate' }
  const params = ['created', 'keyid', 'alg', 'nonce', 'tag']
  const message = { method, url: api + path, headers }
  return { ...(await httpbis.signMessage({ key: by, name: 'sig1', fields, params, paramValues }, message)), body }
}

async function send({ method, url, headers, body }) {
  const response = await fetch(url, { method, headers, body })
  challenge = response.headers.get('Signature-Challenge')
  return { status: response.status, answer: await response.json() }
}

const call = async (...request) => send(await sign(...request))

function step(name, expected, { status, answer }) {
  console.log(JSON.stringify({ step: name, status }))
  if (status !== expected) throw new Error(`${name}: expected ${expected}, got ${status}: ${JSON.stringify(answer)}`)
  return answer
}

// --- The session -----------------------------------------------------------------------------------------------------

const first = await fetch(`${api}/auth/challenges`, { method: 'POST' })
challenge = step('challenge', 200, { status: first.status, answer: await first.json() }).challenge

const enrolment = JSON.stringify({ jwk, client_name: 'node http-message-signatures' })
step('enrol', 201, await call('POST', '/auth/enrollments', enrolment))

// The enrolment returned a first token; this gets the next one after it has expired.
token = step('token', 200, await call('POST', '/auth/tokens')).access_token

const settlements = '/gateway/settlements'
const reference = `node-${Date.now()}-${process.pid}`
const settlement = { amount: 12.5, currency: 'EUR', to: 'sim:ok', reference }
step('create', 201, await call('POST', settlements, JSON.stringify(settlement)))

const statusPath = `${settlements}/${reference}/status?wait=5&version=1`
step('status', 200, await call('GET', statusPath))

// --- Tampering: each of these calls is altered after signing, and refused ---------------------------------------------

async function refused(name, status, code, request) {
  const { status: got, answer } = await send(request)
  console.log(JSON.stringify({ step: `tampered: ${name}`, status: got, code: answer.code, expected: code }))
  if (got !== status || answer.code !== code)
    throw new Error(`${name}: expected ${status} ${code}, got ${got}: ${JSON.stringify(answer)}`)
}

const small = JSON.stringify({ ...settlement, amount: 1, reference: `${reference}-tampered` })
const large = JSON.stringify({ ...settlement, amount: 900, reference: `${reference}-tampered` })

let signed = await sign('GET', settlements)
await refused('changed method', 401, 'signature_invalid', { ...signed, method: 'POST' })

signed = await sign('GET', statusPath)
await refused('changed path', 401, 'signature_invalid', { ...signed, url: `${api}${settlements}/${reference}` })

signed = await sign('GET', statusPath)
await refused('changed query', 401, 'signature_invalid', { ...signed, url: signed.url.replace('wait=5', 'wait=4') })

signed = await sign('POST', settlements, small)
await refused('changed body', 400, 'digest_mismatch', { ...signed, body: large })

signed = await sign('POST', settlements, small)
const digest = `sha-256=:${(await sha256(large)).toString('base64')}:`
const headers = { ...signed.headers, 'Content-Digest': digest }
await refused('changed body and digest', 401, 'signature_invalid', { ...signed, headers, body: large })

signed = await sign('GET', statusPath)
step('call to repeat', 200, await send(signed))
await refused('same nonce twice', 401, 'nonce_replayed', signed)

const list = step('list', 200, await call('GET', settlements))
if (list.data.length !== 1) throw new Error('a tampered call has created a settlement')
console.log(JSON.stringify({ step: 'nothing else was created', status: 200 }))

// --- In a session: the key signs the token call alone ----------------------------------------------------------------

/** Agrees on a key with the gateway; what Web Crypto derives stays inside it, too. */
async function session() {
  const curve = { name: 'ECDH', namedCurve: 'P-256' }
  const ours = await subtle.generateKey(curve, false, ['deriveBits'])
  const { crv, kty, x, y } = await subtle.exportKey('jwk', ours.publicKey)
  const asked = JSON.stringify({ session: { jwk: { crv, kty, x, y } } })
  const granted = step('session', 200, await call('POST', '/auth/tokens', asked))
  token = granted.access_token
  const theirs = await subtle.importKey('jwk', granted.session.jwk, curve, false, [])
  const agreed = await subtle.deriveBits({ name: 'ECDH', public: theirs }, ours.privateKey, 256)
  const id = granted.session.key_id
  const derivation = {
    name: 'HKDF',
    hash: 'SHA-256',
    salt: await sha256(token),
    info: Buffer.from(['railgate-session-v1', 'sandbox', key.id, id].join('\0')),
  }
  const material = await subtle.importKey('raw', agreed, 'HKDF', false, ['deriveKey'])
  const hmac = await subtle.deriveKey(derivation, material, { name: 'HMAC', hash: 'SHA-256', length: 256 }, false, ['sign'])
  return { id, alg: 'hmac-sha256', sign: async (data) => Buffer.from(await subtle.sign('HMAC', hmac, data)) }
}

const shared = await session()
const again = JSON.stringify({ ...settlement, reference: `${reference}-session` })
step('create in the session', 201, await call('POST', settlements, again, shared))
step('status in the session', 200, await call('GET', `${settlements}/${reference}-session/status`, undefined, shared))

signed = await sign('GET', statusPath, undefined, shared)
await refused('changed query in the session', 401, 'signature_invalid', { ...signed, url: signed.url.replace('wait=5', 'wait=4') })
await refused('token call in the session', 401, 'signature_key_required', await sign('POST', '/auth/tokens', '{}', shared))

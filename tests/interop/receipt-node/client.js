// Verifies receipts with the npm package jose:  node client.js https://gateway.example RECEIPT…
//
// Each RECEIPT is a compact JWS. Only the keys are fetched from the gateway. Then each receipt is altered in every way that
// must be detected. Each step is printed as one line of JSON.
import { Buffer } from 'node:buffer'
import * as jose from 'jose'

const [base, ...receipts] = process.argv.slice(2)
if (!receipts.length) throw new Error('usage: node client.js BASE_URL RECEIPT…')

// --- Verifying a receipt ---------------------------------------------------------------------------------------------

const wanted = { algorithms: ['ES256'], typ: 'settlement-receipt+jwt' }
const published = jose.createRemoteJWKSet(new URL('/.well-known/jwks.json', base))

const check = async (receipt, keys = published) => (await jose.jwtVerify(receipt, keys, wanted)).payload

// --- Genuine and altered receipts --------------------------------------------------------------------------------------

async function refused(name, receipt, keys) {
  try {
    await check(receipt, keys)
  } catch (error) {
    if (!(error instanceof jose.errors.JOSEError)) throw error
    console.log(JSON.stringify({ step: name, refused: error.code }))
    return
  }
  throw new Error(`${name}: accepted`)
}

const encode = (value) => Buffer.from(JSON.stringify(value)).toString('base64url')
const jwks = await (await fetch(new URL('/.well-known/jwks.json', base))).json()
console.log(JSON.stringify({ step: 'keys', kids: jwks.keys.map((key) => key.kid) }))

for (const receipt of receipts) {
  console.log(JSON.stringify({ step: 'genuine', claims: await check(receipt) }))

  const [header, payload, signature] = receipt.split('.')
  const headers = jose.decodeProtectedHeader(receipt)
  const claims = jose.decodeJwt(receipt)

  await refused('changed payload', [header, encode({ ...claims, amt: '999.00' }), signature].join('.'))
  const bytes = Buffer.from(signature, 'base64url')
  bytes[40] ^= 1
  await refused('changed signature', [header, payload, bytes.toString('base64url')].join('.'))
  await refused('no signature', [header, payload, ''].join('.'))
  await refused('algorithm none', [encode({ ...headers, alg: 'none' }), payload, ''].join('.'))

  // The public key used as a shared secret.
  const own = jwks.keys.find((key) => key.kid === headers.kid)
  const secret = Buffer.from(await jose.exportSPKI(await jose.importJWK(own, 'ES256')))
  const shared = new jose.SignJWT(claims).setProtectedHeader({ ...headers, alg: 'HS256' })
  await refused('algorithm HS256', await shared.sign(secret))

  // Signed by another key with the key id of the gateway's.
  const { privateKey, publicKey } = await jose.generateKeyPair('ES256')
  await refused('another key', await new jose.SignJWT(claims).setProtectedHeader(headers).sign(privateKey))
  const swapped = jose.createLocalJWKSet({ keys: [{ ...(await jose.exportJWK(publicKey)), kid: headers.kid, alg: 'ES256' }] })
  await refused('swapped key set', receipt, swapped)
  const token = new jose.SignJWT(claims).setProtectedHeader({ ...headers, typ: 'JWT' })
  await refused('another type', await token.sign(privateKey), swapped)
  const others = { keys: jwks.keys.filter((key) => key.kid !== headers.kid) }
  await refused('key not published', receipt, jose.createLocalJWKSet(others))
}

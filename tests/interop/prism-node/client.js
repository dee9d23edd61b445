// A proxy that holds every request and reply against an OpenAPI document, with the npm package @stoplight/prism-cli:
//
//   node client.js DOCUMENT UPSTREAM PORT
//
// It listens on 127.0.0.1:PORT and answers with a problem instead of what is not as the document says.
import { createRequire } from 'node:module'

const [document, upstream, port] = process.argv.slice(2)
process.argv = [process.argv[0], 'prism', 'proxy', document, upstream, '--errors', '--host', '127.0.0.1', '--port', port]
createRequire(import.meta.url)('@stoplight/prism-cli/dist/index.js')

// Node.js 18, which Debian 12 has, knows by this name only what browsers and later versions call crypto.
import { webcrypto } from 'node:crypto'

globalThis.crypto ??= webcrypto as Crypto

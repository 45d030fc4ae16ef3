import type { Shape } from '../../api/types'

type Gateway = Shape<'GatewayResponse'>

/** GatewayValues is what the gateway's form holds; an empty secret is kept as it is. */
export interface GatewayValues {
  mode: 'centralized' | 'direct'
  environment: 'sandbox' | 'production'
  shortcode: string
  consumerKey: string
  consumerSecret: string
  passkey: string
  initiator: string
  securityCredential: string
  credentialsVersion: string | null
  rejectUnknownAccounts: boolean
  nominatedNumber: string
}

/** gatewayForm makes the form's content of what was read. The platform's shortcode is not the organization's. */
export function gatewayForm(g: Gateway): GatewayValues {
  return {
    mode: g.mode,
    environment: g.environment,
    shortcode: g.mode === 'direct' ? g.shortcode : '',
    consumerKey: '',
    consumerSecret: '',
    passkey: '',
    initiator: '',
    securityCredential: '',
    credentialsVersion: g.credentialsVersion,
    rejectUnknownAccounts: g.rejectUnknownAccounts,
    nominatedNumber: g.nominatedNumber ?? '',
  }
}

/** movesMoney reports whether a save changes where money goes, or with whose credentials. */
export function movesMoney(v: GatewayValues, g: Gateway): boolean {
  if (v.mode !== g.mode) return true
  if (v.mode === 'centralized') return false
  const typed = v.consumerKey + v.consumerSecret + v.passkey + v.initiator + v.securityCredential
  return v.environment !== g.environment || v.shortcode !== g.shortcode || typed !== ''
}

/** gatewayWritten makes the body of the write. The API takes a secret that comes back hidden as unchanged. */
export function gatewayWritten(v: GatewayValues, g: Gateway): Shape<'GatewayRequest'> {
  if (v.mode === 'centralized') return { mode: v.mode, rejectUnknownAccounts: v.rejectUnknownAccounts }
  return {
    mode: v.mode,
    environment: v.environment,
    shortcode: v.shortcode.trim(),
    consumerKey: v.consumerKey.trim() || g.consumerKey,
    consumerSecret: v.consumerSecret.trim() || g.consumerSecret,
    passkey: v.passkey.trim() || g.passkey,
    initiator: v.initiator.trim() || g.initiator,
    securityCredential: v.securityCredential.trim() || g.securityCredential,
    rejectUnknownAccounts: v.rejectUnknownAccounts,
    nominatedNumber: v.nominatedNumber.trim(),
  }
}

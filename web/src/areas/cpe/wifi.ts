/** WifiFault is what is wrong with a name or a password of a Wi-Fi network. */
export type WifiFault = 'ssidLong' | 'passwordShort' | 'passwordForeign'

// As the server has it: the name is counted in bytes, the password in signs of English.
const ssidMost = 32
const passwordLeast = 8
export const passwordMost = 63

/** ssidFault judges a name; null while nothing is typed or nothing is wrong. */
export const ssidFault = (ssid: string): WifiFault | null => (new TextEncoder().encode(ssid).length > ssidMost ? 'ssidLong' : null)

/** passwordFault judges a password. */
export function passwordFault(password: string): WifiFault | null {
  if (password === '') return null
  if (!/^[\x20-\x7e]*$/.test(password)) return 'passwordForeign'
  return password.length < passwordLeast ? 'passwordShort' : null
}

/** wifiReady reports whether both can be sent. */
export const wifiReady = (ssid: string, password: string): boolean =>
  ssid.trim() !== '' && password !== '' && ssidFault(ssid) === null && passwordFault(password) === null

/** chosenNetworks are the paths to send; none when they are the bands of the main network, which the platform finds by itself. */
export function chosenNetworks(all: { path: string; kind: string }[], chosen: string[]): string[] | undefined {
  const main = all.filter((n) => n.kind === 'main').map((n) => n.path)
  const same = main.length === chosen.length && main.every((path) => chosen.includes(path))
  return same ? undefined : chosen
}

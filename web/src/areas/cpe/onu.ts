import type { Shape } from '../../api/types'

/** Onu is where an ONU is, and which service it gets, as it is sent. */
type Onu = Shape<'CpeOnuRequest'>

/** TypedOnu is an ONU as it stands in a form. */
export type TypedOnu = Omit<Onu, 'vlan'> & { vlan: number | '' }

/** noOnu is an empty form. */
export const noOnu: TypedOnu = { olt: '', port: '', serial: '', vlan: '' }

/** onuOf makes what is sent of what was typed; null while something is missing. Stickers write serial numbers with gaps. */
export function onuOf({ olt, port, serial, vlan }: TypedOnu): Onu | null {
  const sent = { olt: olt.trim().toLowerCase(), port: port.trim(), serial: serial.replace(/[\s-]+/g, '').toUpperCase() }
  return sent.olt && sent.port && sent.serial && vlan !== '' ? { ...sent, vlan } : null
}

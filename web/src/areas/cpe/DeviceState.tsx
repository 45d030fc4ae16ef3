import { useText } from '../../text/catalogue'
import { devicesText } from '../../text/devices'
import { State } from '../../ui/State'
import { conditionOf, type Device, toneOf } from './words'

/** DeviceState says whether a device calls. */
export function DeviceState({ of: d }: { of: Pick<Device, 'online' | 'stale'> }) {
  const t = useText(devicesText)
  const c = conditionOf(d)
  return <State tone={toneOf(c)} title={t.stateHints[c]}>{t.states[c]}</State>
}

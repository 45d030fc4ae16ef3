import type { Shape } from '../../api/types'
import type { Format } from '../../text/format'
import type { devicesText } from '../../text/devices'
import type { Line } from './Lines'

type Texts = (typeof devicesText)['en']
type Counts = Shape<'CpeDashboard'>

/** unknownVersion is what the API calls the firmware of devices that have not told theirs. */
const unknownVersion = 'Unknown'

/** devicesOf says how many devices there are, and how many of them call. */
export function devicesOf(c: Counts, t: Texts, f: Format): Line[] {
  const { total, online, offline, stale } = t.dashboard
  const lines: (Line | false)[] = [
    { key: 'total', figure: f.number(c.total), words: total(c.total), way: { to: '/devices' } },
    { key: 'online', figure: f.number(c.online), words: online, way: { to: '/devices', search: { online: true } } },
    c.offline > 0 && { key: 'offline', tone: 'attention', figure: f.number(c.offline), words: offline, way: { to: '/devices', search: { online: false } } },
    c.staleDevices > 0 && { key: 'stale', tone: 'bad', figure: f.number(c.staleDevices), words: stale, way: { to: '/devices', search: { stale: true } } },
  ]
  return lines.filter((l) => l !== false)
}

/** versionsOf lists the firmware of devices, that of the most first; what is not known leads to no rows. */
export function versionsOf(c: Counts): { version: string | null; count: number }[] {
  return Object.entries(c.firmwareCounts)
    .map(([version, count]) => ({ version: version === unknownVersion ? null : version, count }))
    .sort((a, b) => b.count - a.count || (a.version ?? '').localeCompare(b.version ?? ''))
}

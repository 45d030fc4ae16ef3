import { Text } from '@mantine/core'
import { api } from '../../api/client'
import { useMay } from '../../app/person'
import { useText } from '../../text/catalogue'
import { devicesText } from '../../text/devices'
import { useFormat } from '../../text/format'
import { Section } from '../../ui/Page'
import { To } from '../../ui/To'
import { devicesOf, versionsOf } from './devices'
import { Lines } from './Lines'

// That devices call is no change of the stream.
const often = { refetchInterval: 60_000 }

// So many versions are listed here.
const most = 6

/** DeviceFigures has how many devices there are in customers' homes, and their firmware; nothing where there is none. */
export function DeviceFigures() {
  const t = useText(devicesText)
  const f = useFormat()
  const may = useMay()
  const read = api.useQuery('get', '/cpe/dashboard', {}, { ...often, enabled: may('GET /cpe/dashboard') })
  if (!read.data || read.data.total === 0) return null
  return (
    <Section title={t.devices}>
      <Lines of={devicesOf(read.data, t, f)} />
      <Text size="sm" c="dimmed">
        {t.firmwareMap}:{' '}
        {versionsOf(read.data).slice(0, most).map(({ version, count }, i) => (
          <span key={version ?? ''}>
            {i > 0 && ' · '}
            {version === null ? t.unknownVersion : <To way={{ to: '/devices', search: { firmwareVersion: version } }}>{version}</To>}{' '}
            <span className="figure">{f.number(count)}</span>
          </span>
        ))}
      </Text>
    </Section>
  )
}

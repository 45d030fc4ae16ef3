import { Button, Stack } from '@mantine/core'
import { api } from '../../api/client'
import type { Shape } from '../../api/types'
import { useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import { onuText } from '../../text/onu'
import { CopyText } from '../../ui/CopyText'
import { Facts } from '../../ui/Facts'
import { Loaded } from '../../ui/Loaded'
import { Section } from '../../ui/Page'
import { State } from '../../ui/State'

/** Optical shows the optical end of a device: where it is, and its levels as the terminal measures them now. */
export function Optical({ id, of: onu }: { id: string; of: Shape<'CpeOnu'> }) {
  const t = useText(onuText)
  // The terminal is asked: what fails is told at once, and is asked again by hand.
  const read = api.useQuery('get', '/cpe/devices/{id}/optical', { params: { path: { id } } }, { retry: false, enabled: onu.registered })
  const again = onu.registered && <Button variant="default" size="compact-sm" loading={read.isFetching} onClick={() => void read.refetch()}>{t.again}</Button>
  return (
    <Section title={t.optical} actions={again}>
      <Stack gap="xs">
        <Facts
          of={[
            [t.onu, <CopyText key="onu" text={onu.serial} />],
            [t.place, <span key="place" className="figure">{onu.olt} {onu.port}</span>],
            [t.vlan, String(onu.vlan)],
            [t.state, onu.registered ? null : <State key="state" tone="attention">{t.notRegistered}</State>],
          ]}
        />
        {onu.registered && <Loaded read={read} height={96}>{(now) => <Levels of={now} />}</Loaded>}
      </Stack>
    </Section>
  )
}

function Levels({ of: now }: { of: Shape<'CpeOptical'> }) {
  const t = useText(onuText)
  const f = useFormat()
  const dbm = (n: number | null) => (n === null ? null : t.dbm(f.number(n)))
  return (
    <Facts
      of={[
        [t.state, <State key="state" tone={now.online ? 'good' : 'bad'}>{now.online ? t.online : t.offline}</State>],
        [t.received, now.quality && (
          <State key="received" tone={now.quality === 'good' ? 'good' : 'bad'} title={t.qualityHint}>{dbm(now.rxDbm)}, {t.quality[now.quality]}</State>
        )],
        [t.sent, dbm(now.txDbm)],
        [t.atOlt, dbm(now.oltRxDbm)],
        [t.distance, now.distanceM === null ? null : t.metres(f.number(now.distanceM))],
      ]}
    />
  )
}

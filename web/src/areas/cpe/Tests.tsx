import { Stack, Text } from '@mantine/core'
import { api } from '../../api/client'
import type { Shape } from '../../api/types'
import { useText } from '../../text/catalogue'
import { deviceFaultsText } from '../../text/deviceFaults'
import { type Format, useFormat } from '../../text/format'
import { type Column, DataTable } from '../../ui/DataTable'
import { Empty } from '../../ui/Empty'
import { Facts } from '../../ui/Facts'
import { Section } from '../../ui/Page'
import { When } from '../../ui/When'
import { wholeList } from '../../ui/wholeList'

type Test = Shape<'CpeTestResult'>
type Transfer = Shape<'CpeTransferResult'>
type Ping = Shape<'CpePingResult'>
type Texts = (typeof deviceFaultsText)['en']

/** Tests has what tests of a device have measured: the latest of each kind, and all. */
export function Tests({ id }: { id: string }) {
  const t = useText(deviceFaultsText)
  const f = useFormat()
  const read = api.useQuery('get', '/cpe/devices/{id}/diagnostics', { params: { path: { id } } })
  const d = read.data
  const columns: Column<Test>[] = [
    { id: 'what', title: t.what, width: 160, narrow: 100, cell: (r) => t.kinds[r.kind] ?? r.kind },
    { id: 'result', title: t.result, cell: (r) => (r.transfer ? moved(r.transfer, t, f) : r.ping ? pinged(r.ping, t, f) : '') },
    { id: 'at', title: t.at, width: 150, narrow: 96, cell: (r) => <When at={r.transfer?.at ?? r.ping?.at} /> },
  ]
  return (
    <Stack gap="lg">
      {d && d.history.length > 0 && (
        <Section title={t.latest}>
          <Facts
            of={[
              [t.kinds['speed-test']!, d.download && moved(d.download, t, f)],
              [t.kinds['upload-test']!, d.upload && moved(d.upload, t, f)],
              [t.kinds.ping!, d.ping && pinged(d.ping, t, f)],
            ]}
          />
        </Section>
      )}
      <Section title={t.history}>
        <DataTable
          list={wholeList(read, (of) => of.history)}
          columns={columns}
          rowKey={(r) => r.transfer?.operationId ?? r.ping?.operationId ?? ''}
          label={t.tests}
          empty={<Empty title={t.noTests}>{t.noTestsHint}</Empty>}
        />
      </Section>
    </Stack>
  )
}

function moved(r: Transfer, t: Texts, f: Format) {
  const bytes = r.bytes === null ? '' : f.bytes(r.bytes)
  return r.bitsPerSecond === null ? <Text span inherit>{[bytes, t.noSpeed].filter(Boolean).join('. ')}</Text> : t.speed(f.rate(r.bitsPerSecond / 1000), bytes)
}

function pinged(r: Ping, t: Texts, f: Format) {
  const all = r.successCount + r.failureCount
  return r.averageMs === null ? t.silent(all) : t.pinged(t.ms(f.number(r.averageMs)), r.successCount, all)
}

import { api } from '../../api/client'
import type { Shape } from '../../api/types'
import { useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import { refusedText } from '../../text/refused'
import { CustomerLink } from '../../ui/CustomerLink'
import { type Column, DataTable } from '../../ui/DataTable'
import { Empty } from '../../ui/Empty'
import { Section } from '../../ui/Page'
import { When } from '../../ui/When'

type SignIn = Shape<'RefusedSignIn'>

/** RefusedPart shows who was refused at a router: with which username, from which device and port, and why. */
export function RefusedPart({ id }: { id: string }) {
  const t = useText(refusedText)
  const f = useFormat()
  const read = api.useQuery('get', '/nas/devices/{id}/refused-sign-ins', { params: { path: { id } } }, { refetchInterval: 30_000 })
  const columns: Column<SignIn>[] = [
    { id: 'user', title: t.user, cell: (s) => s.username || '–' },
    { id: 'customer', title: t.customer, cell: (s) => <CustomerLink of={s.subscriber} /> },
    { id: 'why', title: t.why, width: 190, cell: (s) => t.codes[s.code] ?? s.code },
    { id: 'device', title: t.device, width: 160, wideOnly: true, cell: (s) => <span className="figure">{s.macAddress}</span> },
    { id: 'port', title: t.port, width: 130, wideOnly: true, cell: (s) => s.port },
    { id: 'count', title: t.count, width: 80, figure: true, wideOnly: true, cell: (s) => f.number(s.count) },
    { id: 'last', title: t.last, width: 130, wideOnly: true, cell: (s) => <When at={s.at} /> },
  ]
  const rows = read.data?.data ?? []
  return (
    <Section title={t.title}>
      <DataTable
        list={{
          rows, hasMore: false, isPending: read.isPending, isFetchingMore: false, error: read.error, changes: 0,
          more: () => undefined, refetch: () => void read.refetch(),
        }}
        columns={columns}
        rowKey={(s) => [s.code, s.username, s.macAddress, s.subscriptionId].join(' ')}
        label={t.title}
        empty={<Empty title={t.none}>{t.noneHint}</Empty>}
      />
    </Section>
  )
}

import { Table, Text } from '@mantine/core'
import { keepPreviousData } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { api } from '../../api/client'
import type { Shape } from '../../api/types'
import { useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import { messagesText } from '../../text/messages'
import { Filters } from '../../ui/Filters'
import { Loaded } from '../../ui/Loaded'
import { Page } from '../../ui/Page'
import { PageLink } from '../../ui/PageLink'
import { SpanFilter } from '../../ui/SpanFilter'

/** MessageCostsPage answers: how many messages went on each way, did they arrive, and what do the providers ask? */
export default function MessageCostsPage() {
  const t = useText(messagesText)
  const f = useFormat()
  const span = useSearch({ from: '/message-costs' })
  const navigate = useNavigate({ from: '/message-costs' })
  const read = api.useQuery('get', '/reports/messages', { params: { query: span } }, { placeholderData: keepPreviousData })
  return (
    <Page title={t.costs} actions={<PageLink to="/messages">{t.toLog}</PageLink>}>
      <Filters any={span.from !== undefined || span.to !== undefined} onClear={() => void navigate({ search: {} })}>
        <SpanFilter of={span} onChange={(part) => void navigate({ search: { ...span, ...part }, replace: true })} />
      </Filters>
      <Loaded read={read} height={200}>
        {(of) => (
          <>
            <Text size="sm" c="dimmed">{t.costsOf(f.day(of.from), f.day(of.to))}</Text>
            {of.ways.length === 0 ? <Text size="sm">{t.none}</Text> : <Ways of={of.ways} />}
          </>
        )}
      </Loaded>
    </Page>
  )
}

/** Ways has a line for each way. */
function Ways({ of }: { of: Shape<'MessageCostsResponse'>['ways'] }) {
  const t = useText(messagesText)
  const f = useFormat()
  const columns = [t.handed, t.states.delivered, t.states.undelivered, t.states.in_doubt, t.states.failed]
  return (
    <Table verticalSpacing={6} withRowBorders={false} aria-label={t.costs}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th scope="col">{t.channel}</Table.Th>
          {columns.map((name, i) => <Table.Th key={name} scope="col" ta="right" visibleFrom={i === 0 ? undefined : 'sm'}>{name}</Table.Th>)}
          <Table.Th scope="col" ta="right">{t.cost}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {of.map((w) => (
          <Table.Tr key={w.channel}>
            <Table.Th scope="row" fw={400}>{t.channels[w.channel]}</Table.Th>
            {[w.handed, w.delivered, w.undelivered, w.inDoubt, w.failed].map((n, i) => (
              <Table.Td key={columns[i]} ta="right" className="figure" visibleFrom={i === 0 ? undefined : 'sm'}>{f.number(n)}</Table.Td>
            ))}
            <Table.Td ta="right" className="figure">
              {w.costs.map((c) => <div key={c.currency}>{f.money(c.amount, c.currency)}</div>)}
              {w.unpriced > 0 && <Text size="xs" c="dimmed">{t.unpriced(w.unpriced)}</Text>}
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  )
}

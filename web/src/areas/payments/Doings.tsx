import { List, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { api } from '../../api/client'
import type { Row } from '../../api/rows'
import { useMay } from '../../app/person'
import { actionName } from '../../text/actionName'
import { actionText } from '../../text/actions'
import { useText } from '../../text/catalogue'
import { paymentsText } from '../../text/payments'
import { CustomerLink } from '../../ui/CustomerLink'
import { Loaded } from '../../ui/Loaded'
import { Section } from '../../ui/Page'
import { To } from '../../ui/To'
import { When } from '../../ui/When'
import { type Move, moveOf } from './moves'
import type { ReceiptRow } from './words'

type Entry = Row<'/audit-log'>

/**
 * Doings lists what people did with a receipt, with time, name and reason, the newest first. It is read of the audit
 * log; who may not read that is told of the moves alone, and of nothing where there was none.
 */
export function Doings({ of: r }: { of: ReceiptRow }) {
  const t = useText(paymentsText)
  const may = useMay()
  const audited = may('GET /audit-log')
  if (!audited && r.moves.length === 0) return null
  return (
    <Section title={t.doings}>
      {audited ? <Logged of={r} /> : (
        <List size="sm" listStyleType="none">
          {r.moves.toReversed().map((m) => <Line key={m.at} at={m.at} did={<Moved of={m}>{t.movedFrom}</Moved>} by={m.by?.name} />)}
        </List>
      )}
    </Section>
  )
}

function Logged({ of: r }: { of: ReceiptRow }) {
  const t = useText(paymentsText)
  const actions = useText(actionText)
  const target = `receipt:${r.id}`
  // No change of the log is told to the pages.
  const read = api.useQuery('get', '/audit-log', { params: { query: { target, limit: 100 } } }, { refetchInterval: 10_000 })
  const didOf = (e: Entry) => {
    const move = moveOf(r.moves, e)
    const entry = (name: string) => <To way={{ to: '/audit', search: { target, entry: e.id } }}>{name}</To>
    return move ? <Moved of={move}>{entry(t.movedFrom)}</Moved> : entry(actionName(e.action, actions))
  }
  return (
    <Loaded read={read} height={40}>
      {(log) => {
        const byPeople = log.data.filter((e) => e.actor.kind === 'user' && e.outcome === 'succeeded')
        return (
          <>
            {byPeople.length === 0 && <Text size="sm" c="dimmed">{t.doingsNone}</Text>}
            <List size="sm" listStyleType="none">
              {byPeople.map((e) => <Line key={e.id} at={e.at} did={didOf(e)} by={e.actor.name} reason={e.detail.reason} />)}
            </List>
            <Text size="sm"><To way={{ to: '/audit', search: { target } }}>{t.doingsAll}</To></Text>
          </>
        )
      }}
    </Loaded>
  )
}

function Line({ at, did, by, reason }: { at: string; did: ReactNode; by: string | null | undefined; reason?: string }) {
  const t = useText(paymentsText)
  return (
    <List.Item style={{ overflowWrap: 'anywhere' }}>
      <When at={at} exact /> · {did} · {by ?? t.formerStaff}{reason && ` · ${reason}`}
    </List.Item>
  )
}

/** Moved says from whom to whom; its words before the names are given, since they lead somewhere for some. */
function Moved({ of: m, children }: { of: Move; children: ReactNode }) {
  const t = useText(paymentsText)
  return <>{children} <CustomerLink of={m.from} /> {t.movedTo} <CustomerLink of={m.to} /></>
}

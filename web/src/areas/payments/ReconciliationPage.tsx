import { Button, Group, Loader, Stack, Table, Text } from '@mantine/core'
import { Link, useParams } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { api } from '../../api/client'
import type { Shape } from '../../api/types'
import { useWrite } from '../../api/write'
import { useMay, usePerson } from '../../app/person'
import { useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import { reconciliationsText } from '../../text/reconciliations'
import { Confirm } from '../../ui/Confirm'
import { Facts } from '../../ui/Facts'
import { Loaded } from '../../ui/Loaded'
import { Money } from '../../ui/Money'
import { Page, Section } from '../../ui/Page'
import { When } from '../../ui/When'
import { ReconciliationState } from './reconciliation'
import { spanOf } from './spanOf'

type Compared = Shape<'ReconciliationDetail'>

const works = (state: Compared['state'] | undefined) => state === 'comparing' || state === 'adopting'

/** ReconciliationPage answers: what is missing or different, on which side, and what is done about it? */
export default function ReconciliationPage() {
  const t = useText(reconciliationsText)
  const f = useFormat()
  const { id } = useParams({ from: '/reconciliations/$id' })
  const read = api.useQuery('get', '/reconciliations/{id}', { params: { path: { id } } }, {
    refetchInterval: (q) => (works(q.state.data?.state) ? 1500 : false),
  })
  return (
    <Page title={read.data ? t.of(spanOf(read.data, t, f)) : t.reconciliations} wide>
      <Loaded read={read} height={320}>{(of) => <Outcome of={of} />}</Loaded>
    </Page>
  )
}

/** Outcome has the figures first, then what is missing or different. */
function Outcome({ of: r }: { of: Compared }) {
  const t = useText(reconciliationsText)
  const f = useFormat()
  const may = useMay()('POST /reconciliations/{id}/adopt')
  const [asking, setAsking] = useState(false)
  const n = r.figures
  return (
    <Stack gap="lg">
      <Group gap="sm" role="status">
        {works(r.state) && <Loader size="xs" aria-hidden />}
        <ReconciliationState of={r} />
        {works(r.state) && <Text size="sm">{r.state === 'adopting' ? t.adopting : t.working}</Text>}
        {r.state === 'failed' && <Text size="sm">{t.failed} {r.failure && <code>{r.failure}</code>}</Text>}
      </Group>
      <Facts
        of={[
          [t.shortcode, r.shortcode],
          [t.lines, f.number(r.lines)],
          [t.matched, f.number(r.matched)],
          [t.missingHere, f.number(n.missingHere)],
          [t.missingThere, f.number(n.missingThere)],
          [t.different, f.number(n.different)],
          [t.attention, f.number(n.attention)],
          [t.others, t.othersOf(n.withdrawals, n.charges, n.reversals, n.failed)],
          [t.uploaded, <span key="at"><When at={r.uploadedAt} /> {r.uploadedBy?.name}</span>],
          [t.takenIn, r.adoptedAt ? <span key="in">{f.number(r.adopted)} · <When at={r.adoptedAt} /> {r.adoptedBy?.name}</span> : null],
        ]}
      />
      {!r.kept && !works(r.state) && <Text size="sm">{t.gone}</Text>}
      <MissingHere of={r}>
        {may && r.kept && n.missingHere > 0 && !works(r.state) && (
          <Button style={{ alignSelf: 'start' }} onClick={() => setAsking(true)}>{t.takeIn}</Button>
        )}
      </MissingHere>
      <MissingThere of={r} />
      <Different of={r} />
      <Attention of={r} />
      <Kinds of={r} />
      {asking && <TakeIn of={r} onClose={() => setAsking(false)} />}
    </Stack>
  )
}

/** TakeIn says what taking in does, and begins it. */
function TakeIn({ of: r, onClose }: { of: Compared; onClose: () => void }) {
  const t = useText(reconciliationsText)
  const f = useFormat()
  const write = useWrite('post', '/reconciliations/{id}/adopt', { told: () => t.takenInNow, then: onClose })
  return (
    <Confirm
      title={t.takeInTitle(r.figures.missingHere)}
      verb={t.takeIn}
      pending={write.isPending}
      error={write.error}
      onConfirm={() => write.mutate({ params: { path: { id: r.id } } })}
      onClose={onClose}
    >
      <Text size="sm">{t.takeInSum(f.money(r.figures.missingHereAmount, r.currency))} {t.takeInWhat}</Text>
    </Confirm>
  )
}

/** MissingHere lists what the provider has alone. */
function MissingHere({ of: r, children }: { of: Compared; children: ReactNode }) {
  const t = useText(reconciliationsText)
  const rows = r.missingHere
  if (rows.length === 0) return null
  return (
    <Part title={t.missingHere} hint={t.missingHereHint} shown={rows.length} all={r.figures.missingHere}>
      {children}
      <Rows label={t.missingHere} heads={[t.receipt, t.paid, t.payer, t.typed]}>
        {rows.map((p) => (
          <Table.Tr key={`${p.row} ${p.receiptNumber}`}>
            <Table.Td>{p.receiptNumber}</Table.Td>
            <Table.Td visibleFrom="sm"><When at={p.paidAt} exact /></Table.Td>
            <Table.Td visibleFrom="sm">{p.payer.name ?? p.payer.phone ?? '–'}</Table.Td>
            <Table.Td visibleFrom="sm">{p.billRef ?? '–'}</Table.Td>
            <Table.Td ta="right"><Money amount={p.amount} currency={r.currency} /></Table.Td>
          </Table.Tr>
        ))}
      </Rows>
    </Part>
  )
}

/** MissingThere lists what stands here alone. */
function MissingThere({ of: r }: { of: Compared }) {
  const t = useText(reconciliationsText)
  const rows = r.missingThere
  if (rows.length === 0) return null
  return (
    <Part title={t.missingThere} hint={t.missingThereHint} shown={rows.length} all={r.figures.missingThere}>
      <Rows label={t.missingThere} heads={[t.receipt, t.paid]}>
        {rows.map((p) => (
          <Table.Tr key={p.receiptId}>
            <Table.Td><Number id={p.receiptId} number={p.receiptNumber} /></Table.Td>
            <Table.Td visibleFrom="sm"><When at={p.paidAt} exact /></Table.Td>
            <Table.Td ta="right"><Money amount={p.amount} currency={r.currency} /></Table.Td>
          </Table.Tr>
        ))}
      </Rows>
    </Part>
  )
}

/** Different lists what both have and disagree about. */
function Different({ of: r }: { of: Compared }) {
  const t = useText(reconciliationsText)
  const rows = r.different
  if (rows.length === 0) return null
  return (
    <Part title={t.different} hint={t.differentHint} shown={rows.length} all={r.figures.different}>
      <Rows label={t.different} heads={[t.receipt, t.why, t.here]}>
        {rows.map((p) => (
          <Table.Tr key={p.receiptId}>
            <Table.Td><Number id={p.receiptId} number={p.receiptNumber} /></Table.Td>
            <Table.Td visibleFrom="sm">{t.whys[p.why] ?? p.why}</Table.Td>
            <Table.Td visibleFrom="sm"><Money amount={p.here} currency={r.currency} /></Table.Td>
            <Table.Td ta="right"><Money amount={p.amount} currency={r.currency} /></Table.Td>
          </Table.Tr>
        ))}
      </Rows>
    </Part>
  )
}

/** Attention lists what is never taken in by itself, with the reason. */
function Attention({ of: r }: { of: Compared }) {
  const t = useText(reconciliationsText)
  const rows = r.attention
  if (rows.length === 0) return null
  return (
    <Part title={t.attention} hint={t.attentionHint} shown={rows.length} all={r.figures.attention}>
      <Rows label={t.attention} heads={[t.receipt, t.why, t.kind, t.typed]}>
        {rows.map((p) => (
          <Table.Tr key={`${p.row} ${p.receiptNumber} ${p.why}`}>
            <Table.Td>{p.receiptId ? <Number id={p.receiptId} number={p.receiptNumber} /> : p.receiptNumber}</Table.Td>
            <Table.Td visibleFrom="sm">{t.reasons[p.why]}{p.names.length > 0 && `: ${p.names.join(', ')}`}</Table.Td>
            <Table.Td visibleFrom="sm">{t.kindNames[p.kind]}</Table.Td>
            <Table.Td visibleFrom="sm">{p.details ?? p.billRef ?? '–'}</Table.Td>
            <Table.Td ta="right"><Money amount={p.side === 'out' ? -p.amount : p.amount} currency={r.currency} /></Table.Td>
          </Table.Tr>
        ))}
      </Rows>
    </Part>
  )
}

/** Kinds has how many movements of each kind the statement has, and how much they move. */
function Kinds({ of: r }: { of: Compared }) {
  const t = useText(reconciliationsText)
  const f = useFormat()
  if (r.figures.kinds.length === 0) return null
  return (
    <Section title={t.kinds}>
      <Table verticalSpacing={6} withRowBorders={false} aria-label={t.kinds}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">{t.kind}</Table.Th>
            <Table.Th scope="col" ta="right">{t.lines}</Table.Th>
            <Table.Th scope="col" ta="right">{t.moneyIn}</Table.Th>
            <Table.Th scope="col" ta="right">{t.moneyOut}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {r.figures.kinds.map((k) => (
            <Table.Tr key={k.kind}>
              <Table.Td>{t.kindNames[k.kind]}</Table.Td>
              <Table.Td ta="right">{f.number(k.rows)}</Table.Td>
              <Table.Td ta="right"><Money amount={k.in} currency={r.currency} /></Table.Td>
              <Table.Td ta="right"><Money amount={k.out} currency={r.currency} /></Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Section>
  )
}

/** Number is a receipt number that leads to its receipt, where the host has one page for each. */
function Number({ id, number }: { id: string; number: string }) {
  const { platform } = usePerson()
  return platform ? number : <Link to="/receipts/$id" params={{ id }}>{number}</Link>
}

/** Part is one of the lists, with what it means. */
function Part({ title, hint, shown, all, children }: {
  title: string
  hint: string
  shown: number
  all: number
  children: ReactNode
}) {
  const t = useText(reconciliationsText)
  return (
    <Section title={title}>
      <Text size="sm" c="dimmed">{hint} {all > shown && t.more(shown, all)}</Text>
      {children}
    </Section>
  )
}

/** Rows is a table whose first column and last one, the amount, are always shown. */
function Rows({ label, heads, children }: { label: string; heads: string[]; children: ReactNode }) {
  const t = useText(reconciliationsText)
  return (
    <Table verticalSpacing={6} withRowBorders={false} aria-label={label}>
      <Table.Thead>
        <Table.Tr>
          {heads.map((h, i) => <Table.Th key={h} scope="col" visibleFrom={i > 0 ? 'sm' : undefined}>{h}</Table.Th>)}
          <Table.Th scope="col" ta="right">{t.amount}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>{children}</Table.Tbody>
    </Table>
  )
}

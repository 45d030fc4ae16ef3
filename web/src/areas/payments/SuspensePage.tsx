import { Alert, Button, Group, Stack, Text, Title } from '@mantine/core'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { type KeyboardEvent, useRef } from 'react'
import { api } from '../../api/client'
import { useRows } from '../../api/rows'
import { usePerson } from '../../app/person'
import { appText } from '../../text/app'
import { useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import { paymentsText } from '../../text/payments'
import { uiText } from '../../text/ui'
import { Empty } from '../../ui/Empty'
import { later } from '../../ui/later'
import { Loaded } from '../../ui/Loaded'
import { Money } from '../../ui/Money'
import { Page } from '../../ui/Page'
import { ProblemNote } from '../../ui/ProblemNote'
import { When } from '../../ui/When'
import { ReceiptFacts } from './ReceiptPage'
import { payerOf, typedOf } from './ReceiptsPage'
import type { ReceiptRow } from './words'
import './payments.css'

const Assignment = later(() => import('./Assignment').then((m) => m.Assignment))
const Attribution = later(() => import('./Attribution').then((m) => m.Attribution))

const inSuspense = { state: 'suspense', sort: 'oldest' } as const

/** SuspensePage answers: whose money is this? On the root host: which organization's? */
export default function SuspensePage() {
  const t = useText(paymentsText)
  const app = useText(appText)
  const f = useFormat()
  const { platform } = usePerson()
  const { receipt } = useSearch({ from: '/suspense' })
  const navigate = useNavigate({ from: '/suspense' })
  const list = useRows('/receipts', inSuspense)
  const { rows } = list
  const sums = api.useQuery('get', '/reports/suspense').data
  // What is shown stays, though somebody else decides about what stands above it.
  const first = useRef<string | undefined>(undefined)
  if (rows.length === 0) first.current = undefined
  first.current ??= rows[0]?.id
  const id = receipt ?? first.current
  const shown = rows.find((r) => r.id === id)
  const place = useRef(0)
  if (shown) place.current = rows.indexOf(shown)
  const detail = useRef<HTMLDivElement>(null)
  // The next one is opened by who decided, never under the hands of somebody who looks at what a colleague decided.
  const next = (done: string) => {
    const others = rows.filter((r) => r.id !== done)
    void navigate({ search: { receipt: others[Math.min(place.current, others.length - 1)]?.id }, replace: true })
    requestAnimationFrame(() => (detail.current ?? document.getElementById('content'))?.focus())
  }
  const { isPending, error, refetch } = list
  const read = { data: isPending || (error && rows.length === 0) ? undefined : rows, error, isPending, refetch }
  return (
    <Page title={app.suspense} wide>
      <Loaded read={read} height={420}>
        {(all) => all.length === 0 && !receipt ? (
          <Empty title={t.suspenseNone}>{platform ? t.suspensePlatformHint : t.suspenseHint}</Empty>
        ) : (
          <div className="inbox">
            <div>
              <Text size="sm" c="dimmed" mb={4} role="status">
                {sums ? t.waits(sums.count, sums.sums.map((s) => f.money(s.amount, s.currency)).join(', ')) : '\u00a0'}
              </Text>
              <Waiting list={list} selected={shown?.id} />
            </div>
            <div ref={detail} tabIndex={-1} role="region" aria-label={shown ? payerOf(shown) : app.suspense}>
              {shown ? <Case key={shown.id} of={shown} onDone={() => next(shown.id)} /> : <Gone id={id} />}
            </div>
          </div>
        )}
      </Loaded>
    </Page>
  )
}

/** Waiting is the list at the left; arrow keys move along it. */
function Waiting({ list, selected }: { list: ReturnType<typeof useRows<'/receipts'>>; selected: string | undefined }) {
  const t = useText(paymentsText)
  const words = useText(uiText)
  const app = useText(appText)
  const onKeyDown = (e: KeyboardEvent<HTMLElement>) => {
    const step = e.key === 'ArrowDown' ? 1 : e.key === 'ArrowUp' ? -1 : 0
    if (step === 0) return
    e.preventDefault()
    const links = [...e.currentTarget.querySelectorAll('a')]
    links[links.indexOf(e.target as HTMLAnchorElement) + step]?.focus()
  }
  return (
    <>
      <ul className="inbox-list" aria-label={app.suspense} onKeyDown={onKeyDown}>
        {list.rows.map((r) => (
          <li key={r.id}>
            <Link
              to="/suspense"
              search={{ receipt: r.id }}
              replace
              className="inbox-item"
              aria-current={r.id === selected ? 'true' : undefined}
            >
              <Text span size="sm" fw={500}><Money amount={r.amount} currency={r.currency} /></Text>
              <Text span size="xs" c="dimmed"><When at={r.paidAt} /></Text>
              <Text span size="sm" truncate>{typedOf(r) ?? payerOf(r)}</Text>
              <Text span size="xs" c="dimmed">{t.heldShort[r.reason ?? ''] ?? r.reason}</Text>
            </Link>
          </li>
        ))}
      </ul>
      {list.error ? <ProblemNote of={list.error} retry={list.more} /> : null}
      {list.hasMore && (
        <Button variant="subtle" fullWidth loading={list.isFetchingMore} onClick={list.more}>{words.more}</Button>
      )}
    </>
  )
}

/** Case is one receipt that waits, with what can be done about it. */
function Case({ of: r, onDone }: { of: ReceiptRow; onDone: () => void }) {
  const t = useText(paymentsText)
  const { platform } = usePerson()
  return (
    <Stack gap="md">
      <Group justify="space-between">
        <Title order={2} size="h4"><Money amount={r.amount} currency={r.currency} /> · {payerOf(r)}</Title>
        {!platform && <Link to="/receipts/$id" params={{ id: r.id }}>{t.openReceipt}</Link>}
      </Group>
      <ReceiptFacts of={r} brief />
      {platform ? <Assignment of={r} onDone={onDone} /> : <Attribution of={r} onDone={onDone} />}
    </Stack>
  )
}

/** Gone is shown when somebody else has decided meanwhile, or the address is an old one. */
function Gone({ id }: { id: string | undefined }) {
  const t = useText(paymentsText)
  const { platform } = usePerson()
  return (
    <Alert variant="light" color="gray" role="status">
      {!id ? t.choose : platform ? t.goneFromPlatform : t.gone}{' '}
      {id && !platform && <Link to="/receipts/$id" params={{ id }}>{t.openReceipt}</Link>}
    </Alert>
  )
}

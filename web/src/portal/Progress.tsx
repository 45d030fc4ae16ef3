import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { readUntilRead } from '../api/again'
import { api } from '../api/client'
import { useSending } from '../api/sending'
import type { Shape } from '../api/types'
import { serverNow } from '../app/clock'
import { isUnsure } from '../areas/payments/unsure'
import { stillOff } from '../areas/subscribers/outcome'
import { useText } from '../text/catalogue'
import { useFormat } from '../text/format'
import { portalPayingText } from '../text/portalPaying'
import { State } from '../ui/State'
import { useOwn } from './accounts'
import { to } from './address'
import { Button, Card, Go, Loaded, Note } from './parts'

// How often it is looked whether the PIN was typed, and after how long the customer may have the provider asked.
const looks = 1500
const patience = 20_000

// After how long what a payment has brought is read again, and how long it is waited for, in milliseconds.
const follows = [2000, 6000]
const settles = 15_000

// After these refusals the account has the money, or somebody is looking at it.
const came: ReadonlySet<string> = new Set(['not_credited', 'reattributed', 'reversed'])

/** Progress tells what becomes of a payment while the PIN is typed, and how the service is afterwards. */
export function Progress({ id, onAgain }: { id: string; onAgain: () => void }) {
  const t = useText(portalPayingText)
  const f = useFormat()
  const queries = useQueryClient()
  const { account } = useOwn()
  const payment = api.useQuery('get', '/payments/{id}', { params: { path: { id } } }, {
    refetchInterval: (q) => (!q.state.data || q.state.data.status === 'PENDING' ? looks : false),
  })
  const status = payment.data?.status
  useEffect(() => {
    if (!status || status === 'PENDING') return
    const anew = () => void queries.invalidateQueries({ predicate: ({ queryKey }) => queryKey[1] !== '/payments/{id}' })
    anew()
    // What a payment brings follows it by moments, and may be looked at on another page by then.
    for (const later of follows) setTimeout(anew, later)
  }, [status, queries])
  const ask = useSending('post', '/payments/query')
  const home = to('', { account: account.id })
  return (
    <Card>
      <div role="status" className="progress">
        <Loaded read={payment} height={150}>
          {(p) => {
            if (p.status === 'PENDING') {
              const now = serverNow()
              const unsure = isUnsure(p, now)
              const late = now - Date.parse(p.initiatedAt) > patience
              return (
                <>
                  <p className="big"><span className="turning" aria-hidden /> {unsure ? t.unsure : t.waiting(f.money(p.amount, p.currency))}</p>
                  <p className="dim">{!unsure && p.attempts > 0 && t.noAnswer} {t.waitingHint}</p>
                  {payment.error !== null && <p className="fault">{t.unreadable}</p>}
                  <Note of={ask.error} />
                  {late && p.checkoutRequestId && <Button busy={ask.isPending} onClick={() => ask.mutate({ body: { paymentId: id } })}>{t.ask}</Button>}
                  {late && <Button look="quiet" onClick={onAgain}>{t.other}</Button>}
                </>
              )
            }
            if (p.status === 'SUCCESS') {
              return (
                <>
                  <p className="big"><State tone="good">{t.paid(f.money(p.amount, p.currency))}</State></p>
                  <p>{p.receiptNumber && t.receipt(p.receiptNumber)} <After settledAt={p.settledAt} /></p>
                  <Go to={home} className="button main">{t.home}</Go>
                </>
              )
            }
            const nothing = !p.reason || !came.has(p.reason)
            return (
              <>
                <p className="big sentence"><State tone="bad">{null}</State> {p.reason ? t.failed[p.reason] : t.failedElse}</p>
                {nothing && <p>{t.nothingTaken}</p>}
                <Button look="main" onClick={onAgain}>{t.again}</Button>
                <Go to={home} className="button plain">{t.home}</Go>
              </>
            )
          }}
        </Loaded>
      </div>
    </Card>
  )
}

/** openOf are the services that have access. */
const openOf = (access: Shape<'AccessResponse'> | undefined) => (
  (access?.services ?? []).filter((s) => s.entitled === 'full' || s.entitled === 'throttled')
)

/** After says what the payment has brought: until when is paid now, or why the service stays off all the same. */
function After({ settledAt }: { settledAt: string | null }) {
  const t = useText(portalPayingText)
  const f = useFormat()
  const { account } = useOwn()
  const settling = () => settledAt !== null && serverNow() - Date.parse(settledAt) < settles
  const access = api.useQuery('get', '/subscribers/{id}/access', { params: { path: { id: account.id } } }, {
    refetchInterval: ({ state }) => (settling() && openOf(state.data).length === 0 ? looks : readUntilRead({ state }) || 60_000),
  })
  if (!access.data) return null
  const { services, reasons } = access.data
  const open = openOf(access.data)
  if (open.length === 0) return services.length === 0 || settling() ? null : t[stillOff(reasons)]
  const until = open.map((s) => s.paidUntil).filter((at) => at !== null).sort()[0]
  return until ? t.paidUntil(f.short(until)) : null
}

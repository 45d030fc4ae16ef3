import { api } from '../api/client'
import { useRows } from '../api/rows'
import { serverNow } from '../app/clock'
import { useText } from '../text/catalogue'
import { useFormat } from '../text/format'
import { portalPagesText } from '../text/portalPages'
import { useOwn } from './accounts'
import { to, useAddress } from './address'
import { Card, Go, Loaded, Note, Page } from './parts'

const day = 86_400_000
const ranges = { days: { back: 29 * day, step: 'day' }, months: { back: 334 * day, step: 'month' } } as const

/** Usage answers: how much data have I used, how much is left, and who is online now? */
export default function Usage() {
  const t = useText(portalPagesText)
  const f = useFormat()
  const { account } = useOwn()
  const { query } = useAddress()
  const range = query.get('range') === 'months' ? 'months' : 'days'
  const { back, step } = ranges[range]
  const from = f.date(serverNow() - back)
  const read = api.useQuery('get', '/subscribers/{id}/usage', { params: { path: { id: account.id }, query: { from, step } } })
  return (
    <Page title={t.usage}>
      <Card title={t.onlineNow}><Online id={account.id} /></Card>
      <nav className="tabs" aria-label={t.period}>
        {(['days', 'months'] as const).map((each) => (
          <Go key={each} to={to('usage', { account: account.id, range: each === 'days' ? undefined : each })} aria-current={each === range ? 'page' : undefined}>
            {t[each]}
          </Go>
        ))}
      </nav>
      <Loaded read={read} height={300}>
        {({ cap, data }) => {
          const used = [...data].reverse().filter((d) => d.bytesIn + d.bytesOut > 0)
          const most = Math.max(1, ...used.map((d) => d.bytesIn + d.bytesOut))
          return (
            <>
              {cap && (
                <Card>
                  <p>{t.capUsed(f.bytes(cap.used), f.bytes(cap.bytes))}. {t.capLeft(f.bytes(Math.max(0, cap.bytes - cap.used)))}. {t.resets(f.short(cap.resetsAt))}</p>
                  <Bar part={cap.used / cap.bytes} full={cap.used >= cap.bytes} />
                </Card>
              )}
              <Card>
                {used.length === 0 && <p className="dim">{t.noUsage}</p>}
                <ul className="lines">
                  {used.map((d) => (
                    <li key={d.from}>
                      <span className="line-name">{step === 'month' ? f.month(d.from) : `${f.weekday(d.from)}, ${f.dayOfYear(d.from)}`}</span>
                      <span className="figure">{t.used(f.bytes(d.bytesIn), f.bytes(d.bytesOut))}</span>
                      <Bar part={(d.bytesIn + d.bytesOut) / most} />
                    </li>
                  ))}
                </ul>
              </Card>
            </>
          )
        }}
      </Loaded>
    </Page>
  )
}

/** Bar draws a part of a whole; the words beside it say the same. */
function Bar({ part, full }: { part: number; full?: boolean }) {
  return (
    <svg className="bar" data-full={full} aria-hidden>
      <rect width="100%" height="100%" rx="4" className="whole" />
      <rect width={`${Math.min(100, part * 100)}%`} height="100%" rx="4" />
    </svg>
  )
}

/** Online lists the sessions that are open on the network. */
function Online({ id }: { id: string }) {
  const t = useText(portalPagesText)
  const f = useFormat()
  const list = useRows('/sessions', { subscriberId: id, online: true })
  if (list.error && list.rows.length === 0) return <Note of={list.error} retry={list.refetch} />
  if (!list.isPending && list.rows.length === 0) return <p className="dim">{t.nobodyOnline}</p>
  return (
    <ul className="lines">
      {list.rows.map((s) => (
        <li key={s.id}>
          <span className="line-name">{t.sessionOf(s.username, f.short(s.startedAt))}</span>
          <span className="figure">{t.used(f.bytes(s.bytesIn), f.bytes(s.bytesOut))}</span>
          {s.rate && s.rate.down > 0 && <span className="dim">{f.rate(s.rate.down)} / {f.rate(s.rate.up)}</span>}
          {s.ipAddress && <span className="dim figure">{s.ipAddress}</span>}
        </li>
      ))}
    </ul>
  )
}

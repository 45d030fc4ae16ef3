import { api } from '../api/client'
import { serverNow } from '../app/clock'
import { answersOf, calledAmong, isNamed } from '../areas/subscribers/answer'
import { useText } from '../text/catalogue'
import { useFormat } from '../text/format'
import { portalAnswersText } from '../text/portalAnswers'
import { portalPagesText } from '../text/portalPages'
import { State, type Tone } from '../ui/State'
import { type Account, nameOf, useOwn } from './accounts'
import { to } from './address'
import { Card, Copied, Facts, Go, Loaded, Page } from './parts'
import { said } from './said'

const tones: Record<string, Tone> = { full: 'good', throttled: 'attention', walled_garden: 'bad', none: 'bad' }

/** Home answers: is my service on, until when is it paid, and what do I have to do? */
export function Home() {
  const t = useText(portalPagesText)
  const { account, accounts } = useOwn()
  return (
    <Page title={t.hello(nameOf(account, t))}>
      <Answers account={account} />
      <Money account={account} />
      {account.subscriptions.length > 0 && (
        <Card title={t.services}>
          <ul className="lines">
            {account.subscriptions.map((s) => (
              <li key={s.subscriptionId}>
                <span className="line-name">{s.planName}</span>
                <State tone={s.online ? 'good' : tones[s.access] === 'good' ? 'quiet' : (tones[s.access] ?? 'quiet')}>{s.online ? t.online : t.offlineNow}</State>
                <PaidUntil until={s.paidUntil} />
              </li>
            ))}
          </ul>
        </Card>
      )}
      {accounts.length > 1 && <Others />}
      <p><Go to={to('devices', { account: account.id })}>{t.devices}</Go></p>
      <p><a href="/status">{t.status}</a></p>
    </Page>
  )
}

function PaidUntil({ until }: { until: string | null }) {
  const t = useText(portalPagesText)
  const f = useFormat()
  return until && <span className="dim">{t.paidUntil} {f.short(until)}</span>
}

/** Answers says why each service is on or off, the one that needs something first, and what helps. */
function Answers({ account: a }: { account: Account }) {
  const t = useText(portalPagesText)
  const words = useText(portalAnswersText)
  const f = useFormat()
  const access = api.useQuery('get', '/subscribers/{id}/access', { params: { path: { id: a.id } } })
  const invoices = api.useQuery('get', '/invoices', { params: { query: { subscriberId: a.id, limit: 50 } } })
  return (
    <Loaded read={access} height={150}>
      {(read) => {
        const now = serverNow()
        const all = answersOf(read, [], now, a.balance)
        const named = { withLogin: (plan: string, login: string) => `${plan} (${login})` }
        const pays = a.due > 0
        return (
          <Card tone={all[0]?.tone}>
            {all.map((answer, i) => {
              const called = calledAmong(answer, all, named)
              const { sentence, help } = said(answer, { account: a, invoices: invoices.data?.data ?? [], now }, words, f)
              return (
                <div key={answer.subscriptionId ?? i} className={i === 0 ? 'answer first' : 'answer'}>
                  <p className="sentence">
                    <State tone={answer.tone}>{null}</State> {isNamed(answer.code, called) ? words.named(called, sentence) : sentence}
                  </p>
                  {help && <p className="dim">{help}</p>}
                </div>
              )
            })}
            <Go to={to('pay', { account: a.id })} className={pays ? 'button main' : 'button plain'}>
              {pays ? t.payAmount(f.money(a.due, a.currency)) : t.pay}
            </Go>
          </Card>
        )
      }}
    </Loaded>
  )
}

/** Money says what is owed, and under which number it is paid. */
function Money({ account: a }: { account: Account }) {
  const t = useText(portalPagesText)
  const f = useFormat()
  return (
    <Card>
      <Facts
        of={[
          [t.toPay, <b key="due" className="figure">{f.money(a.due, a.currency)}</b>],
          [t.balance, a.balance > 0 && a.balance !== a.due ? f.money(a.balance, a.currency) : ''],
          [t.credit, a.balance < 0 ? f.money(-a.balance, a.currency) : ''],
          [t.paidUntil, a.paidUntil && f.short(a.paidUntil)],
          [t.number, <Copied key="number" text={a.accountNumber} name={t.number} />],
        ]}
      />
    </Card>
  )
}

/** Others leads to the other accounts of this person. */
function Others() {
  const t = useText(portalPagesText)
  const f = useFormat()
  const { accounts, account } = useOwn()
  return (
    <Card title={t.otherAccounts}>
      <ul className="lines">
        {accounts.filter((a) => a.id !== account.id).map((a) => (
          <li key={a.id}>
            <Go to={to('', { account: a.id })}>{t.accountOf(nameOf(a, t), a.accountNumber)}</Go>
            {a.due > 0 && <State tone="attention">{`${t.toPay}: ${f.money(a.due, a.currency)}`}</State>}
          </li>
        ))}
      </ul>
    </Card>
  )
}

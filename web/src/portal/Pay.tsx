import { useState } from 'react'
import { api, client } from '../api/client'
import { useSending } from '../api/sending'
import { serverNow } from '../app/clock'
import { useText } from '../text/catalogue'
import { useFormat } from '../text/format'
import { portalPayingText } from '../text/portalPaying'
import { Form } from '../ui/Form'
import { useOwn, phonesOf } from './accounts'
import { go, to, useAddress } from './address'
import { amountOf } from './amount'
import { Button, Card, Choice, Copied, Facts, Field, Loaded, Note, Page, Waiting } from './parts'
import { Progress } from './Progress'

// A payment that was begun within this time may still be waiting for the PIN, so it is shown before another one is begun.
const running = 3 * 60_000

/** Pay proposes what is to be paid, has the own phone asked for the PIN, and tells what becomes of it. */
export default function Pay() {
  const t = useText(portalPayingText)
  const { account: a } = useOwn()
  const { query } = useAddress()
  const payment = query.get('payment')
  const shows = (id: string | undefined) => go(to('pay', { account: a.id, payment: id }), 'replace')
  return (
    <Page title={t.title}>
      {payment
        ? <Progress key={payment} id={payment} onAgain={() => shows(undefined)} />
        : <Ask onPayment={shows} />}
      <ByHand />
    </Page>
  )
}

/** Ask has the amount and the phone; one that waits for its PIN already is shown instead. */
function Ask({ onPayment }: { onPayment: (id: string) => void }) {
  const { account: a } = useOwn()
  // It is looked for once, when the form is opened: later the form itself leads to what it has begun.
  const [opened] = useState(serverNow)
  const open = api.useQuery('get', '/payments', { params: { query: { subscriberId: a.id, status: 'PENDING', limit: 1 } } }, {
    staleTime: 0, gcTime: 0, refetchInterval: false, refetchOnWindowFocus: false,
  })
  if (open.isPending) return <Waiting height={260} />
  const waits = open.data?.data.find((p) => opened - Date.parse(p.initiatedAt) < running)
  return waits ? <Progress id={waits.id} onAgain={() => void open.refetch()} /> : <Amount onPayment={onPayment} />
}

/** Amount is the form. */
function Amount({ onPayment }: { onPayment: (id: string) => void }) {
  const t = useText(portalPayingText)
  const f = useFormat()
  const { me, account: a } = useOwn()
  const phones = phonesOf(a, me)
  const [typed, setTyped] = useState<string | null>(null)
  const [phone, setPhone] = useState(phones[0] ?? '')
  const text = typed ?? (a.due > 0 ? String(a.due) : '')
  const amount = amountOf(text)
  const begin = useSending('post', '/payments/initiate', {
    then: (made) => {
      if ('paymentId' in made) onPayment(made.paymentId)
    },
  })
  const send = () => {
    if (amount !== null) begin.mutate({ body: { subscriberId: a.id, amount, ...(phone === a.phone ? {} : { phone }) } })
  }
  if (phones.length === 0) return <p>{t.noPhone}</p>
  const whole = amount === null ? 0 : Math.ceil(amount)
  const off = a.access === 'none' || a.access === 'walled_garden'
  return (
    <Card>
      <Form busy={begin.isPending} onSubmit={send}>
        <p>{a.due > 0 ? t.due(f.money(a.due, a.currency)) : t.nothingDue} {a.due > 0 && off && t.brings}</p>
        <Field
          label={`${t.amount} (${a.currency})`} inputMode="decimal" autoComplete="off" value={text} onType={setTyped} required
          fault={begin.error?.of('amount') ?? (text !== '' && amount === null && t.amountForm)}
          hint={amount !== null && amount !== whole && t.whole(f.money(whole, a.currency))}
        />
        {phones.length > 1
          ? <Choice label={t.phone} value={phone} of={phones.map((p) => [p, p])} onChoose={setPhone} />
          : <p>{t.onlyPhone(phone)}</p>}
        <Note of={begin.error} />
        {begin.error?.code === 'payment_in_progress' && <Running id={a.id} onFound={onPayment} />}
        <Button type="submit" look="main" busy={begin.isPending} disabled={amount === null}>
          {amount === null ? t.sendNone : t.send(f.money(whole, a.currency))}
        </Button>
        <p role="status" className="dim">{begin.isPending && t.sending}</p>
      </Form>
    </Card>
  )
}

/** Running leads to the prompt that is open already. */
function Running({ id, onFound }: { id: string; onFound: (payment: string) => void }) {
  const t = useText(portalPayingText)
  const look = async () => {
    const { data } = await client.GET('/payments', { params: { query: { subscriberId: id, status: 'PENDING', limit: 1 } } })
    const open = data?.data.at(0)
    if (open) onFound(open.id)
  }
  return <Button onClick={() => void look().catch(() => undefined)}>{t.showRunning}</Button>
}

/** ByHand says how to pay without the pages: the number of the organization, and the one of the account. */
function ByHand() {
  const t = useText(portalPayingText)
  const { account: a } = useOwn()
  const read = api.useQuery('get', '/paybill', {}, { staleTime: 600_000 })
  return (
    <Card title={t.byHand}>
      <Loaded read={read} height={90}>
        {(to) => (to.shortcode === null ? <p>{t.noPaybill}</p> : (
          <>
            <p className="dim">{t.byHandHint}</p>
            <Facts
              of={[
                [t.paybill, <Copied key="paybill" text={to.shortcode} name={t.paybill} />],
                [t.account, <Copied key="account" text={a.accountNumber} name={t.account} />],
              ]}
            />
            {to.environment === 'sandbox' && <p className="dim">{t.sandbox}</p>}
          </>
        ))}
      </Loaded>
    </Card>
  )
}

import { useState } from 'react'
import { api } from '../api/client'
import { useRows } from '../api/rows'
import { useSending } from '../api/sending'
import type { Shape } from '../api/types'
import { useText } from '../text/catalogue'
import { useFormat } from '../text/format'
import { portalPagesText } from '../text/portalPages'
import { portalSupportText } from '../text/portalSupport'
import { Form } from '../ui/Form'
import { State, type Tone } from '../ui/State'
import { useOwn } from './accounts'
import { go, to, useAddress } from './address'
import { Area, Button, Card, Field, Go, Loaded, Note, Page, Waiting } from './parts'

const tones: Record<string, Tone> = { open: 'attention', answered: 'good', closed: 'quiet' }

/** Support answers: what have I asked, and what was I answered? */
export default function Support() {
  const { query } = useAddress()
  const request = query.get('request')
  if (request) return <Request key={request} id={request} />
  return query.get('new') ? <Ask /> : <Requests />
}

function Requests() {
  const t = useText(portalSupportText)
  const pages = useText(portalPagesText)
  const f = useFormat()
  const { account } = useOwn()
  const list = useRows('/support-requests', { subscriberId: account.id })
  return (
    <Page title={t.title}>
      <p><Go to={to('support', { account: account.id, new: '1' })} className="button main">{t.ask}</Go></p>
      <Card>
        {list.isPending && <Waiting height={120} />}
        {!list.isPending && !list.error && list.rows.length === 0 && <p className="dim">{t.none}</p>}
        <ul className="lines">
          {list.rows.map((r) => (
            <li key={r.id}>
              <Go to={to('support', { account: account.id, request: r.id })} className="line-name">{r.subject ?? t.erased}</Go>
              <State tone={tones[r.state] ?? 'quiet'}>{t.states[r.state]}</State>
              <span className="dim">{f.minute(r.lastAt)}</span>
            </li>
          ))}
        </ul>
        <Note of={list.error} retry={list.refetch} />
        {list.hasMore && <Button busy={list.isFetchingMore} onClick={list.more}>{pages.more}</Button>}
      </Card>
    </Page>
  )
}

/** Ask takes a new request. */
function Ask() {
  const t = useText(portalSupportText)
  const { account } = useOwn()
  const [subject, setSubject] = useState('')
  const [text, setText] = useState('')
  const [told, setTold] = useState('')
  const open = useSending('post', '/support-requests', {
    tell: (answer, shown) => {
      if (shown) go(to('support', { account: account.id, request: answer.id }))
      else setTold(t.sentLater)
    },
  })
  return (
    <Page title={t.ask}>
      <p><Go to={to('support', { account: account.id })}>{t.back}</Go></p>
      <Card>
        <Form busy={open.isPending} onSubmit={() => open.mutate({ body: { subscriberId: account.id, subject, text } })}>
          <Field label={t.subject} value={subject} onType={setSubject} required maxLength={120} autoComplete="off" fault={open.error?.of('subject')} />
          <Area label={t.text} hint={t.textHint} value={text} onType={setText} fault={open.error?.of('text')} />
          <Note of={open.error} />
          <p role="status">{told}</p>
          <Button type="submit" look="main" busy={open.isPending} disabled={!subject.trim() || !text.trim()}>{t.send}</Button>
        </Form>
      </Card>
    </Page>
  )
}

/** Request is one request as a conversation. */
function Request({ id }: { id: string }) {
  const t = useText(portalSupportText)
  const { account } = useOwn()
  const read = api.useQuery('get', '/support-requests/{id}', { params: { path: { id } } })
  return (
    <Page title={read.data?.subject ?? t.title}>
      <p><Go to={to('support', { account: account.id })}>{t.back}</Go></p>
      <Loaded read={read} height={240}>{(r) => <Conversation of={r} />}</Loaded>
    </Page>
  )
}

function Conversation({ of: r }: { of: Shape<'SupportResponse'> }) {
  const t = useText(portalSupportText)
  const f = useFormat()
  const [text, setText] = useState('')
  const [told, setTold] = useState('')
  const write = useSending('post', '/support-requests/{id}/messages', {
    tell: (_answer, shown) => setTold(shown ? t.sent : t.sentLater),
    shown: () => setText(''),
  })
  const close = useSending('post', '/support-requests/{id}/close', { tell: () => setTold(t.closed) })
  return (
    <>
      <p><State tone={tones[r.state] ?? 'quiet'}>{t.states[r.state]}</State></p>
      <ol className="said">
        {r.messages.map((m) => (
          <li key={m.at + m.from + (m.text ?? '')} data-side={m.side}>
            <p className="dim"><b>{m.side === 'customer' ? t.you : m.from}</b> {f.minute(m.at)}</p>
            <p className="words">{m.text ?? t.erased}</p>
          </li>
        ))}
      </ol>
      <Card>
        <Form busy={write.isPending} onSubmit={() => write.mutate({ params: { path: { id: r.id } }, body: { text } })}>
          <Area label={r.state === 'closed' ? t.writeClosed : t.write} value={text} onType={setText} fault={write.error?.of('text')} />
          <Note of={write.error ?? close.error} />
          <p role="status">{told}</p>
          <Button type="submit" look="main" busy={write.isPending} disabled={!text.trim()}>{t.send}</Button>{' '}
          {r.state !== 'closed' && (
            <Button busy={close.isPending} onClick={() => close.mutate({ params: { path: { id: r.id } }, body: {} })}>{t.close}</Button>
          )}
        </Form>
      </Card>
    </>
  )
}

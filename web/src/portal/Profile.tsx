import { useState } from 'react'
import { type Row, useRows } from '../api/rows'
import { useSending } from '../api/sending'
import { useSignOut } from '../app/useSignOut'
import { useNewAddress } from '../areas/identity/useNewAddress'
import { type Language, languages, speak, useLanguage, useText } from '../text/catalogue'
import { useFormat } from '../text/format'
import { portalPagesText } from '../text/portalPages'
import { secondFactorText } from '../text/secondFactor'
import { State } from '../ui/State'
import { Form } from '../ui/Form'
import { nameOf, useOwn } from './accounts'
import { choose, type Colours, coloursNow } from './colours'
import { Button, Card, Choice, Facts, Field, Note, Page } from './parts'
import { useInstall } from './install'
import { MyData } from './MyData'
import { openPortal } from './updates'

/** Profile answers: who am I here, how am I written to, and where am I signed in? */
export default function Profile() {
  const t = useText(portalPagesText)
  const { account: a } = useOwn()
  const out = useSignOut(openPortal)
  return (
    <Page title={t.profile}>
      <SignInAddress />
      <Card title={t.contact}>
        <Facts of={[[t.name, nameOf(a, t)], [t.number, a.accountNumber], [t.phone, a.phone], [t.email, a.email]]} />
        <p className="dim">{t.contactHint}</p>
      </Card>
      <Messages />
      <Pages />
      <Sessions />
      <MyData key={a.id} id={a.id} />
      <Note of={out.problem} />
      <Button look="main" busy={out.pending} onClick={out.gone ? out.leave : out.signOut}>{t.signOut}</Button>
    </Page>
  )
}

/** SignInAddress is the phone or the e-mail address with which this person signs in. */
function SignInAddress() {
  const t = useText(portalPagesText)
  const { me } = useOwn()
  const [changing, setChanging] = useState(false)
  const [done, setDone] = useState(false)
  const kind = me.email ? 'email' : 'phone'
  const words = useText(secondFactorText)
  return (
    <Card title={t.yourSignIn}>
      <Facts of={[[kind === 'email' ? t.signInEmail : t.signInPhone, kind === 'email' ? me.email : me.phone]]} />
      <p role="status">{done && words.changed}</p>
      {changing
        ? <NewAddress kind={kind} onClose={(changed) => {
          setChanging(false)
          setDone(changed)
        }} />
        : <Button onClick={() => setChanging(true)}>{kind === 'email' ? t.changeEmail : t.changePhone}</Button>}
    </Card>
  )
}

/** NewAddress asks for the new address, then for both codes. */
function NewAddress({ kind, onClose }: { kind: 'email' | 'phone'; onClose: (changed: boolean) => void }) {
  const t = useText(secondFactorText)
  const words = useText(portalPagesText)
  const change = useNewAddress(kind, () => onClose(true))
  const code = { inputMode: 'numeric', autoComplete: 'off', required: true, maxLength: 12 } as const
  return (
    <Form busy={change.pending} onSubmit={() => change.ready && change.submit()}>
      {change.sent
        ? (
          <>
            <p role="status">{t.codesSent(change.sent)}</p>
            <Field label={t.oldCode} {...code} value={change.oldCode} onType={change.setOldCode} />
            <Field label={t.newCode} {...code} value={change.newCode} onType={change.setNewCode} />
          </>
        )
        : (
          <Field
            key={kind} label={kind === 'email' ? t.newEmail : t.newPhone} type={kind === 'email' ? 'email' : 'tel'}
            autoComplete={kind === 'email' ? 'email' : 'tel'} value={change.address} onType={change.setAddress} required autoFocus maxLength={254}
          />
        )}
      <Note of={change.problem} />
      <Button type="submit" look="main" busy={change.pending} disabled={!change.ready}>{change.sent ? t.change : t.sendCodes}</Button>
      <Button look="quiet" onClick={() => onClose(false)}>{words.close}</Button>
    </Form>
  )
}

/** Chosen is what customers choose of an account themselves; null = as the organization does. */
interface Chosen {
  language?: Language | null
  onlyNeeded?: boolean
  whatsApp?: boolean
}

/** Messages says in which language this account is written to, and what for. */
function Messages() {
  const t = useText(portalPagesText)
  const { account: a } = useOwn()
  const [told, setTold] = useState('')
  const change = useSending('patch', '/subscribers/{id}', { tell: (_answer, shown) => setTold(shown ? t.saved : t.savedLater) })
  const save = (chosen: Chosen) => {
    setTold('')
    // The description of the API does not tell that null removes a value.
    change.mutate({ params: { path: { id: a.id } }, body: chosen as { language?: Language } })
  }
  // What was chosen stands there while it is saved.
  const sent: Chosen = change.isPending ? (change.variables.body as Chosen) : {}
  const language = sent.language === undefined ? a.language : sent.language
  return (
    <Card title={t.messages}>
      <Choice
        label={t.messagesIn}
        value={language ?? ''}
        of={[['', t.asProvider], ...Object.entries(languages)]}
        onChoose={(value) => save({ language: value === '' ? null : (value as Language) })}
      />
      {(['onlyNeeded', 'whatsApp'] as const).map((name) => (
        <label key={name} className="check">
          <input type="checkbox" checked={sent[name] ?? a[name]} onChange={(e) => save({ [name]: e.currentTarget.checked })} /> {t[name]}
        </label>
      ))}
      <Note of={change.error} />
      <p role="status" className="dim">{told}</p>
    </Card>
  )
}

/** Pages is how these pages look and speak on this device. */
function Pages() {
  const t = useText(portalPagesText)
  const spoken = useLanguage()
  const [colours, setColours] = useState(coloursNow)
  const install = useInstall()
  return (
    <Card title={t.pages}>
      <Choice label={t.language} value={spoken} of={Object.entries(languages)} onChoose={(value) => void speak(value as Language).catch(() => undefined)} />
      <Choice
        label={t.colours}
        value={colours}
        of={(['auto', 'light', 'dark'] as const).map((each) => [each, t[each]])}
        onChoose={(value) => {
          choose(value as Colours)
          setColours(value as Colours)
        }}
      />
      {install && <Button onClick={install}>{t.install}</Button>}
    </Card>
  )
}

const noFilters = {}

/** Sessions lists where this person is signed in, and ends what should not be. */
function Sessions() {
  const t = useText(portalPagesText)
  const f = useFormat()
  const list = useRows('/auth/sessions', noFilters)
  const end = useSending('delete', '/auth/sessions/{id}')
  const whereOf = (s: Row<'/auth/sessions'>) => s.browser ?? t.elsewhere
  return (
    <Card title={t.sessions}>
      <p className="dim">{t.sessionsHint}</p>
      <Note of={end.error ?? list.error} />
      <ul className="lines">
        {list.rows.map((s) => (
          <li key={s.id}>
            {s.current ? <State tone="good">{t.here}</State> : <span className="line-name">{whereOf(s)}</span>}
            <span className="dim">{s.ip && <span className="figure">{s.ip} · </span>}{t.lastUsed(f.short(s.usedAt))}</span>
            {!s.current && (
              <Button busy={end.isPending} aria-label={t.endOf(`${whereOf(s)}, ${f.short(s.startedAt)}`)} onClick={() => end.mutate({ params: { path: { id: s.id } } })}>
                {t.end}
              </Button>
            )}
          </li>
        ))}
      </ul>
      {list.hasMore && <Button busy={list.isFetchingMore} onClick={list.more}>{t.more}</Button>}
    </Card>
  )
}

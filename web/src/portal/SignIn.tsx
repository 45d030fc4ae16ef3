import { useState } from 'react'
import { pagesOf, placeAddress } from '../areas/identity/chosen'
import { typedCode } from '../areas/identity/factorCode'
import { useByCode } from '../areas/identity/useByCode'
import { usePlace } from '../areas/identity/usePlace'
import { type Language, languages, speak, useLanguage, useText } from '../text/catalogue'
import { codesText } from '../text/codes'
import { isolated } from '../text/isolated'
import { portalPagesText } from '../text/portalPages'
import { signInText } from '../text/signin'
import { Form } from '../ui/Form'
import { NewVersion } from './NewVersion'
import { Button, Field, Note, Page } from './parts'

/** SignIn lets a customer sign in by a code; at the platform's own address an organization is chosen first. */
export default function SignIn({ hint, onDone }: { hint?: string; onDone: () => void }) {
  const t = useText(signInText)
  const words = useText(portalPagesText)
  const place = usePlace()
  return (
    <main className="alone">
      <p className="place">{place?.name ?? ' '}</p>
      <div role="status"><NewVersion /></div>
      <Page title={place?.platform === false ? `${t.signIn} · ${isolated(place.name)}` : t.signIn}>
        <p className="dim">{hint ?? words.signInHint}</p>
        <ByCode onDone={onDone} />
      </Page>
      <Languages />
    </main>
  )
}

/** ByCode has a code sent, and takes it. */
function ByCode({ onDone }: { onDone: () => void }) {
  const t = useText(codesText)
  const words = useText(portalPagesText)
  const by = useByCode({ onDone })
  const [code, setCode] = useState('')
  switch (by.step.at) {
    case 'factor': // none of a customer has one
      return <><p>{words.staffHere}</p><a className="button main" href={pagesOf('staff')}>{words.staffPages}</a></>
    case 'entering':
      return by.problem ? <><Note of={by.problem} /><Button onClick={by.other}>{t.other}</Button></> : <p role="status">{t.entering}</p>
    case 'places': {
      const { list, token } = by.step
      if (list.length === 0) return <p>{t.nowhere}</p>
      return (
        <>
          <h2>{t.choose}</h2>
          {list.map((each) => <a key={each.id} className="button plain" href={placeAddress(each, token, location)}>{each.name}</a>)}
        </>
      )
    }
    case 'code':
      return (
        <Form key="code" busy={by.pending} onSubmit={() => by.prove(code)}>
          <p role="status">{t.sent(by.address.trim())}</p>
          <Field
            label={t.code} autoComplete="one-time-code" inputMode="numeric" value={code} onType={setCode}
            fault={!/^\d{0,6}$/.test(typedCode(code)) && t.codeForm} required autoFocus maxLength={12}
          />
          <Note of={by.problem} />
          <Button type="submit" look="main" busy={by.pending} disabled={by.wait > 0}>{t.enter}</Button>
          <Button
            look="quiet"
            onClick={() => {
              setCode('')
              by.other()
            }}
          >
            {t.other}
          </Button>
        </Form>
      )
    case 'address':
      return (
        <Form key="address" busy={by.pending} onSubmit={by.send}>
          <Field
            label={t.address} hint={t.addressHint} autoComplete="username" value={by.address} onType={by.setAddress}
            required maxLength={254} autoCapitalize="none" spellCheck={false}
          />
          <Note of={by.problem} />
          <Button type="submit" look="main" busy={by.pending} disabled={by.wait > 0}>{by.wait > 0 ? t.sendAgain(by.wait) : t.send}</Button>
        </Form>
      )
  }
}

/** Languages offers each language in itself. */
function Languages() {
  const spoken = useLanguage()
  return (
    <p className="languages">
      {(Object.keys(languages) as Language[]).map((each) => (
        <Button key={each} look="quiet" lang={each} aria-pressed={each === spoken} onClick={() => void speak(each)}>{languages[each]}</Button>
      ))}
    </p>
  )
}

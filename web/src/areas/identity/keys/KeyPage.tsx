import { Alert, Button, Text } from '@mantine/core'
import { Link, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../../../api/client'
import { useMay } from '../../../app/person'
import { apiKeysText } from '../../../text/apiKeys'
import { useText } from '../../../text/catalogue'
import { Facts } from '../../../ui/Facts'
import { TriangleAlert } from '../../../ui/icons'
import { later } from '../../../ui/later'
import { Loaded } from '../../../ui/Loaded'
import { Page, Section } from '../../../ui/Page'
import { When } from '../../../ui/When'
import { type ApiKey, KeyState, LastUse, personOf } from './words'
import './keys.css'

const RotateKey = later(() => import('./KeyDialogs').then((m) => m.RotateKey))
const RevokeKey = later(() => import('./KeyDialogs').then((m) => m.RevokeKey))

/** KeyPage answers about one key: what does it open, for whom, who answers for it, and is it still used? */
export default function KeyPage() {
  const t = useText(apiKeysText)
  const { id } = useParams({ from: '/api-keys/$id' })
  const read = api.useQuery('get', '/api-keys/{id}', { params: { path: { id } } })
  return (
    <Page title={read.data?.name ?? t.key} actions={read.data && <Actions of={read.data} />}>
      <Loaded read={read} height={400}>
        {(k) => (
          <>
            {(k.state === 'stopped' || k.state === 'expired') && (
              <Alert color="orange" variant="outline" icon={<TriangleAlert size={18} aria-hidden />} p="sm">
                <Text size="sm">{t.stateHints[k.state]}</Text>
              </Alert>
            )}
            <KeyFacts of={k} />
            <Text size="sm"><Link to="/audit" search={{ actor: id } as never}>{t.didWhat}</Link></Text>
            <Section title={t.may}>
              <Text size="sm">{t.role}: {t.roles[k.role]}</Text>
              {k.scopes ? <Scopes of={k.scopes} /> : <><Text size="sm">{t.allOf[k.role]}</Text><Text size="sm" c="dimmed">{t.allHint}</Text></>}
            </Section>
          </>
        )}
      </Loaded>
    </Page>
  )
}

function KeyFacts({ of: k }: { of: ApiKey }) {
  const t = useText(apiKeysText)
  return (
    <Facts
      of={[
        [t.state, <KeyState key="s" of={k} />],
        [t.revokedAt, k.revokedAt && <><When key="r" at={k.revokedAt} exact />{k.revokedBy && `, ${personOf(k.revokedBy)}`}</>],
        [t.used, <LastUse key="u" of={k} />],
        [t.expires, k.expiresAt ? <When key="e" at={k.expiresAt} exact /> : t.never],
        [t.from, k.allowedAddresses?.join(', ') ?? t.everywhere],
        [t.prefix, <span key="p" className="secret">{k.prefix}</span>],
        [t.answers, <span key="a" title={t.answersHint}>{personOf(k.answeredBy)}</span>],
        [t.by, <><Link key="b" to="/staff/$id" params={{ id: k.createdBy.id }}>{personOf(k.createdBy)}</Link>, <When at={k.createdAt} /></>],
        [t.rotated, k.rotatedAt && <When key="t" at={k.rotatedAt} />],
        [t.previous, k.previous && <><span className="secret">{k.previous.prefix}</span> {t.previousUntil} <When at={k.previous.until} exact /></>],
      ]}
    />
  )
}

/** Scopes are what a key may, in words. */
function Scopes({ of }: { of: string[] }) {
  const t = useText(apiKeysText)
  return (
    <ul className="scope-lines">
      {of.map((scope) => {
        const [name = '', way] = scope.split(':')
        const what = t.resources[name] ?? name
        return <li key={scope}><Text span size="sm" title={scope}>{way === 'write' ? t.writeOf(what) : t.readOf(what)}</Text></li>
      })}
    </ul>
  )
}

/** Actions replace the text of a key, or end it. What is over stays as it is. */
function Actions({ of: k }: { of: ApiKey }) {
  const t = useText(apiKeysText)
  const may = useMay()
  const [doing, setDoing] = useState<'rotate' | 'revoke' | null>(null)
  const close = () => setDoing(null)
  return (
    <>
      {(k.state === 'active' || k.state === 'stopped') && may('POST /api-keys/{id}/rotate') && (
        <Button variant="default" onClick={() => setDoing('rotate')}>{t.rotate}</Button>
      )}
      {k.state !== 'revoked' && may('DELETE /api-keys/{id}') && (
        <Button variant="default" onClick={() => setDoing('revoke')}>{t.revoke}</Button>
      )}
      {doing === 'rotate' && <RotateKey of={k} onClose={close} />}
      {doing === 'revoke' && <RevokeKey of={k} onClose={close} />}
    </>
  )
}

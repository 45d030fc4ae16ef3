import { Button, Code, Stack } from '@mantine/core'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../../api/client'
import type { Shape } from '../../api/types'
import { useWrite } from '../../api/write'
import { useMay } from '../../app/person'
import { useText } from '../../text/catalogue'
import { deviceScriptsText } from '../../text/deviceScripts'
import { useFormat } from '../../text/format'
import { Confirm } from '../../ui/Confirm'
import { Facts } from '../../ui/Facts'
import { later } from '../../ui/later'
import { Loaded } from '../../ui/Loaded'
import { Page, Section } from '../../ui/Page'
import { State } from '../../ui/State'
import { When } from '../../ui/When'
import { comes, toneOfScript } from './script'

const ScriptDialog = later(() => import('./ScriptDialog').then((m) => m.ScriptDialog))

type Script = Shape<'CpeProvisionScript'>

// No change tells that the CPE server has it, or refuses it.
const lookAgain = 3_000

/** ScriptPage answers about one script: does it run, and what does it do? */
export default function ScriptPage() {
  const { name } = useParams({ from: '/device-scripts/$name' })
  const read = api.useQuery('get', '/cpe/provisions/{name}', { params: { path: { name } } }, {
    refetchInterval: (q) => (comes(q.state.data) ? lookAgain : false),
  })
  return (
    <Page title={name} wide actions={read.data && read.data.state !== 'removing' && <Actions of={read.data} />}>
      <Loaded read={read} height={360}>{(s) => <Story of={s} />}</Loaded>
    </Page>
  )
}

function Actions({ of: s }: { of: Script }) {
  const t = useText(deviceScriptsText)
  const may = useMay()
  const navigate = useNavigate()
  const [act, setAct] = useState<'replace' | 'remove' | null>(null)
  const close = () => setAct(null)
  const remove = useWrite('delete', '/cpe/provisions/{name}', { told: () => t.removed, then: () => void navigate({ to: '/device-scripts', replace: true }) })
  return (
    <>
      {may('PUT /cpe/provisions/{name}') && <Button onClick={() => setAct('replace')}>{t.replace}</Button>}
      {may('DELETE /cpe/provisions/{name}') && <Button variant="default" onClick={() => setAct('remove')}>{t.remove}</Button>}
      {act === 'replace' && <ScriptDialog of={s} onClose={close} />}
      {act === 'remove' && (
        <Confirm
          title={t.removeTitle(s.name)}
          verb={t.remove}
          danger
          pending={remove.isPending}
          error={remove.error}
          onConfirm={() => remove.mutate({ params: { path: { name: s.name } } })}
          onClose={close}
        >
          {t.removeDoes}
        </Confirm>
      )}
    </>
  )
}

function Story({ of: s }: { of: Script }) {
  const t = useText(deviceScriptsText)
  const f = useFormat()
  return (
    <Stack gap="lg">
      <Facts
        of={[
          [t.state, <span key="state" role="status"><State tone={toneOfScript(s)}>{t.states[s.state]}</State></span>],
          [t.why, s.error && s.error.message],
          [t.version, f.number(s.version)],
          [t.at, <span key="at">{s.by?.name} <When at={s.at} /></span>],
          [t.settled, s.settledAt && <When key="settled" at={s.settledAt} />],
          [t.stored, <span key="stored" style={{ overflowWrap: 'anywhere' }}>{s.storedName}, {t.storedHint}</span>],
        ]}
      />
      <Section title={t.script}>
        <Code block tabIndex={0} role="region" aria-label={t.script} style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>{s.script}</Code>
      </Section>
    </Stack>
  )
}

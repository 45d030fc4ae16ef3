import { Button, Code, List, Stack, Switch, Text } from '@mantine/core'
import { useState } from 'react'
import { api } from '../../api/client'
import type { Shape } from '../../api/types'
import { useWrite } from '../../api/write'
import { useMay } from '../../app/person'
import { useText } from '../../text/catalogue'
import { optInText } from '../../text/optIn'
import { Confirm } from '../../ui/Confirm'
import { Facts } from '../../ui/Facts'
import { Form } from '../../ui/Form'
import { Loaded } from '../../ui/Loaded'
import { Page, Section } from '../../ui/Page'
import { ProblemNote } from '../../ui/ProblemNote'
import { State, type Tone } from '../../ui/State'
import { When } from '../../ui/When'

type OptIn = Shape<'OptInResponse'>

const tones: Record<OptIn['state'], Tone> = { not_configured: 'quiet', not_opted_in: 'attention', opted_in: 'good' }

/** OptInPage answers: does the provider's bill manager know the platform, and as what? */
export default function OptInPage() {
  const t = useText(optInText)
  const read = api.useQuery('get', '/bill-manager/opt-in')
  return (
    <Page title={t.title}>
      <Text size="sm" c="dimmed" maw={760}>{t.hint}</Text>
      <Loaded read={read} height={300}>
        {(o) => (
          <Stack gap="lg">
            <Facts
              of={[
                [t.state, <State key="s" tone={o.refusedSince ? 'bad' : tones[o.state]}>{t.states[o.state]}</State>],
                [t.since, o.since && <When key="w" at={o.since} exact />],
                [t.refused, o.refusedSince && <When key="r" at={o.refusedSince} exact />],
                [t.shortcode, o.shortcode],
                [t.reminders, o.since && t.reminds[o.reminders ? 'true' : 'false']],
              ]}
            />
            {o.refusedSince && <Text size="sm" role="note" maw={760}>{t.refusedDoes}</Text>}
            <Section title={t.given}>
              <Facts of={[[t.email, o.email || t.unknown], [t.phone, o.phone || t.unknown], [t.callback, o.callbackUrl || t.unknown]]} />
              <Text size="sm" c="dimmed" maw={760}>{t.settings}</Text>
            </Section>
            {o.state === 'not_configured' ? <Missing of={o.missing} /> : <OptInForm key={o.since} of={o} />}
          </Stack>
        )}
      </Loaded>
    </Page>
  )
}

/** Missing names the settings without which nobody can opt in. */
function Missing({ of: names }: { of: string[] }) {
  const t = useText(optInText)
  return (
    <div role="note">
      <Text size="sm">{t.missing}</Text>
      <List size="sm">{names.map((name) => <List.Item key={name}><Code>{name}</Code></List.Item>)}</List>
    </div>
  )
}

/** OptInForm opts in; when that was done before, it says first what another key means. */
function OptInForm({ of: o }: { of: OptIn }) {
  const t = useText(optInText)
  const may = useMay()
  const [reminders, setReminders] = useState(o.since === null || o.reminders)
  const [asking, setAsking] = useState(false)
  const close = () => setAsking(false)
  const write = useWrite('post', '/bill-manager/opt-in', { told: () => t.done, then: close })
  const send = () => write.mutate({ body: { reminders } })
  if (!may('POST /bill-manager/opt-in')) return null
  const again = o.state === 'opted_in'
  return (
    <Form busy={write.isPending} onSubmit={() => (again ? setAsking(true) : send())}>
      <Stack gap="sm" align="start">
        <Switch
          label={t.remind}
          description={t.remindHint}
          checked={reminders}
          onChange={(e) => setReminders(e.currentTarget.checked)}
          maw={640}
        />
        {write.error && !asking && <ProblemNote of={write.error} />}
        <Button type="submit" variant={again ? 'default' : 'filled'} loading={write.isPending && !asking}>{again ? t.again : t.optIn}</Button>
      </Stack>
      {asking && (
        <Confirm title={t.againTitle} verb={t.again} pending={write.isPending} error={write.error} onConfirm={send} onClose={close}>
          {t.againDoes}
        </Confirm>
      )}
    </Form>
  )
}

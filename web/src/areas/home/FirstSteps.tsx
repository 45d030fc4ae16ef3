import { Stack, Text } from '@mantine/core'
import { api } from '../../api/client'
import { useText } from '../../text/catalogue'
import { firstStepsText } from '../../text/firstSteps'
import { Loaded } from '../../ui/Loaded'
import { Section } from '../../ui/Page'
import { State } from '../../ui/State'
import { To } from '../../ui/To'
import { type Step, stepsOf } from './beginning'
import type { Today } from './today'
import './home.css'

/** FirstSteps lists what a new organization does before it can serve somebody. */
export function FirstSteps({ of: r }: { of: Today }) {
  const plans = api.useQuery('get', '/plans', { params: { query: { archived: false, limit: 1 } } })
  const gateway = api.useQuery('get', '/settings/payment-gateway')
  return (
    <Loaded read={plans} height={280}>
      {(p) => <Loaded read={gateway} height={280}>{(g) => <Steps of={stepsOf(r, p.data.length, g.active)} />}</Loaded>}
    </Loaded>
  )
}

function Steps({ of }: { of: Step[] }) {
  const t = useText(firstStepsText)
  if (of.length === 0) return null
  return (
    <Section title={t.title}>
      <Stack gap="sm">
        <Text size="sm" c="dimmed" maw={640}>{t.hint}</Text>
        <ol className="first-steps" aria-label={t.title}>
          {of.map((s) => (
            <li key={s.code}>
              <State tone={s.done ? 'good' : 'quiet'}>{s.done ? t.done : t.open}</State>
              <div>
                <Text size="sm" fw={500} component="div"><To way={{ to: s.to }}>{t.steps[s.code]}</To></Text>
                <Text size="sm" c="dimmed">{t.why[s.code]}</Text>
              </div>
            </li>
          ))}
        </ol>
      </Stack>
    </Section>
  )
}

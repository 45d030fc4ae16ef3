import { Alert, Button, Stack, Text } from '@mantine/core'
import { useVersioned } from '../../api/versioned'
import type { Shape } from '../../api/types'
import { useWrite } from '../../api/write'
import { useMay } from '../../app/person'
import { appText } from '../../text/app'
import { billManagerText } from '../../text/billManager'
import { useText } from '../../text/catalogue'
import { settingsText } from '../../text/settings'
import { CopyText } from '../../ui/CopyText'
import { Facts } from '../../ui/Facts'
import { Loaded } from '../../ui/Loaded'
import { RefreshCw, TriangleAlert } from '../../ui/icons'
import { Page, Section } from '../../ui/Page'
import { PageLink } from '../../ui/PageLink'
import { ProblemNote } from '../../ui/ProblemNote'
import { State, type Tone } from '../../ui/State'
import { When } from '../../ui/When'
import { GatewayForm } from './GatewayForm'

type Gateway = Shape<'GatewayResponse'>

const tones: Record<Gateway['registration']['state'], Tone> = {
  not_needed: 'quiet',
  pending: 'attention',
  registered: 'good',
  failed: 'bad',
}

// A registration with the provider takes seconds; the page follows it.
const pendingEvery = 3000

/** GatewayPage answers: can customers pay, and where does the money go? */
export default function GatewayPage() {
  const app = useText(appText)
  const t = useText(settingsText)
  const bills = useText(billManagerText)
  const may = useMay()
  const read = useVersioned('/settings/payment-gateway', {}, {
    refetchInterval: (g) => (g?.registration.state === 'pending' ? pendingEvery : false),
  })
  return (
    <Page title={app.gateway}>
      <Loaded read={read} height={520}>
        {(gateway) => (
          <>
            <Section title={t.state}>
              <GatewayState of={gateway.value} />
            </Section>
            {gateway.value.mode === 'centralized' && may('GET /settings/bill-manager') && (
              <Section title={bills.title}>
                <PageLink to="/bills">{bills.settings}</PageLink>
              </Section>
            )}
            {may('PUT /settings/payment-gateway') && (
              <Section title={t.how}>
                <GatewayForm gateway={gateway} reread={() => void read.refetch()} />
              </Section>
            )}
          </>
        )}
      </Loaded>
    </Page>
  )
}

/** GatewayState says whether money is taken, and if not, why, what to do, and when it is tried again. */
function GatewayState({ of: g }: { of: Gateway }) {
  const t = useText(settingsText)
  const { state, triedAt, nextTryAt, refusal } = g.registration
  return (
    <Stack gap="sm">
      <Facts
        of={[
          [t.state, <State key="s" tone={g.active ? 'good' : 'bad'}>{g.active ? t.active : t.inactive}</State>],
          [t.mode, t.gatewayModes[g.mode]],
          [t.paysTo, g.active ? <CopyText key="c" text={g.shortcode}>{t.paysToWords(g.shortcode)}</CopyText> : null],
          [t.environment, (
            <State key="e" tone={g.environment === 'sandbox' ? 'attention' : 'good'}>{t.environmentNames[g.environment]}</State>
          )],
          [t.registration, <State key="r" tone={tones[state]}>{t.registrations[state]}</State>],
          [t.tried, triedAt && <When key="t" at={triedAt} />],
          [t.nextTry, state === 'failed' ? (nextTryAt ? <When key="n" at={nextTryAt} /> : t.noNextTry) : null],
        ]}
      />
      <Text size="sm" c="dimmed" maw={760}>
        {t.environments[g.environment]} {g.mode === 'centralized' && !g.active ? t.noPlatformPaybill : t.registrationHints[state]}
      </Text>
      {refusal && <Refusal of={refusal} failed={state === 'failed'} />}
    </Stack>
  )
}

/** Refusal says how the last try to register failed, what to do, and has the button that tries again at once. */
function Refusal({ of, failed }: { of: NonNullable<Gateway['registration']['refusal']>; failed: boolean }) {
  const t = useText(settingsText)
  const may = useMay()
  const again = useWrite('post', '/settings/payment-gateway/register', { told: () => t.triedNow })
  const said = of.why !== 'unreachable' && of.why !== 'unknown' && of.message
  return (
    <Alert color="red" variant="light" icon={<TriangleAlert size={18} aria-hidden />} title={t.refused} maw={760}>
      <Stack gap="xs" align="start">
        <Text size="sm">{t.refusals[of.why]} {t.remedies[of.why]}</Text>
        {said && <Text size="sm" c="dimmed">{t.providerSays}: {said}</Text>}
        {again.error && <ProblemNote of={again.error} />}
        {failed && may('POST /settings/payment-gateway/register') && (
          <Button
            size="compact-sm"
            leftSection={<RefreshCw size={14} aria-hidden />}
            loading={again.isPending}
            onClick={() => again.mutate({})}
          >
            {t.tryNow}
          </Button>
        )}
      </Stack>
    </Alert>
  )
}

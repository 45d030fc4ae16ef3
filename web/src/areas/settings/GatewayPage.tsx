import { Text } from '@mantine/core'
import { useVersioned } from '../../api/versioned'
import type { Shape } from '../../api/types'
import { useMay } from '../../app/person'
import { appText } from '../../text/app'
import { useText } from '../../text/catalogue'
import { settingsText } from '../../text/settings'
import { CopyText } from '../../ui/CopyText'
import { Facts } from '../../ui/Facts'
import { Loaded } from '../../ui/Loaded'
import { Page, Section } from '../../ui/Page'
import { State, type Tone } from '../../ui/State'
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

/** GatewayState says whether money is taken, and if not, why. */
function GatewayState({ of: g }: { of: Gateway }) {
  const t = useText(settingsText)
  const { state, error } = g.registration
  return (
    <>
      <Facts
        of={[
          [t.state, <State key="s" tone={g.active ? 'good' : 'bad'}>{g.active ? t.active : t.inactive}</State>],
          [t.mode, t.gatewayModes[g.mode]],
          [t.paysTo, g.active ? <CopyText key="c" text={g.shortcode}>{t.paysToWords(g.shortcode)}</CopyText> : null],
          [t.environment, (
            <State key="e" tone={g.environment === 'sandbox' ? 'attention' : 'good'}>{t.environmentNames[g.environment]}</State>
          )],
          [t.registration, <State key="r" tone={tones[state]}>{t.registrations[state]}</State>],
          [t.providerSays, error],
        ]}
      />
      <Text size="sm" c="dimmed" maw={760}>
        {t.environments[g.environment]} {g.mode === 'centralized' && !g.active ? t.noPlatformPaybill : t.registrationHints[state]}
      </Text>
    </>
  )
}

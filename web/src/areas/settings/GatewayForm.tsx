import { PasswordInput, Radio, SegmentedControl, SimpleGrid, Stack, Switch, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import type { Versioned } from '../../api/versioned'
import type { Shape } from '../../api/types'
import { useWrite } from '../../api/write'
import { useText } from '../../text/catalogue'
import { settingsText } from '../../text/settings'
import { uiText } from '../../text/ui'
import { Confirm } from '../../ui/Confirm'
import { EditedNote, unsaid } from '../../ui/EditedNote'
import { Form } from '../../ui/Form'
import { SaveBar } from '../../ui/SaveBar'
import { useEdited } from '../../ui/useEdited'
import { type GatewayValues, gatewayForm, gatewayWritten, movesMoney } from './gateway'

type Gateway = Shape<'GatewayResponse'>

const needed = ['consumerKey', 'consumerSecret', 'passkey'] as const
const optional = ['initiator', 'securityCredential'] as const
const secrets = [...needed, ...optional] as const
const hidden = { version: 'credentialsVersion', fields: secrets } as const

/** GatewayForm changes where money goes; it asks before it does. Secrets are written and never read. */
export function GatewayForm({ gateway, reread }: { gateway: Versioned<Gateway>; reread: () => void }) {
  const t = useText(settingsText)
  const words = useText(uiText)
  const [asking, setAsking] = useState(false)
  const save = useWrite('put', '/settings/payment-gateway', {
    told: (g) => ('mode' in g && g.mode === 'direct' ? t.gatewaySavedDirect : t.gatewaySaved),
    then: () => setAsking(false),
    shown: () => edited.undo(),
  })
  const edited = useEdited(gateway, gatewayForm, save.isPending, hidden)
  const { values, set } = edited
  const direct = values.mode === 'direct'
  const send = () => save.mutate({ headers: edited.headers, body: gatewayWritten(values, gateway.value) })
  const note = (
    <EditedNote
      edited={edited}
      names={{
        mode: [t.mode, (mode) => t.gatewayModes[mode]],
        environment: [t.environment, (environment) => t.environmentNames[environment]],
        shortcode: t.shortcode,
        consumerKey: [t.consumerKey, unsaid],
        consumerSecret: [t.consumerSecret, unsaid],
        passkey: [t.passkey, unsaid],
        initiator: [t.initiator, unsaid],
        securityCredential: [t.securityCredential, unsaid],
        credentialsVersion: null,
        rejectUnknownAccounts: [t.reject, (on) => (on ? words.yes : words.no)],
        nominatedNumber: t.nominated,
      }}
      error={save.error}
      onTake={() => {
        save.reset()
        reread()
      }}
    />
  )
  return (
    <Form
      busy={save.isPending}
      onSubmit={() => {
        if (!edited.dirty || edited.meanwhile) return
        if (movesMoney(values, gateway.value)) setAsking(true)
        else send()
      }}
    >
      <Stack gap="md">
        <Radio.Group label={t.mode} value={values.mode} onChange={(mode) => set({ mode: mode as GatewayValues['mode'] })}>
          <Stack gap="xs" mt={4}>
            {(['centralized', 'direct'] as const).map((mode) => (
              <Radio key={mode} value={mode} label={t.gatewayModes[mode]} description={t.gatewayModeHints[mode]} />
            ))}
          </Stack>
        </Radio.Group>
        {direct && <DirectFields values={values} set={set} gateway={gateway.value} faultOf={(field) => save.error?.of(field)} />}
        <Switch
          label={t.reject}
          description={`${t.rejectHint} ${t.rejectNeeds}`}
          checked={values.rejectUnknownAccounts}
          onChange={(e) => set({ rejectUnknownAccounts: e.currentTarget.checked })}
          maw={640}
        />
        {!asking && note}
        <SaveBar edited={edited} pending={save.isPending} />
      </Stack>
      {asking && (
        <Confirm
          title={t.confirmTitle}
          verb={t.save}
          danger
          pending={save.isPending}
          error={save.error}
          onConfirm={send}
          onClose={() => setAsking(false)}
        >
          {direct ? t.confirmDirect(values.shortcode) : t.confirmCentralized}
        </Confirm>
      )}
    </Form>
  )
}

/** DirectFields are the organization's own shortcode and credentials. */
function DirectFields({ values, set, gateway, faultOf }: {
  values: GatewayValues
  set: (part: Partial<GatewayValues>) => void
  gateway: Gateway
  faultOf: (field: string) => string | undefined
}) {
  const t = useText(settingsText)
  const names = {
    consumerKey: t.consumerKey,
    consumerSecret: t.consumerSecret,
    passkey: t.passkey,
    initiator: t.initiator,
    securityCredential: t.securityCredential,
  }
  const field = (name: (typeof secrets)[number], required: boolean) => {
    const isSet = gateway[name] !== ''
    return (
      <PasswordInput
        key={name}
        label={names[name]}
        description={isSet ? t.secretSet : required ? t.secretMissing : t.secretOptional}
        value={values[name]}
        onChange={(e) => set({ [name]: e.currentTarget.value })}
        error={faultOf(name)}
        required={required && !isSet}
        withAsterisk={false}
        autoComplete="off"
        visibilityToggleButtonProps={{ 'aria-label': t.showSecret(names[name]) }}
        maxLength={500}
      />
    )
  }
  return (
    <Stack gap="sm" maw={640}>
      <div role="group" aria-label={t.environment}>
        <Text size="sm" fw={500} mb={4}>{t.environment}</Text>
        <SegmentedControl
          value={values.environment}
          onChange={(environment) => set({ environment: environment as GatewayValues['environment'] })}
          data={(['sandbox', 'production'] as const).map((value) => ({ value, label: t.environmentNames[value] }))}
          size="xs"
        />
        <Text size="sm" c="dimmed" mt={4}>{t.environments[values.environment]}</Text>
      </div>
      <TextInput
        label={t.shortcode}
        description={t.shortcodeHint}
        value={values.shortcode}
        onChange={(e) => set({ shortcode: e.currentTarget.value })}
        error={faultOf('shortcode')}
        inputMode="numeric"
        required
        withAsterisk={false}
        maxLength={10}
        w={180}
      />
      <Text size="sm" c="dimmed">{t.secrets}</Text>
      <SimpleGrid cols={{ base: 1, sm: 3 }} spacing="sm">
        {needed.map((name) => field(name, true))}
      </SimpleGrid>
      <Text size="sm" c="dimmed">{t.initiatorHint}</Text>
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="sm">
        {optional.map((name) => field(name, false))}
      </SimpleGrid>
      <TextInput
        label={t.nominated}
        description={t.nominatedHint}
        inputWrapperOrder={['label', 'input', 'description', 'error']}
        value={values.nominatedNumber}
        onChange={(e) => set({ nominatedNumber: e.currentTarget.value })}
        error={faultOf('nominatedNumber')}
        inputMode="tel"
        autoComplete="off"
        maxLength={20}
      />
    </Stack>
  )
}

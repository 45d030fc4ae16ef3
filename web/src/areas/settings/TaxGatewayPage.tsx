import { PasswordInput, Stack, Switch, Text, TextInput } from '@mantine/core'
import { useVersioned, type Versioned } from '../../api/versioned'
import type { Shape } from '../../api/types'
import { useWrite } from '../../api/write'
import { useMay } from '../../app/person'
import { appText } from '../../text/app'
import { useText } from '../../text/catalogue'
import { taxText } from '../../text/tax'
import { uiText } from '../../text/ui'
import { EditedNote, unsaid } from '../../ui/EditedNote'
import { Form } from '../../ui/Form'
import { Loaded } from '../../ui/Loaded'
import { Page, Section } from '../../ui/Page'
import { PageLink } from '../../ui/PageLink'
import { SaveBar } from '../../ui/SaveBar'
import { State } from '../../ui/State'
import { useEdited } from '../../ui/useEdited'

type Gateway = Shape<'TaxGatewayResponse'>

const hidden = { version: 'secretVersion', fields: ['secret'] } as const

/** formOf is what the form holds; an empty secret is kept as it is. */
const formOf = ({ on, address, serial, branch, secretVersion, messages }: Gateway) => (
  { on, address, serial, branch, secret: '', secretVersion, messages }
)

/** TaxGatewayPage answers: are invoices signed by the tax authority, and with which device? */
export default function TaxGatewayPage() {
  const app = useText(appText)
  const t = useText(taxText)
  const may = useMay()
  const read = useVersioned('/settings/tax-gateway', {})
  return (
    <Page title={app.taxGateway}>
      <Loaded read={read} height={520}>
        {(gateway) => (
          <>
            <Section title={t.what}>
              <Stack gap="xs" align="start">
                <State tone={gateway.value.on ? 'good' : 'quiet'}>{gateway.value.on ? t.isOn : t.isOff}</State>
                <PageLink to="/tax-documents">{t.refusedOnes}</PageLink>
              </Stack>
            </Section>
            {may('PUT /settings/tax-gateway') && (
              <Section title={app.taxGateway}>
                <GatewayForm gateway={gateway} reread={() => void read.refetch()} />
              </Section>
            )}
          </>
        )}
      </Loaded>
    </Page>
  )
}

/** GatewayForm turns the gateway on or off and says which device signs. The secret is written and never read. */
function GatewayForm({ gateway, reread }: { gateway: Versioned<Gateway>; reread: () => void }) {
  const t = useText(taxText)
  const words = useText(uiText)
  const save = useWrite('put', '/settings/tax-gateway', { told: () => t.saved, shown: () => edited.undo() })
  const edited = useEdited(gateway, formOf, save.isPending, hidden)
  const { values, set } = edited
  const isSet = gateway.value.secret !== ''
  const field = (name: 'address' | 'serial' | 'branch', label: string, hint: string, width: number, longest: number) => (
    <TextInput
      label={label}
      description={hint}
      value={values[name]}
      onChange={(e) => set({ [name]: e.currentTarget.value })}
      error={save.error?.of(name)}
      required={values.on}
      withAsterisk={false}
      maxLength={longest}
      maw={width}
    />
  )
  return (
    <Form
      busy={save.isPending}
      onSubmit={() => {
        if (!edited.dirty || edited.meanwhile) return
        const { secretVersion: _, secret, ...rest } = values
        save.mutate({ headers: edited.headers, body: { ...rest, secret: secret || gateway.value.secret } })
      }}
    >
      <Stack gap="md">
        <Switch
          label={t.on}
          description={t.onHint}
          checked={values.on}
          onChange={(e) => set({ on: e.currentTarget.checked })}
          maw={640}
        />
        {field('address', t.address, t.addressHint, 480, 300)}
        {field('serial', t.serial, t.serialHint, 300, 40)}
        {field('branch', t.branch, t.branchHint, 180, 40)}
        <PasswordInput
          label={t.secret}
          description={isSet ? t.secretSet : t.secretMissing}
          value={values.secret}
          onChange={(e) => set({ secret: e.currentTarget.value })}
          error={save.error?.of('secret')}
          required={values.on && !isSet}
          withAsterisk={false}
          autoComplete="off"
          visibilityToggleButtonProps={{ 'aria-label': t.showSecret }}
          maxLength={500}
          maw={300}
        />
        <Switch
          label={t.messages}
          description={t.messagesHint}
          checked={values.messages}
          onChange={(e) => set({ messages: e.currentTarget.checked })}
          maw={640}
        />
        {save.error?.of('taxPin') && (
          <Text size="sm" role="alert" c="red">{t.pinNeeded} <PageLink to="/organization">{t.openOrganization}</PageLink></Text>
        )}
        <EditedNote
          edited={edited}
          names={{
            on: [t.on, (on) => (on ? words.yes : words.no)],
            address: t.address,
            serial: t.serial,
            branch: t.branch,
            secret: [t.secret, unsaid],
            secretVersion: null,
            messages: [t.messages, (on) => (on ? words.yes : words.no)],
          }}
          error={save.error}
          onTake={() => {
            save.reset()
            reread()
          }}
        />
        <SaveBar edited={edited} pending={save.isPending} />
      </Stack>
    </Form>
  )
}

import { Anchor, Button, Stack, Text, TextInput } from '@mantine/core'
import { Link, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { useVersioned, type Versioned } from '../../api/versioned'
import type { Shape } from '../../api/types'
import { useWrite } from '../../api/write'
import { useMay } from '../../app/person'
import { useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import { platformText } from '../../text/platform'
import { Confirm } from '../../ui/Confirm'
import { EditedNote } from '../../ui/EditedNote'
import { Facts } from '../../ui/Facts'
import { Form } from '../../ui/Form'
import { Loaded } from '../../ui/Loaded'
import { Page, Section } from '../../ui/Page'
import { SaveBar } from '../../ui/SaveBar'
import { State } from '../../ui/State'
import { useEdited } from '../../ui/useEdited'
import { When } from '../../ui/When'
import { addressOf } from './slug'

type Organization = Shape<'OrganizationResponse'>

/** OrganizationPage answers about one ISP of the platform: what is it, and may it work? */
export default function OrganizationPage() {
  const t = useText(platformText)
  const f = useFormat()
  const { id } = useParams({ from: '/orgs/$id' })
  const read = useVersioned('/orgs/{id}', { params: { path: { id } } })
  const org = read.data?.value
  return (
    <Page title={org?.name ?? t.organization} actions={org && <SuspendButton org={org} />}>
      <Loaded read={read} height={300}>
        {(o) => (
          <Stack gap="lg">
            <Facts
              of={[
                [t.status, (
                  <State key="s" tone={o.value.status === 'active' ? 'good' : 'bad'}>{t.statuses[o.value.status]}</State>
                )],
                [t.address, <Anchor key="a" size="sm" href={addressOf(o.value.slug)} target="_blank">{addressOf(o.value.slug)}</Anchor>],
                [t.customers, f.number(o.value.subscribers)],
                [t.staff, f.number(o.value.staff)],
                [t.routers, f.number(o.value.routers)],
                [t.lastSignIn, o.value.lastSignInAt ? <When key="l" at={o.value.lastSignInAt} /> : t.never],
                [t.prefix, o.value.invoicePrefix],
                [t.currency, o.value.currency],
                [t.country, o.value.country],
                [t.timezone, o.value.timezone],
                [t.since, <When key="w" at={o.value.createdAt} exact />],
              ]}
            />
            <Text size="sm"><Link to="/audit" search={{ target: id } as never}>{t.history}</Link></Text>
            <NameForm org={o} reread={() => void read.refetch()} />
          </Stack>
        )}
      </Loaded>
    </Page>
  )
}

const formOf = (o: Organization) => ({ name: o.name })

/** NameForm renames the organization. */
function NameForm({ org, reread }: { org: Versioned<Organization>; reread: () => void }) {
  const t = useText(platformText)
  const may = useMay()
  const { id } = org.value
  const save = useWrite('patch', '/orgs/{id}', { told: () => t.saved, shown: () => edited.undo() })
  const edited = useEdited(org, formOf, save.isPending)
  if (!may('PATCH /orgs/{id}')) return null
  return (
    <Section title={t.rename}>
      <Form
        busy={save.isPending}
        onSubmit={() => {
          if (!edited.dirty || edited.meanwhile) return
          save.mutate({ params: { path: { id } }, headers: edited.headers, body: edited.values })
        }}
      >
        <Stack gap="sm" maw={480}>
          <TextInput
            aria-label={t.name}
            value={edited.values.name}
            onChange={(e) => edited.set({ name: e.currentTarget.value })}
            error={save.error?.of('name')}
            required
            maxLength={200}
          />
          <EditedNote
            edited={edited}
            names={{ name: t.name }}
            error={save.error}
            onTake={() => {
              save.reset()
              reread()
            }}
          />
          <SaveBar edited={edited} pending={save.isPending} />
        </Stack>
      </Form>
    </Section>
  )
}

/** SuspendButton ends everybody's access to the organization, or gives it back; both need a reason. */
function SuspendButton({ org }: { org: Organization }) {
  const t = useText(platformText)
  const may = useMay()
  const [asking, setAsking] = useState(false)
  const close = () => setAsking(false)
  const suspend = useWrite('post', '/orgs/{id}/suspend', { told: () => t.suspendedNow(org.name), then: close })
  const resume = useWrite('post', '/orgs/{id}/resume', { told: () => t.resumedNow(org.name), then: close })
  const off = org.status === 'suspended'
  const write = off ? resume : suspend
  if (!may(off ? 'POST /orgs/{id}/resume' : 'POST /orgs/{id}/suspend')) return null
  return (
    <>
      <Button variant="default" onClick={() => setAsking(true)}>{off ? t.resume : t.suspend}</Button>
      {asking && (
        <Confirm
          title={off ? t.resumeTitle(org.name) : t.suspendTitle(org.name)}
          verb={off ? t.resume : t.suspend}
          danger={!off}
          typed={off ? undefined : org.slug}
          undoable
          reason
          pending={write.isPending}
          error={write.error}
          onConfirm={(reason) => write.mutate({ params: { path: { id: org.id } }, body: { reason } })}
          onClose={close}
        >
          {off ? t.resumeHint : t.suspendHint}
        </Confirm>
      )}
    </>
  )
}

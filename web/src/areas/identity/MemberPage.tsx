import { Button, SimpleGrid, Text, TextInput } from '@mantine/core'
import { Link, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { useVersioned, type Versioned } from '../../api/versioned'
import type { Shape } from '../../api/types'
import { useWrite } from '../../api/write'
import { useMay, usePerson } from '../../app/person'
import { useText } from '../../text/catalogue'
import { identityText } from '../../text/identity'
import { secondFactorText } from '../../text/secondFactor'
import { Confirm } from '../../ui/Confirm'
import { EditedNote } from '../../ui/EditedNote'
import { Facts } from '../../ui/Facts'
import { Form } from '../../ui/Form'
import { Loaded } from '../../ui/Loaded'
import { Page, Section } from '../../ui/Page'
import { SaveBar } from '../../ui/SaveBar'
import { useEdited } from '../../ui/useEdited'
import { When } from '../../ui/When'
import { GivePassword } from './GivePassword'
import { MemberState } from './MemberState'
import { RemoveFactor } from './RemoveFactor'
import { RoleSelect } from './RoleSelect'
import { fullName } from './words'

type Member = Shape<'MemberResponse'>

/** MemberPage answers about one person of the staff: who is it, what may he do, and can he sign in? */
export default function MemberPage() {
  const t = useText(identityText)
  const factor = useText(secondFactorText)
  const { id } = useParams({ from: '/staff/$id' })
  const read = useVersioned('/users/{id}', { params: { path: { id } } })
  const member = read.data?.value
  return (
    <Page title={member ? fullName(member) : t.member} actions={member && <><GivePassword member={member} /><RemoveFactor member={member} /><AccessButton member={member} /></>}>
      <Loaded read={read} height={360}>
        {(m) => (
          <>
            <Facts
              of={[
                [t.status, <MemberState key="s" member={m.value} />],
                [t.temporaryUntil, m.value.temporaryPasswordUntil && <When key="t" at={m.value.temporaryPasswordUntil} exact />],
                [t.role, t.roles[m.value.role]],
                [t.email, m.value.email],
                [t.phone, m.value.phone],
                [factor.title, m.value.secondFactor ? factor.has : factor.hasNot],
                [t.since, <When key="w" at={m.value.createdAt} />],
                [t.lastSignIn, m.value.lastSignInAt ? <When key="l" at={m.value.lastSignInAt} /> : t.never],
              ]}
            />
            <Text size="sm"><Link to="/audit" search={{ actor: id } as never}>{t.didWhat}</Link></Text>
            <MemberForm member={m} reread={() => void read.refetch()} />
          </>
        )}
      </Loaded>
    </Page>
  )
}

const formOf = (m: Member) => ({ firstName: m.firstName, lastName: m.lastName, role: m.role })

/** MemberForm corrects the name and changes the role. */
function MemberForm({ member, reread }: { member: Versioned<Member>; reread: () => void }) {
  const t = useText(identityText)
  const may = useMay()
  const { me } = usePerson()
  const { id } = member.value
  const save = useWrite('patch', '/users/{id}', { told: () => t.changed, shown: () => edited.undo() })
  const edited = useEdited(member, formOf, save.isPending)
  const { values, set } = edited
  if (!may('PATCH /users/{id}') || values.role === 'super_admin') return null
  const before = formOf(member.value)
  const submit = () => {
    // Only what differs is sent: of a person who has proven the address, an administrator changes the role alone.
    const body = {
      firstName: values.firstName === before.firstName ? undefined : values.firstName,
      lastName: values.lastName === before.lastName ? undefined : values.lastName,
      role: values.role === before.role || values.role === 'super_admin' ? undefined : values.role,
    }
    save.mutate({ params: { path: { id } }, headers: edited.headers, body })
  }
  const own = me.id === id
  return (
    <Section title={t.change}>
      <Form
        busy={save.isPending}
        onSubmit={() => {
          if (edited.dirty && !edited.meanwhile) submit()
        }}
      >
        <SimpleGrid cols={{ base: 1, sm: 3 }} spacing="sm" mb="sm">
          <TextInput
            label={t.firstName}
            value={values.firstName}
            onChange={(e) => set({ firstName: e.currentTarget.value })}
            error={save.error?.of('firstName')}
            required
            maxLength={100}
          />
          <TextInput
            label={t.lastName}
            value={values.lastName}
            onChange={(e) => set({ lastName: e.currentTarget.value })}
            error={save.error?.of('lastName')}
            maxLength={100}
          />
          <RoleSelect role={values.role} onChange={(role) => set({ role })} disabled={own} hint={own ? t.ownRole : undefined} />
        </SimpleGrid>
        <EditedNote
          edited={edited}
          names={{ firstName: t.firstName, lastName: t.lastName, role: [t.role, (role) => t.roles[role]] }}
          error={save.error}
          onTake={() => {
            save.reset()
            reread()
          }}
        />
        <Text size="xs" c="dimmed" my="xs">{t.provenDetails}</Text>
        <SaveBar edited={edited} pending={save.isPending} />
      </Form>
    </Section>
  )
}

/** AccessButton ends this person's access, or gives it back. */
function AccessButton({ member }: { member: Member }) {
  const t = useText(identityText)
  const may = useMay()
  const { me } = usePerson()
  const [asking, setAsking] = useState(false)
  const name = fullName(member)
  const close = () => setAsking(false)
  const disable = useWrite('post', '/users/{id}/disable', { told: () => t.disabledNow(name), then: close })
  const enable = useWrite('post', '/users/{id}/enable', { told: () => t.enabledNow(name), then: close })
  const off = member.status === 'disabled'
  const params = { path: { id: member.id } }
  if (member.id === me.id || !may(off ? 'POST /users/{id}/enable' : 'POST /users/{id}/disable')) return null
  return (
    <>
      <Button variant="default" onClick={() => setAsking(true)}>{off ? t.enable : t.disable}</Button>
      {asking && (off ? (
        <Confirm
          title={t.enableTitle(name)}
          verb={t.enable}
          pending={enable.isPending}
          error={enable.error}
          onConfirm={() => enable.mutate({ params })}
          onClose={close}
        >
          {t.enableHint}
        </Confirm>
      ) : (
        <Confirm
          title={t.disableTitle(name)}
          verb={t.disable}
          danger
          reason="optional"
          pending={disable.isPending}
          error={disable.error}
          onConfirm={(reason) => disable.mutate({ params, body: reason ? { reason } : {} })}
          onClose={close}
        >
          {t.disableHint}
        </Confirm>
      ))}
    </>
  )
}

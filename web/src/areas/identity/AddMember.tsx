import { SimpleGrid, TextInput } from '@mantine/core'
import { useState } from 'react'
import type { Shape } from '../../api/types'
import { useWrite } from '../../api/write'
import { useText } from '../../text/catalogue'
import { identityText } from '../../text/identity'
import { FormDialog } from '../../ui/FormDialog'
import { readablePassword } from './readablePassword'
import { RoleSelect } from './RoleSelect'
import { TemporaryPasswordField } from './TemporaryPassword'
import { fullName } from './words'

type NewMember = Shape<'UserRequest'>

/** AddMember adds somebody, with a temporary password that the page makes. */
export default function AddMember({ onAdded, onClose }: { onAdded: (member: NewMember) => void; onClose: () => void }) {
  const t = useText(identityText)
  const [member, setMember] = useState<NewMember>(() => ({
    email: '', phone: '', firstName: '', lastName: '', role: 'support', temporaryPassword: readablePassword(),
  }))
  const set = (part: Partial<NewMember>) => setMember((m) => ({ ...m, ...part }))
  const sent = { ...member, email: member.email.trim(), phone: member.phone || undefined, lastName: member.lastName || undefined }
  const add = useWrite('post', '/users', { told: () => t.added(fullName(sent)), then: () => onAdded(sent) })
  return (
    <FormDialog
      title={t.add}
      hint={t.addHint}
      verb={t.add}
      ready={member.email.trim() !== '' && member.firstName.trim() !== ''}
      pending={add.isPending}
      error={add.error}
      onSubmit={() => add.mutate({ body: sent })}
      onClose={onClose}
    >
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
        <TextInput
          label={t.firstName}
          value={member.firstName}
          onChange={(e) => set({ firstName: e.currentTarget.value })}
          error={add.error?.of('firstName')}
          required
          maxLength={100}
          data-autofocus
        />
        <TextInput
          label={t.lastName}
          value={member.lastName}
          onChange={(e) => set({ lastName: e.currentTarget.value })}
          error={add.error?.of('lastName')}
          maxLength={100}
        />
      </SimpleGrid>
      <TextInput
        label={t.email}
        type="email"
        value={member.email}
        onChange={(e) => set({ email: e.currentTarget.value })}
        error={add.error?.of('email')}
        required
        maxLength={254}
        autoComplete="off"
      />
      <TextInput
        label={t.phone}
        type="tel"
        value={member.phone}
        onChange={(e) => set({ phone: e.currentTarget.value })}
        error={add.error?.of('phone')}
        maxLength={20}
        autoComplete="off"
      />
      <RoleSelect role={member.role} onChange={(role) => set({ role })} />
      <TemporaryPasswordField
        value={member.temporaryPassword}
        onChange={(password) => set({ temporaryPassword: password })}
        error={add.error?.of('temporaryPassword')}
      />
    </FormDialog>
  )
}

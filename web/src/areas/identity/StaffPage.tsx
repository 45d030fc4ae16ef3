import { Button } from '@mantine/core'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { useRows } from '../../api/rows'
import type { Shape } from '../../api/types'
import { useMay } from '../../app/person'
import { appText } from '../../text/app'
import { useText } from '../../text/catalogue'
import { identityText } from '../../text/identity'
import { uiText } from '../../text/ui'
import { type Column, DataTable } from '../../ui/DataTable'
import { Empty } from '../../ui/Empty'
import { Facts } from '../../ui/Facts'
import { ChoiceFilter, Filters, TextFilter } from '../../ui/Filters'
import { Plus } from '../../ui/icons'
import { later } from '../../ui/later'
import { Page, Section } from '../../ui/Page'
import { When } from '../../ui/When'
import { MemberState } from './MemberState'
import { fullName, type Member } from './words'

type NewMember = Shape<'UserRequest'>

const AddMember = later(async () => (await import('./AddMember')).default)
const PassOn = later(() => import('./TemporaryPassword').then((m) => m.PassOn))

/** StaffPage answers: who works here, and what may each of them do? */
export default function StaffPage() {
  const t = useText(identityText)
  const app = useText(appText)
  const may = useMay()
  const words = useText(uiText)
  const filters = useSearch({ from: '/staff' })
  const navigate = useNavigate({ from: '/staff' })
  const change = (part: Partial<typeof filters>) => void navigate({ search: { ...filters, ...part }, replace: true })
  const any = Object.values(filters).some((v) => v !== undefined)
  const list = useRows('/users', filters)
  const [adding, setAdding] = useState(false)
  const [passOn, setPassOn] = useState<NewMember | null>(null)
  const columns: Column<Member>[] = [
    { id: 'name', title: t.name, cell: (m) => <Link to="/staff/$id" params={{ id: m.id }}>{fullName(m)}</Link> },
    { id: 'email', title: t.email, wideOnly: true, cell: (m) => m.email },
    { id: 'role', title: t.role, width: 152, wideOnly: true, cell: (m) => t.roles[m.role] },
    {
      id: 'status', title: t.status, width: 170, narrow: 140,
      cell: (m) => <MemberState member={m} />,
    },
    {
      id: 'signIn', title: t.lastSignIn, width: 150, wideOnly: true,
      cell: (m) => (m.lastSignInAt ? <When at={m.lastSignInAt} /> : t.never),
    },
    { id: 'since', title: t.since, width: 132, wideOnly: true, cell: (m) => <When at={m.createdAt} /> },
  ]
  return (
    <Page
      title={app.staff}
      actions={may('POST /users') && (
        <Button leftSection={<Plus size={14} aria-hidden />} onClick={() => setAdding(true)}>{t.add}</Button>
      )}
    >
      <Filters any={any} onClear={() => void navigate({ search: {} })}>
        <TextFilter value={filters.q} label={t.findStaff} onChange={(q) => change({ q })} />
        <ChoiceFilter value={filters.role} label={t.role} names={staffRoles(t.roles)} onChange={(role) => change({ role })} />
        <ChoiceFilter value={filters.status} label={t.status} names={t.statuses} onChange={(status) => change({ status })} />
      </Filters>
      <DataTable
        whole
        list={list}
        columns={columns}
        rowKey={(m) => m.id}
        label={app.staff}
        empty={any ? <Empty title={words.nothingFits} /> : <Empty title={t.noStaff}>{t.addHint}</Empty>}
      />
      <Section title={t.rolesTitle}>
        <Facts of={(['admin', 'support', 'subscriber'] as const).map((role) => [t.roles[role], t.mayDo[role]])} />
      </Section>
      {adding && (
        <AddMember
          onAdded={(member) => {
            setAdding(false)
            setPassOn(member)
          }}
          onClose={() => setAdding(false)}
        />
      )}
      {passOn && (
        <PassOn
          name={fullName(passOn)}
          email={passOn.email}
          password={passOn.temporaryPassword}
          address={`${location.origin}/app/`}
          onClose={() => setPassOn(null)}
        />
      )}
    </Page>
  )
}

/** staffRoles are the roles that somebody of an organization can have, in words. */
const staffRoles = ({ admin, support, subscriber }: Record<Member['role'], string>) => ({ admin, support, subscriber })

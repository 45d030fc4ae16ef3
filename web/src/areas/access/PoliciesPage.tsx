import { Button, Text } from '@mantine/core'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { useAll } from '../../api/all'
import { useVersioned, type Versioned } from '../../api/versioned'
import { useMay } from '../../app/person'
import { appText } from '../../text/app'
import { useText } from '../../text/catalogue'
import { policiesText } from '../../text/policies'
import { Empty } from '../../ui/Empty'
import { Plus } from '../../ui/icons'
import { later } from '../../ui/later'
import { Loaded } from '../../ui/Loaded'
import { Page } from '../../ui/Page'
import { exactly, Views } from '../../ui/Views'
import type { Policies, Policy } from './policy'

const PolicyEditor = later(() => import('./PolicyEditor').then((m) => m.PolicyEditor))
const NamePolicy = later(() => import('./PolicyDialogs').then((m) => m.NamePolicy))

const noFilters = {}

/** PoliciesPage answers: when is who reminded and cut, and what would another rule have done? */
export default function PoliciesPage() {
  const t = useText(policiesText)
  const app = useText(appText)
  const may = useMay()
  const read = useVersioned('/settings/dunning', {})
  const { name } = useSearch({ from: '/policies' })
  const navigate = useNavigate({ from: '/policies' })
  const [making, setMaking] = useState(false)
  const shown = read.data && policyOf(read.data.value, name)
  return (
    <Page
      title={app.policies}
      actions={shown && may('PUT /settings/dunning') && (
        <Button variant="default" leftSection={<Plus size={16} aria-hidden />} onClick={() => setMaking(true)}>{t.make}</Button>
      )}
    >
      <Text size="sm" c="dimmed">{t.intro}</Text>
      <Loaded read={read} height={600}>{(all) => <Shown all={all} name={name} reread={() => void read.refetch()} />}</Loaded>
      {making && shown && read.data && (
        <NamePolicy
          title={t.makeTitle}
          hint={t.makeHint}
          verb={t.make}
          all={read.data}
          told={t.made}
          change={(now, next) => ({ policies: { ...now.policies, [next]: shown } })}
          onDone={(next) => {
            setMaking(false)
            void navigate({ search: { name: next } })
          }}
          onClose={() => setMaking(false)}
        />
      )}
    </Page>
  )
}

/** policyOf finds a policy by its name; without one it is the default. */
function policyOf(all: Policies, name: string | undefined): Policy | undefined {
  return name === undefined ? all.default : all.policies[name]
}

function Shown({ all: read, name, reread }: { all: Versioned<Policies>; name: string | undefined; reread: () => void }) {
  const t = useText(policiesText)
  const plans = useAll('/plans', noFilters)
  const all = read.value
  const names = Object.keys(all.policies).sort()
  const policy = policyOf(all, name)
  return (
    <>
      {names.length > 0 && (
        <Views
          label={t.which}
          current={name ?? ''}
          of={[
            ['', t.usual, (inner) => <Link to="/policies" search={{}} activeOptions={exactly} {...inner} />],
            ...names.map((n): Parameters<typeof Views<string>>[0]['of'][number] => [
              n, n, (inner) => <Link to="/policies" search={{ name: n }} activeOptions={exactly} {...inner} />,
            ]),
          ]}
        />
      )}
      {policy
        ? <PolicyEditor key={name ?? ''} name={name} read={read} plans={plans} reread={reread} />
        : <Empty title={t.gone(name ?? '')} action={<Link to="/policies">{t.usual}</Link>}>{t.goneHint}</Empty>}
    </>
  )
}

import { Text } from '@mantine/core'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useMemo } from 'react'
import { api } from '../../api/client'
import { type Row, useRows } from '../../api/rows'
import { useMay, usePerson } from '../../app/person'
import { actionName } from '../../text/actionName'
import { actionText } from '../../text/actions'
import { appText } from '../../text/app'
import { auditText } from '../../text/audit'
import { useText } from '../../text/catalogue'
import { uiText } from '../../text/ui'
import { type Column, DataTable } from '../../ui/DataTable'
import { Empty } from '../../ui/Empty'
import { ChoiceFilter, ExactFilter, Filters } from '../../ui/Filters'
import { Page } from '../../ui/Page'
import { SpanFilter } from '../../ui/SpanFilter'
import { OrganizationName } from '../../ui/OrganizationName'
import { State, type Tone } from '../../ui/State'
import { later } from '../../ui/later'
import { To } from '../../ui/To'
import { When } from '../../ui/When'
import { targetName } from './target'

const OrganizationFilter = later(() => import('../../ui/OrganizationFilter').then((m) => m.OrganizationFilter))
const EntryDrawer = later(() => import('./EntryDrawer').then((m) => m.EntryDrawer))

export type Entry = Row<'/audit-log'>

/** outcomeTones say how good an outcome is; a refusal is no fault of the program. */
export const outcomeTones: Record<Entry['outcome'], Tone> = { succeeded: 'good', refused: 'attention', failed: 'bad' }

/** AuditPage answers: who did this, when, and from where? */
export default function AuditPage() {
  const t = useText(auditText)
  const app = useText(appText)
  const words = useText(uiText)
  const actions = useText(actionText)
  const { platform } = usePerson()
  const { entry, ...filters } = useSearch({ from: '/audit' })
  const navigate = useNavigate({ from: '/audit' })
  const list = useRows('/audit-log', filters)
  const staff = useStaff()
  const change = (part: Partial<typeof filters>) => void navigate({ search: { ...filters, ...part }, replace: true })
  const any = Object.values(filters).some((v) => v !== undefined)
  const known = useMemo(() => {
    return Object.entries(actions).map(([value, label]) => ({ value, label })).sort((a, b) => a.value.localeCompare(b.value))
  }, [actions])
  const columns: Column<Entry>[] = [
    {
      id: 'at', title: t.at, width: 170, narrow: 104,
      cell: (e) => (
        <Link from="/audit" to="/audit" search={{ ...filters, entry: e.id }}><When at={e.at} exact /></Link>
      ),
    },
    { id: 'actor', title: t.actor, width: platform ? 176 : 200, narrow: 100, cell: (e) => actorName(e, t) },
    { id: 'action', title: t.action, cell: (e) => <span title={e.action}>{actionName(e.action, actions)}</span> },
    ...platform ? [{ id: 'organization', title: t.organization, width: 150, wideOnly: true, cell: (e: Entry) => <Whose of={e} /> }] : [],
    { id: 'target', title: t.target, width: platform ? 176 : 206, wideOnly: true, cell: (e) => targetName(e, t.targets) },
    { id: 'ip', title: t.ip, width: 116, wideOnly: true, cell: (e) => <span className="figure">{e.ip}</span> },
    {
      id: 'outcome', title: t.outcome, width: 122, wideOnly: true,
      cell: (e) => <State tone={outcomeTones[e.outcome]}>{t.outcomes[e.outcome]}</State>,
    },
  ]
  return (
    <Page title={app.audit} wide>
      <Text size="sm" c="dimmed" maw={760}>{t.hint}</Text>
      <Filters any={any} onClear={() => void navigate({ search: {} })}>
        <ExactFilter value={filters.actor} label={t.actor} known={staff} onChange={(actor) => change({ actor })} />
        <ExactFilter value={filters.action} label={t.action} known={known} onChange={(action) => change({ action })} />
        <ExactFilter value={filters.target} label={t.target} known={targetTypes} onChange={(target) => change({ target })} />
        <ChoiceFilter value={filters.outcome} label={t.outcome} names={t.outcomes} onChange={(outcome) => change({ outcome })} />
        {platform && <OrganizationFilter value={filters.orgId} onChange={(orgId) => change({ orgId })} />}
        <SpanFilter of={filters} onChange={change} />
      </Filters>
      <DataTable
        list={list}
        columns={columns}
        rowKey={(e) => e.id}
        label={app.audit}
        empty={any ? <Empty title={words.nothingFits} /> : <Empty title={t.none}>{t.noneHint}</Empty>}
      />
      {entry && (
        <EntryDrawer
          id={entry}
          shown={list.rows.find((e) => e.id === entry)}
          onClose={() => void navigate({ search: filters, replace: true })}
        />
      )}
    </Page>
  )
}

/** Whose leads from an entry on the root host to its organization. */
export function Whose({ of: e }: { of: Entry }) {
  const t = useText(auditText)
  if (!e.orgId) return t.ofPlatform
  const { orgName: name, orgSlug: slug } = e
  return (
    <To way={{ to: `/orgs/${e.orgId}` }}>
      {name !== null && slug !== null ? <OrganizationName of={{ name, slug }} /> : e.orgId.slice(0, 8)}
    </To>
  )
}

// The kinds of things that people look for; others are typed.
const targetTypes = [
  'subscriber', 'subscription', 'account', 'invoice', 'receipt', 'payment', 'device', 'nasservice', 'user', 'organization', 'session',
].map((value) => ({ value }))

/** useStaff gives the persons of the organization, to be chosen by name; roles that may not see them type an id. */
function useStaff() {
  const may = useMay()
  const { platform } = usePerson()
  const read = api.useQuery('get', '/users', { params: { query: { limit: 100 } } }, { enabled: may('GET /users') && !platform })
  return (read.data?.data ?? []).map((m) => ({ value: m.id, label: [m.firstName, m.lastName].filter(Boolean).join(' ') }))
}

/** actorName is the person's name, or what acted. */
export function actorName(e: Entry, t: (typeof auditText)['en']): string {
  if (e.actor.name) return e.actor.name
  return e.actor.kind === 'process' && e.actor.id ? `${t.kinds.process}: ${e.actor.id}` : t.kinds[e.actor.kind]
}

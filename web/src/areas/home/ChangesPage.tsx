import { useNavigate, useSearch } from '@tanstack/react-router'
import { type Row, useRows } from '../../api/rows'
import { useMay } from '../../app/person'
import { useText } from '../../text/catalogue'
import { homeText } from '../../text/home'
import { uiText } from '../../text/ui'
import { type Column, DataTable } from '../../ui/DataTable'
import { Empty } from '../../ui/Empty'
import { ChoiceFilter, Filters } from '../../ui/Filters'
import { Page } from '../../ui/Page'
import { To, type Way } from '../../ui/To'
import { When } from '../../ui/When'
import { customerKinds, networkKinds } from './routes'

type Change = Row<'/reports/changes'>

/** ChangesPage answers: what happened while nobody looked? */
export default function ChangesPage() {
  const t = useText(homeText)
  const words = useText(uiText)
  const may = useMay()
  const filters = useSearch({ from: '/changes' })
  const navigate = useNavigate({ from: '/changes' })
  const list = useRows('/reports/changes', filters)
  const change = (part: Partial<typeof filters>) => void navigate({ search: { ...filters, ...part }, replace: true })
  const any = filters.kind !== undefined || filters.from !== undefined
  const kinds = may('GET /nas/fleet') ? [...customerKinds, ...networkKinds] : customerKinds
  const columns: Column<Change>[] = [
    { id: 'at', title: t.when, width: 150, cell: (c) => <When at={c.at} /> },
    { id: 'kind', title: t.kind, cell: (c) => t.changeKinds[c.kind] ?? c.kind },
    {
      id: 'about', title: t.whom,
      cell: (c) => {
        const about = aboutOf(c, t)
        return about && <To way={about.way}>{about.words}</To>
      },
    },
  ]
  return (
    <Page title={t.changes} wide>
      <Filters any={any} onClear={() => void navigate({ search: {} })}>
        <ChoiceFilter
          value={filters.kind}
          label={t.kind}
          names={Object.fromEntries(kinds.map((k) => [k, t.changeKinds[k] ?? k]))}
          onChange={(kind) => change({ kind })}
        />
      </Filters>
      <DataTable
        list={list}
        columns={columns}
        rowKey={(c) => JSON.stringify(c)}
        label={t.changes}
        empty={any ? <Empty title={words.nothingFits} /> : <Empty title={t.noChanges}>{t.noChangesHint}</Empty>}
      />
    </Page>
  )
}

/** aboutOf leads to what a change is about, as near as there is a page. */
function aboutOf(c: Change, t: (typeof homeText)['en']): { words: string; way: Way } | null {
  if (c.paymentId) return { words: t.openPayment, way: { to: `/payments/${c.paymentId}` } }
  if (c.subscriberId) return { words: t.openCustomer, way: { to: `/customers/${c.subscriberId}` } }
  if (c.serviceId) return { words: t.openService, way: { to: `/services/${c.serviceId}` } }
  if (c.deviceId) return { words: t.openRouter, way: { to: `/routers/${c.deviceId}` } }
  return null
}

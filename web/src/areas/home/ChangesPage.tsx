import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { type Row, useRows } from '../../api/rows'
import { useMay } from '../../app/person'
import { useText } from '../../text/catalogue'
import { homeText } from '../../text/home'
import { uiText } from '../../text/ui'
import { CustomerLink } from '../../ui/CustomerLink'
import { type Column, DataTable } from '../../ui/DataTable'
import { Empty } from '../../ui/Empty'
import { ChoiceFilter, Filters } from '../../ui/Filters'
import { Page } from '../../ui/Page'
import { To } from '../../ui/To'
import { State, type Tone } from '../../ui/State'
import { When } from '../../ui/When'
import { customerKinds, networkKinds } from './routes'

type Change = Row<'/reports/changes'>

const tones: Record<Change['kind'], Tone> = {
  new_customer: 'good',
  walled_garden: 'attention',
  suspended: 'bad',
  restored: 'good',
  payment_failed: 'quiet',
  message_failed: 'attention',
  router_down: 'bad',
  router_up: 'good',
  drift_found: 'attention',
  service_failed: 'bad',
}

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
    { id: 'at', title: t.when, width: 150, narrow: 88, cell: (c) => <When at={c.at} /> },
    { id: 'kind', title: t.kind, width: 260, narrow: 152, cell: (c) => <State tone={tones[c.kind]}>{t.changeKinds[c.kind]}</State> },
    { id: 'about', title: t.whom, cell: (c) => <About of={c} /> },
  ]
  return (
    <Page title={t.changes} wide>
      <Filters any={any} onClear={() => void navigate({ search: {} })}>
        <ChoiceFilter
          value={filters.kind}
          label={t.kind}
          names={Object.fromEntries(kinds.map((k) => [k, t.changeKinds[k]]))}
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

/** About names whom a change is about, and leads there; what it came from is the second link. */
function About({ of: c }: { of: Change }) {
  const t = useText(homeText)
  if (c.subscriberId) {
    return (
      <>
        {c.subscriber ? <CustomerLink of={c.subscriber} account /> : (
          <Link to="/customers/$id" params={{ id: c.subscriberId }}>{t.openCustomer}</Link>
        )}
        {c.paymentId && <> · <Link to="/payments/$id" params={{ id: c.paymentId }}>{t.openPayment}</Link></>}
      </>
    )
  }
  if (!c.deviceId) return null
  return (
    <>
      <Link to="/routers/$id" params={{ id: c.deviceId }}>{c.deviceName ?? t.openRouter}</Link>
      {c.serviceId && <> · <To way={{ to: `/services/${c.serviceId}` }}>{t.openService}</To></>}
    </>
  )
}

import { Button } from '@mantine/core'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { type Row, useRows } from '../../../api/rows'
import { useMay } from '../../../app/person'
import { appText } from '../../../text/app'
import { useText } from '../../../text/catalogue'
import { useFormat } from '../../../text/format'
import { plansText } from '../../../text/plans'
import { uiText } from '../../../text/ui'
import { type Column, DataTable } from '../../../ui/DataTable'
import { Empty } from '../../../ui/Empty'
import { ChoiceFilter, Filters } from '../../../ui/Filters'
import { Plus } from '../../../ui/icons'
import { Page } from '../../../ui/Page'
import { State } from '../../../ui/State'

/** PlansPage answers: what do we sell? */
export default function PlansPage() {
  const t = useText(plansText)
  const words = useText(uiText)
  const app = useText(appText)
  const f = useFormat()
  const may = useMay()
  const filters = useSearch({ from: '/plans' })
  const navigate = useNavigate({ from: '/plans' })
  const list = useRows('/plans', filters)
  const archived: 'true' | 'false' | undefined = filters.archived === undefined ? undefined : filters.archived ? 'true' : 'false'
  const columns: Column<Row<'/plans'>>[] = [
    { id: 'name', title: t.name, cell: (p) => <Link to="/plans/$id" params={{ id: p.id }}>{p.name}</Link> },
    { id: 'code', title: t.code, width: 140, wideOnly: true, cell: (p) => p.code },
    { id: 'kind', title: t.kind, width: 190, wideOnly: true, cell: (p) => t.kinds[p.kind] ?? p.kind },
    {
      id: 'speed', title: t.speed, wideOnly: true, width: 170,
      cell: (p) => <span className="figure">{f.rate(p.rates.down)} / {f.rate(p.rates.up)}</span>,
    },
    { id: 'mode', title: t.mode, wideOnly: true, width: 110, cell: (p) => t.modes[p.billing.mode] ?? p.billing.mode },
    {
      id: 'price', title: t.price, width: 164, narrow: 138, figure: true,
      cell: (p) => t.per(f.money(p.price, p.currency), t.periods[p.billing.period] ?? p.billing.period),
    },
    {
      id: 'customers', title: t.customerCount, width: 100, narrow: 70, figure: true,
      cell: (p) => {
        const n = p.versions.reduce((sum, v) => sum + v.customers, 0)
        return <Link to="/customers" search={{ planId: p.id } as never}>{f.number(n)}</Link>
      },
    },
    {
      id: 'state', title: t.state, width: 124, wideOnly: true,
      cell: (p) => <State tone={p.archived ? 'quiet' : 'good'}>{p.archived ? t.archived : t.offered}</State>,
    },
  ]
  const make = may('POST /plans') && (
    <Button renderRoot={(props) => <Link {...props} to="/plans/new" />} leftSection={<Plus size={14} aria-hidden />}>
      {t.newPlan}
    </Button>
  )
  return (
    <Page title={app.plans} wide actions={make}>
      <Filters any={archived !== undefined} onClear={() => void navigate({ search: {} })}>
        <ChoiceFilter
          value={archived}
          label={t.state}
          names={{ false: t.offered, true: t.archived }}
          onChange={(v) => void navigate({ search: v ? { archived: v === 'true' } : {}, replace: true })}
        />
      </Filters>
      <DataTable
        list={list}
        columns={columns}
        rowKey={(p) => p.id}
        label={app.plans}
        empty={archived ? <Empty title={words.nothingFits} /> : <Empty title={t.none}>{t.noneHint}</Empty>}
      />
    </Page>
  )
}

import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { type Row, useRows } from '../../../api/rows'
import { useMay } from '../../../app/person'
import { appText } from '../../../text/app'
import { useText } from '../../../text/catalogue'
import { useFormat } from '../../../text/format'
import { plansText } from '../../../text/plans'
import { type Column, DataTable } from '../../../ui/DataTable'
import { Empty } from '../../../ui/Empty'
import { Plus } from '../../../ui/icons'
import { Page } from '../../../ui/Page'
import { State } from '../../../ui/State'

const all = {}

/** PlansPage answers: what do we sell? */
export default function PlansPage() {
  const t = useText(plansText)
  const app = useText(appText)
  const f = useFormat()
  const may = useMay()
  const list = useRows('/plans', all)
  const columns: Column<Row<'/plans'>>[] = [
    { id: 'name', title: t.name, cell: (p) => <Link to="/plans/$id" params={{ id: p.id }}>{p.name}</Link> },
    { id: 'code', title: t.code, wideOnly: true, width: 160, cell: (p) => p.code },
    { id: 'kind', title: t.kind, wideOnly: true, width: 190, cell: (p) => t.kinds[p.kind] ?? p.kind },
    {
      id: 'speed', title: t.speed, wideOnly: true, width: 170,
      cell: (p) => <span className="figure">{f.rate(p.rates.down)} / {f.rate(p.rates.up)}</span>,
    },
    { id: 'mode', title: t.mode, wideOnly: true, width: 110, cell: (p) => t.modes[p.billing.mode] ?? p.billing.mode },
    {
      id: 'price', title: t.price, width: 160, figure: true,
      cell: (p) => t.per(f.money(p.price, p.currency), t.periods[p.billing.period] ?? p.billing.period),
    },
    {
      id: 'state', title: t.state, width: 110, wideOnly: true,
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
      <DataTable
        list={list}
        columns={columns}
        rowKey={(p) => p.id}
        label={app.plans}
        empty={<Empty title={t.none}>{t.noneHint}</Empty>}
      />
    </Page>
  )
}

import { Button } from '@mantine/core'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { type Row, useRows } from '../../api/rows'
import { useMay } from '../../app/person'
import { useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import { outagesText } from '../../text/outages'
import { uiText } from '../../text/ui'
import { type Column, DataTable } from '../../ui/DataTable'
import { Empty } from '../../ui/Empty'
import { ChoiceFilter, Filters } from '../../ui/Filters'
import { Page } from '../../ui/Page'
import { SpanFilter } from '../../ui/SpanFilter'
import { State } from '../../ui/State'
import { When } from '../../ui/When'
import { Sums, toneOfCompensation } from './CompensationParts'
import { placeOf } from './place'

type Compensation = Row<'/compensations'>

/** CompensationsPage answers: what was given for times without service, and is one half given? */
export default function CompensationsPage() {
  const t = useText(outagesText)
  const words = useText(uiText)
  const f = useFormat()
  const may = useMay()
  const filters = useSearch({ from: '/compensations' })
  const navigate = useNavigate({ from: '/compensations' })
  const list = useRows('/compensations', filters)
  const change = (part: Partial<typeof filters>) => void navigate({ search: { ...filters, ...part }, replace: true })
  const any = Object.values(filters).some((v) => v !== undefined)
  const columns: Column<Compensation>[] = [
    { id: 'where', title: t.where, cell: (c) => <Link to="/compensations/$id" params={{ id: c.id }}>{placeOf(c, t)}</Link> },
    { id: 'state', title: t.state, width: 130, narrow: 118, cell: (c) => <State tone={toneOfCompensation(c)}>{t.compensationStates[c.state]}</State> },
    { id: 'time', title: t.time, width: 240, wideOnly: true, cell: (c) => `${f.short(c.from)} – ${f.short(c.to)}` },
    { id: 'customers', title: t.customers, width: 96, figure: true, wideOnly: true, cell: (c) => f.number(c.customers) },
    { id: 'what', title: t.what, width: 180, narrow: 110, cell: (c) => <Sums of={c} /> },
    { id: 'refused', title: t.getNothing, width: 96, figure: true, wideOnly: true, cell: (c) => (c.refused > 0 ? f.number(c.refused) : '') },
    { id: 'made', title: t.made, width: 140, wideOnly: true, cell: (c) => <When at={c.previewedAt} /> },
  ]
  const make = may('POST /compensations') && (
    <Button renderRoot={(props) => <Link {...props} to="/compensations/new" />}>{t.newCompensation}</Button>
  )
  return (
    <Page title={t.compensations} wide actions={make}>
      <Filters any={any} onClear={() => void navigate({ search: {} })}>
        <ChoiceFilter value={filters.state} label={t.state} names={t.compensationStates} onChange={(state) => change({ state })} />
        <ChoiceFilter<'true' | 'false'>
          value={filters.failed === undefined ? undefined : filters.failed ? 'true' : 'false'}
          label={t.failedFilter}
          names={t.failedOnes}
          onChange={(failed) => change({ failed: failed && failed === 'true' })}
        />
        <SpanFilter of={filters} onChange={change} />
      </Filters>
      <DataTable
        list={list}
        columns={columns}
        rowKey={(c) => c.id}
        label={t.compensations}
        empty={any ? <Empty title={words.nothingFits} /> : <Empty title={t.noCompensations} action={make}>{t.noCompensationsHint}</Empty>}
      />
    </Page>
  )
}

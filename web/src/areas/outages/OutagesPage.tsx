import { Button } from '@mantine/core'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { type Row, useRows } from '../../api/rows'
import { useMay } from '../../app/person'
import { useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import { outagesText } from '../../text/outages'
import { uiText } from '../../text/ui'
import { type Column, DataTable } from '../../ui/DataTable'
import { Empty } from '../../ui/Empty'
import { ChoiceFilter, Filters } from '../../ui/Filters'
import { later } from '../../ui/later'
import { OnlyFilter } from '../../ui/OnlyFilter'
import { Page } from '../../ui/Page'
import { SpanFilter } from '../../ui/SpanFilter'
import { State } from '../../ui/State'
import { When } from '../../ui/When'
import { nameOf } from './place'

const BeginOutage = later(() => import('./BeginOutage').then((m) => m.BeginOutage))

type Outage = Row<'/outages'>

/** OutagesPage answers: where have customers no service now, and where had they none? */
export default function OutagesPage() {
  const t = useText(outagesText)
  const words = useText(uiText)
  const f = useFormat()
  const may = useMay()
  const [begins, setBegins] = useState(false)
  const filters = useSearch({ from: '/outages' })
  const navigate = useNavigate({ from: '/outages' })
  const list = useRows('/outages', filters)
  const change = (part: Partial<typeof filters>) => void navigate({ search: { ...filters, ...part }, replace: true })
  const any = Object.values(filters).some((v) => v !== undefined)
  const router = list.rows.flatMap((o) => o.devices).find((d) => d.id === filters.deviceId)?.name
  const columns: Column<Outage>[] = [
    { id: 'where', title: t.where, cell: (o) => <Link to="/outages/$id" params={{ id: o.id }}>{nameOf(o, t)}</Link> },
    { id: 'state', title: t.state, width: 120, narrow: 104, cell: (o) => <State tone={toneOf(o)}>{t.states[o.state]}</State> },
    { id: 'began', title: t.began, width: 150, narrow: 108, cell: (o) => <When at={o.startedAt} /> },
    { id: 'lasted', title: t.lasted, width: 120, wideOnly: true, cell: (o) => (o.endedAt ? f.duration(seconds(o)) : '') },
    { id: 'customers', title: t.customers, width: 100, figure: true, wideOnly: true, cell: (o) => (o.customers === null ? '' : f.number(o.customers)) },
    { id: 'noticed', title: t.noticed, width: 160, wideOnly: true, cell: (o) => (o.detected ? t.byItself : (o.begunBy?.name ?? '')) },
  ]
  const begin = may('POST /outages') && <Button onClick={() => setBegins(true)}>{t.begin}</Button>
  return (
    <Page
      title={t.outages}
      wide
      actions={(
        <>
          <Button renderRoot={(props) => <Link {...props} to="/outages/rules" />} variant="default">{t.rules}</Button>
          {begin}
        </>
      )}
    >
      <Filters any={any} onClear={() => void navigate({ search: {} })}>
        <ChoiceFilter value={filters.state} label={t.state} names={t.states} onChange={(state) => change({ state })} />
        <SpanFilter of={filters} onChange={change} />
        {filters.deviceId && (
          <OnlyFilter words={t.onlyRouter(router ?? t.oneRouter)} title={t.allRouters} onClear={() => change({ deviceId: undefined })} />
        )}
      </Filters>
      <DataTable
        list={list}
        columns={columns}
        rowKey={(o) => o.id}
        label={t.outages}
        empty={any ? <Empty title={words.nothingFits} /> : <Empty title={t.none} action={begin}>{t.noneHint}</Empty>}
      />
      {begins && <BeginOutage onClose={() => setBegins(false)} />}
    </Page>
  )
}

/** toneOf says how bad an outage is: one that is over is only to be known. */
export const toneOf = (o: Pick<Outage, 'state'>) => (o.state === 'running' ? 'bad' : 'quiet')

/** seconds is how long an outage lasted that is over. */
export const seconds = (o: Pick<Outage, 'startedAt' | 'endedAt'>) => (Date.parse(o.endedAt ?? o.startedAt) - Date.parse(o.startedAt)) / 1000

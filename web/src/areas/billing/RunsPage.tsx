import { Button, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { api } from '../../api/client'
import { type Row, useRows } from '../../api/rows'
import { useWrite } from '../../api/write'
import { useMay } from '../../app/person'
import { useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import { runsText } from '../../text/runs'
import { type Column, DataTable } from '../../ui/DataTable'
import { Empty } from '../../ui/Empty'
import { Money } from '../../ui/Money'
import { Page } from '../../ui/Page'
import { State, type Tone } from '../../ui/State'

type Run = Row<'/billing/runs'>

/** toneOf says whether a run needs somebody. */
export const toneOf = (r: { state: Run['state']; failed: number }): Tone =>
  r.state === 'held' ? 'bad' : r.failed > 0 ? 'attention' : r.state === 'finished' ? 'good' : 'quiet'

/** RunsPage answers: was each day invoiced, and does a run wait for somebody? */
export default function RunsPage() {
  const t = useText(runsText)
  const f = useFormat()
  const may = useMay()
  const list = useRows('/billing/runs', {})
  const coming = api.useQuery('get', '/billing/preview')
  const write = useWrite('post', '/billing/runs', { told: () => t.startDone })
  const columns: Column<Run>[] = [
    { id: 'date', title: t.date, width: 130, narrow: 116, cell: (r) => <Link to="/billing-runs/$id" params={{ id: r.id }}>{f.date(r.date)}</Link> },
    { id: 'state', title: t.state, width: 130, narrow: 112, cell: (r) => <State tone={toneOf(r)}>{t.states[r.state]}</State> },
    { id: 'due', title: t.due, width: 96, figure: true, wideOnly: true, cell: (r) => f.number(r.total) },
    { id: 'made', title: t.made, width: 96, narrow: 84, figure: true, cell: (r) => f.number(r.done) },
    { id: 'failed', title: t.failed, width: 96, figure: true, wideOnly: true, cell: (r) => (r.failed > 0 ? f.number(r.failed) : '') },
    { id: 'amount', title: t.amount, width: 140, figure: true, wideOnly: true, cell: (r) => (r.currency ? <Money amount={r.amount} currency={r.currency} /> : '') },
    { id: 'usual', title: t.usual, figure: true, wideOnly: true, cell: (r) => (r.usual === null ? '' : f.number(r.usual)) },
  ]
  const left = coming.data?.total ?? 0
  return (
    <Page
      title={t.runs}
      wide
      actions={may('POST /billing/runs') && (
        <Button variant="default" loading={write.isPending} onClick={() => write.mutate({ body: {} })}>{t.start}</Button>
      )}
    >
      {left > 0 && <Text size="sm">{t.coming(left)}</Text>}
      <DataTable list={list} columns={columns} rowKey={(r) => r.id} label={t.runs} empty={<Empty title={t.none}>{t.noneHint}</Empty>} />
    </Page>
  )
}

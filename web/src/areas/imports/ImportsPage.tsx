import { Link } from '@tanstack/react-router'
import { type Row, useRows } from '../../api/rows'
import { useMay } from '../../app/person'
import { appText } from '../../text/app'
import { useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import { importsText } from '../../text/imports'
import { type Column, DataTable } from '../../ui/DataTable'
import { Empty } from '../../ui/Empty'
import { later } from '../../ui/later'
import { Page, Section } from '../../ui/Page'
import { State } from '../../ui/State'
import { To } from '../../ui/To'
import { When } from '../../ui/When'
import { NewImport } from './NewImport'

type Import = Row<'/imports'>

const FromRouter = later(async () => (await import('./FromRouter')).FromRouter, { height: 130 })

/** ImportsPage answers: how do my customers come here from the system of before, and what became of it? */
export default function ImportsPage() {
  const t = useText(importsText)
  const app = useText(appText)
  const f = useFormat()
  const may = useMay()
  const list = useRows('/imports', {})
  const columns: Column<Import>[] = [
    { id: 'at', title: t.at, width: 164, narrow: 120, cell: (i) => <Link to="/imports/$id" params={{ id: i.id }}>{f.minute(i.askedAt)}</Link> },
    { id: 'state', title: t.state, width: 130, narrow: 120, cell: (i) => <State tone={i.state === 'finished' ? (i.failed > 0 ? 'attention' : 'good') : 'quiet'}>{t.states[i.state]}</State> },
    { id: 'source', title: t.source, wideOnly: true, cell: (i) => (i.source ? t.sources[i.source as keyof typeof t.sources] : t.ownColumns) },
    { id: 'rows', title: t.rows, width: 100, figure: true, wideOnly: true, cell: (i) => f.number(i.rows) },
    { id: 'created', title: t.created, width: 110, narrow: 84, figure: true, cell: (i) => f.number(i.created) },
    { id: 'failed', title: t.failedRows, width: 110, figure: true, wideOnly: true, cell: (i) => f.number(i.failed) },
    { id: 'finished', title: t.finished, width: 132, wideOnly: true, cell: (i) => (i.finishedAt ? <When at={i.finishedAt} /> : '') },
  ]
  return (
    <Page title={app.imports} actions={may('POST /exports') && <To way={{ to: '/export' }}>{t.exportAll}</To>}>
      <NewImport />
      {may('POST /import-proposals') && <FromRouter />}
      <Section title={t.earlier}>
        <DataTable list={list} columns={columns} rowKey={(i) => i.id} label={t.earlier} whole empty={<Empty title={t.none}>{t.noneHint}</Empty>} />
      </Section>
    </Page>
  )
}

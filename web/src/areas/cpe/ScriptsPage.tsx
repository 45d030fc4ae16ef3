import { Button, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { type Row, useRows } from '../../api/rows'
import { useMay } from '../../app/person'
import { useText } from '../../text/catalogue'
import { deviceScriptsText } from '../../text/deviceScripts'
import { useFormat } from '../../text/format'
import { type Column, DataTable } from '../../ui/DataTable'
import { Empty } from '../../ui/Empty'
import { later } from '../../ui/later'
import { Page } from '../../ui/Page'
import { State } from '../../ui/State'
import { When } from '../../ui/When'
import { comes, toneOfScript } from './script'

const ScriptDialog = later(() => import('./ScriptDialog').then((m) => m.ScriptDialog))

type Script = Row<'/cpe/provisions'>

const noFilters = {}

// No change tells that the CPE server has one, or has it no more.
const lookAgain = 3_000

/** ScriptsPage answers: which scripts of our own run on our devices, and which one is refused, and why? */
export default function ScriptsPage() {
  const t = useText(deviceScriptsText)
  const f = useFormat()
  const may = useMay()
  const list = useRows('/cpe/provisions', noFilters, { every: (rows) => rows.some(comes) && lookAgain })
  const [writes, setWrites] = useState(false)
  const columns: Column<Script>[] = [
    { id: 'name', title: t.name, width: 260, narrow: 130, cell: (s) => <Link to="/device-scripts/$name" params={{ name: s.name }} style={{ overflowWrap: 'anywhere' }}>{s.name}</Link> },
    { id: 'state', title: t.state, cell: (s) => <State tone={toneOfScript(s)}>{s.error ? `${t.states[s.state]}: ${s.error.message}` : t.states[s.state]}</State> },
    { id: 'version', title: t.version, width: 90, figure: true, wideOnly: true, cell: (s) => f.number(s.version) },
    { id: 'at', title: t.at, width: 150, wideOnly: true, cell: (s) => <When at={s.at} /> },
    { id: 'by', title: t.by, width: 170, wideOnly: true, cell: (s) => s.by?.name },
  ]
  const upload = may('PUT /cpe/provisions/{name}') && <Button onClick={() => setWrites(true)}>{t.upload}</Button>
  return (
    <Page title={t.scripts} wide actions={upload}>
      <Text size="sm" c="dimmed">{t.hint}</Text>
      <DataTable list={list} columns={columns} rowKey={(s) => s.name} label={t.scripts} empty={<Empty title={t.none} action={upload}>{t.noneHint}</Empty>} />
      {writes && <ScriptDialog taken={list.rows.map((s) => s.name)} onClose={() => setWrites(false)} />}
    </Page>
  )
}

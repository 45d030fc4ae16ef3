import { Button } from '@mantine/core'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { type Row, useRows } from '../../api/rows'
import { useMay, usePerson } from '../../app/person'
import { appText } from '../../text/app'
import { useText } from '../../text/catalogue'
import { supportText } from '../../text/support'
import { uiText } from '../../text/ui'
import { CustomerFilter } from '../../ui/CustomerFilter'
import { CustomerLink } from '../../ui/CustomerLink'
import { type Column, DataTable } from '../../ui/DataTable'
import { Empty } from '../../ui/Empty'
import { ChoiceFilter, Filters } from '../../ui/Filters'
import { later } from '../../ui/later'
import { OnlyFilter } from '../../ui/OnlyFilter'
import { Page } from '../../ui/Page'
import { State } from '../../ui/State'
import { When } from '../../ui/When'
import { tones } from './tones'

const OpenRequest = later(() => import('./OpenRequest').then((m) => m.OpenRequest))

type Request = Row<'/support-requests'>

/** SupportPage answers: who waits for an answer, longest first, and who takes care of it? */
export default function SupportPage() {
  const t = useText(supportText)
  const app = useText(appText)
  const words = useText(uiText)
  const may = useMay()
  const { me } = usePerson()
  const [opens, setOpens] = useState(false)
  const filters = useSearch({ from: '/support' })
  const navigate = useNavigate({ from: '/support' })
  const list = useRows('/support-requests', filters)
  const change = (part: Partial<typeof filters>) => void navigate({ search: { ...filters, ...part }, replace: true })
  const any = Object.values(filters).some((v) => v !== undefined)
  const whose = filters.unassigned ? 'unassigned' : filters.assigneeId === me.id ? 'mine' : undefined
  const columns: Column<Request>[] = [
    { id: 'subject', title: t.subject, cell: (r) => <Link to="/support/$id" params={{ id: r.id }}>{r.subject ?? t.forgotten}</Link> },
    { id: 'customer', title: t.customer, width: 180, narrow: 110, cell: (r) => <CustomerLink of={r.subscriber} /> },
    { id: 'state', title: t.state, width: 140, narrow: 116, cell: (r) => <State tone={tones[r.state]}>{t.states[r.state]}</State> },
    { id: 'assignee', title: t.assignee, width: 150, wideOnly: true, cell: (r) => r.assignee?.name ?? t.nobody },
    { id: 'waits', title: t.waits, width: 140, wideOnly: true, cell: (r) => r.waitingSince && <When at={r.waitingSince} /> },
    { id: 'last', title: t.last, width: 140, wideOnly: true, cell: (r) => <When at={r.lastAt} /> },
  ]
  const open = may('POST /support-requests') && <Button onClick={() => setOpens(true)}>{t.open}</Button>
  return (
    <Page title={app.support} wide actions={open}>
      <Filters any={any} onClear={() => void navigate({ search: {} })}>
        <ChoiceFilter value={filters.state} label={t.state} names={t.states} onChange={(state) => change({ state })} />
        <ChoiceFilter
          value={whose}
          label={t.whose}
          names={{ mine: t.mine, unassigned: t.unassigned }}
          onChange={(who) => change({ assigneeId: who === 'mine' ? me.id : undefined, unassigned: who === 'unassigned' || undefined })}
        />
        {filters.assigneeId && filters.assigneeId !== me.id && (
          <OnlyFilter words={t.onlyPerson} title={t.allPeople} onClear={() => change({ assigneeId: undefined })} />
        )}
        <CustomerFilter id={filters.subscriberId} onClear={() => change({ subscriberId: undefined })} />
      </Filters>
      <DataTable
        list={list}
        columns={columns}
        rowKey={(r) => r.id}
        label={app.support}
        empty={any ? <Empty title={words.nothingFits} /> : <Empty title={t.none} action={open}>{t.noneHint}</Empty>}
      />
      {opens && <OpenRequest onClose={() => setOpens(false)} onOpened={(id) => void navigate({ to: '/support/$id', params: { id } })} />}
    </Page>
  )
}

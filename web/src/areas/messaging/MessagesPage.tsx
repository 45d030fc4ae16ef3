import { useNavigate, useSearch } from '@tanstack/react-router'
import { type Row, useRows } from '../../api/rows'
import { appText } from '../../text/app'
import { useText } from '../../text/catalogue'
import { messagesText } from '../../text/messages'
import { uiText } from '../../text/ui'
import { CustomerFilter } from '../../ui/CustomerFilter'
import { CustomerLink } from '../../ui/CustomerLink'
import { type Column, DataTable } from '../../ui/DataTable'
import { Empty } from '../../ui/Empty'
import { ChoiceFilter, Filters } from '../../ui/Filters'
import { OnlyFilter } from '../../ui/OnlyFilter'
import { Page } from '../../ui/Page'
import { PageLink } from '../../ui/PageLink'
import { SpanFilter } from '../../ui/SpanFilter'
import { State, type Tone } from '../../ui/State'
import { When } from '../../ui/When'

type Message = Row<'/messages'>

const tones: Record<string, Tone> = { queued: 'quiet', sending: 'quiet', sent: 'good', delivered: 'good', undelivered: 'bad', in_doubt: 'attention', failed: 'bad', dropped: 'attention' }

/** MessagesPage answers: what was this customer told, did it arrive, and why not? */
export default function MessagesPage() {
  const t = useText(messagesText)
  const app = useText(appText)
  const words = useText(uiText)
  const filters = useSearch({ from: '/messages' })
  const navigate = useNavigate({ from: '/messages' })
  const list = useRows('/messages', filters)
  const change = (part: Partial<typeof filters>) => void navigate({ search: { ...filters, ...part }, replace: true })
  const any = Object.values(filters).some((v) => v !== undefined)
  const states: Record<string, string> = { queued: t.waits, in_doubt: t.inDoubt }
  const said = (code: string) => t.errors[code] ?? code
  const why = (m: Message) => [m.error ? said(m.error) : states[m.state], m.back && t.back(said(m.back))].filter(Boolean).join(' ')
  const names: Record<string, string> = t.templates
  const columns: Column<Message>[] = [
    { id: 'customer', title: t.customer, width: 180, narrow: 110, cell: (m) => <CustomerLink of={m.subscriber} /> },
    { id: 'what', title: t.what, cell: (m) => <span title={names[m.template]}>{names[m.template] ?? m.template}</span> },
    { id: 'to', title: t.to, width: 132, wideOnly: true, cell: (m) => <span className="figure">{m.to ?? t.noAddress}</span> },
    {
      id: 'state', title: t.state, width: 128, narrow: 116,
      cell: (m) => <State tone={tones[m.state] ?? 'quiet'} title={why(m)}>{t.states[m.state] ?? m.state}</State>,
    },
    { id: 'why', title: t.why, wideOnly: true, cell: (m) => <span title={why(m)}>{why(m)}</span> },
    { id: 'at', title: t.at, width: 132, wideOnly: true, cell: (m) => <When at={m.at} /> },
  ]
  return (
    <Page title={app.messages} wide actions={<><PageLink to="/message-costs">{t.costs}</PageLink><PageLink to="/message-texts">{app.messageTexts}</PageLink></>}>
      <Filters any={any} onClear={() => void navigate({ search: {} })}>
        <ChoiceFilter value={filters.state} label={t.state} names={t.states} onChange={(state) => change({ state })} />
        <ChoiceFilter value={filters.channel} label={t.channel} names={t.channels} onChange={(channel) => change({ channel })} />
        <ChoiceFilter value={filters.template} label={t.what} names={t.templates} onChange={(template) => change({ template })} />
        <SpanFilter of={filters} onChange={change} />
        <CustomerFilter id={filters.subscriberId} onClear={() => change({ subscriberId: undefined })} />
        {filters.outageId && <OnlyFilter words={t.ofOutage} title={t.ofAll} onClear={() => change({ outageId: undefined })} />}
      </Filters>
      <DataTable
        list={list}
        columns={columns}
        rowKey={(m) => m.id}
        label={app.messages}
        empty={any ? <Empty title={words.nothingFits} /> : <Empty title={t.none}>{t.noneHint}</Empty>}
      />
    </Page>
  )
}

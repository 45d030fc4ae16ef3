import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { Paper, Text } from '@mantine/core'
import { useEffect, useState } from 'react'
import { api } from '../../api/client'
import { useMay } from '../../app/person'
import { useText } from '../../text/catalogue'
import { customerText } from '../../text/customer'
import { subscribersText } from '../../text/subscribers'
import { later } from '../../ui/later'
import { Loaded } from '../../ui/Loaded'
import { Page } from '../../ui/Page'
import { ProblemNote } from '../../ui/ProblemNote'
import { State } from '../../ui/State'
import { useIdle } from '../../ui/useIdle'
import { useKeys } from '../../ui/useKeys'
import { Views } from '../../ui/Views'
import { AnswerCard } from './AnswerCard'
import { CustomerActions } from './CustomerActions'
import { DoContext, type Doing } from './doing'
import { Overview } from './Overview'
import { customerViews } from './routes'
import { Sessions } from './Sessions'
import { Statement } from './Statement'
import { Timeline } from './Timeline'
import { nameOf } from './words'

// The dialogs are read when the page has been drawn, so that the first one opens at once, too.
const CustomerDialogs = later(async () => (await import('./CustomerDialogs')).CustomerDialogs)

const StatementPdf = later(() => import('./StatementPdf').then((m) => m.StatementPdf))
const Usage = later(() => import('./Usage').then((m) => m.Usage))

/** CustomerPage answers about one customer: why, and what now? */
export default function CustomerPage() {
  const t = useText(subscribersText)
  const words = useText(customerText)
  const may = useMay()
  const { id } = useParams({ from: '/customers/$id' })
  const search = useSearch({ from: '/customers/$id' })
  const navigate = useNavigate({ from: '/customers/$id' })
  const [begun, setBegun] = useState<Doing | null>(null)
  const customer = api.useQuery('get', '/subscribers/{id}', { params: { path: { id } } })
  const view = search.view ?? 'overview'
  const forgotten = customer.data?.status === 'forgotten'
  const mayPay = may('POST /payments/initiate') && !forgotten
  const doing: Doing | null = forgotten ? null : begun ?? (search.pay ? { act: 'take_payment' } : null)
  const close = () => {
    setBegun(null)
    if (search.pay) void navigate({ search: { ...search, pay: undefined }, replace: true })
  }
  const idle = useIdle()
  useEffect(() => {
    if (idle) CustomerDialogs.preload()
  }, [idle])
  useKeys(doing !== null, [
    ['p', () => mayPay && setBegun({ act: 'take_payment' })],
    ['e', () => !forgotten && may('PATCH /subscribers/{id}') && setBegun({ act: 'edit' })],
    ['t', () => void navigate({ search: { view: 'timeline' } })],
  ])
  if (customer.error && !customer.data) {
    return <Page title={words.customer}><ProblemNote of={customer.error} retry={() => void customer.refetch()} /></Page>
  }
  return (
    <DoContext value={setBegun}>
      <Page
        title={customer.data ? nameOf(customer.data, t) : words.customer}
        actions={customer.data && <CustomerActions of={customer.data} />}
      >
        {customer.data && <div className="printed" hidden>{t.account} {customer.data.accountNumber}</div>}
        {forgotten
          ? (
            <Paper withBorder p="md" role="note">
              <State tone="quiet">{t.statuses.forgotten}</State>
              <Text size="sm" mt={4}>{words.forgotten}</Text>
            </Paper>
          )
          : <AnswerCard id={id} />}
        <Views
          label={words.details}
          current={view}
          of={customerViews.map((v) => [v, words.views[v], (inner) => (
            <Link to="/customers/$id" params={{ id }} search={{ view: v }} {...inner} />
          )])}
        />
        {view === 'overview' && <Loaded read={customer} height={420}>{(c) => <Overview of={c} />}</Loaded>}
        {view === 'statement' && <StatementPdf id={id} />}
        {view === 'statement' && <Statement id={id} />}
        {view === 'timeline' && <Timeline id={id} />}
        {view === 'sessions' && <Sessions id={id} />}
        {view === 'usage' && <Usage id={id} />}
        {mayPay && <Text size="xs" c="dimmed" visibleFrom="sm" className="unprinted">{words.keys}</Text>}
      </Page>
      {doing && customer.data && <CustomerDialogs key={JSON.stringify(doing)} doing={doing} of={customer.data} onClose={close} />}
    </DoContext>
  )
}

import { Button, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useRows } from '../../api/rows'
import { useMay } from '../../app/person'
import { appText } from '../../text/app'
import { useText } from '../../text/catalogue'
import { webhooksText } from '../../text/webhooks'
import { type Column, DataTable } from '../../ui/DataTable'
import { Empty } from '../../ui/Empty'
import { Plus } from '../../ui/icons'
import { later } from '../../ui/later'
import { Page } from '../../ui/Page'
import { When } from '../../ui/When'
import { type Endpoint, EndpointState } from './words'

const RegisterEndpoint = later(() => import('./EndpointDialogs').then((m) => m.RegisterEndpoint))

const everyEndpoint = {}

/** WebhooksPage answers: which of our own systems are told of what happens, and does it reach them? */
export default function WebhooksPage() {
  const t = useText(webhooksText)
  const app = useText(appText)
  const may = useMay()
  const list = useRows('/webhook-endpoints', everyEndpoint)
  const [adding, setAdding] = useState(false)
  const columns: Column<Endpoint>[] = [
    { id: 'address', title: t.address, cell: (e) => <Link to="/webhooks/$id" params={{ id: e.id }} title={e.url}>{e.url}</Link> },
    { id: 'description', title: t.description, width: 200, wideOnly: true, cell: (e) => e.description },
    {
      id: 'types', title: t.types, width: 110, wideOnly: true,
      cell: (e) => <span title={e.types.map((of) => t.typeNames[of] ?? of).join(', ')}>{t.typesOf(e.types.length)}</span>,
    },
    { id: 'state', title: t.state, width: 130, narrow: 118, cell: (e) => <EndpointState of={e} /> },
    { id: 'since', title: t.since, width: 140, wideOnly: true, cell: (e) => <When at={e.stateAt} /> },
  ]
  const register = may('POST /webhook-endpoints') && (
    <Button leftSection={<Plus size={14} aria-hidden />} onClick={() => setAdding(true)}>{t.register}</Button>
  )
  return (
    <Page title={app.webhooks} wide actions={register}>
      <Text size="sm" c="dimmed">{t.hint}</Text>
      <DataTable
        list={list}
        columns={columns}
        rowKey={(e) => e.id}
        label={app.webhooks}
        empty={<Empty title={t.none} docs={{ href: '/docs', label: app.apiReference }}>{t.noneHint}</Empty>}
      />
      {adding && <RegisterEndpoint onClose={() => setAdding(false)} />}
    </Page>
  )
}

import { Button, Text } from '@mantine/core'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { useRows } from '../../api/rows'
import { appText } from '../../text/app'
import { useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import { sessionsText } from '../../text/sessions'
import { uiText } from '../../text/ui'
import { CustomerFilter } from '../../ui/CustomerFilter'
import { type Column, DataTable } from '../../ui/DataTable'
import { Empty } from '../../ui/Empty'
import { ChoiceFilter, Filters, TextFilter } from '../../ui/Filters'
import { Page } from '../../ui/Page'
import { RouterFilter } from '../../ui/RouterFilter'
import { RouterLink } from '../../ui/RouterLink'
import { When } from '../../ui/When'
import { AddressLookup } from './AddressLookup'
import { Lasted, type Session, SessionState, Whose } from './SessionParts'

/** SessionsPage answers: who is online, who was, and who had an address at an instant? */
export default function SessionsPage() {
  const t = useText(sessionsText)
  const words = useText(uiText)
  const app = useText(appText)
  const f = useFormat()
  const filters = useSearch({ from: '/sessions' })
  const navigate = useNavigate({ from: '/sessions' })
  const list = useRows('/sessions', filters)
  const columns = useColumns()
  const [asking, setAsking] = useState(filters.ip !== undefined)
  const change = (part: Partial<typeof filters>) => void navigate({ search: { ...filters, ...part }, replace: true })
  const any = Object.values(filters).some((v) => v !== undefined)
  const { ip, at } = filters
  return (
    <Page
      title={app.sessions}
      wide
      actions={!asking && <Button variant="default" onClick={() => setAsking(true)}>{t.whoHad}</Button>}
    >
      {asking && (
        <AddressLookup
          ip={ip}
          at={at}
          onLook={(asked) => void navigate({ search: asked })}
          onClose={() => {
            setAsking(false)
            if (ip) void navigate({ search: {} })
          }}
        />
      )}
      {ip && at ? <Text size="sm" role="status">{t.whoHadTold(ip, f.exact(at))}</Text> : (
        <Filters any={any} onClear={() => void navigate({ search: {} })}>
          <TextFilter value={filters.username} label={t.filter} onChange={(username) => change({ username })} />
          <ChoiceFilter
            value={filters.online === undefined ? undefined : filters.online ? 'true' : 'false'}
            label={t.state}
            names={t.states}
            onChange={(v) => change({ online: v === undefined ? undefined : v === 'true' })}
          />
          <RouterFilter value={filters.deviceId} onChange={(deviceId) => change({ deviceId })} />
          <CustomerFilter id={filters.subscriberId} onClear={() => change({ subscriberId: undefined })} />
        </Filters>
      )}
      <DataTable
        list={list}
        columns={columns}
        rowKey={(s) => s.id}
        label={app.sessions}
        empty={
          ip ? <Empty title={t.nobodyHad}>{t.nobodyHadHint}</Empty>
            : any ? <Empty title={words.nothingFits} />
              : <Empty title={t.none}>{t.noneHint}</Empty>
        }
      />
    </Page>
  )
}

function useColumns(): Column<Session>[] {
  const t = useText(sessionsText)
  const f = useFormat()
  return [
    {
      id: 'username', title: t.username, width: 120, narrow: 84,
      cell: (s) => <Link to="/sessions/$id" params={{ id: s.id }}>{s.username || t.unnamed}</Link>,
    },
    { id: 'customer', title: t.customer, cell: (s) => <Whose of={s} /> },
    { id: 'state', title: t.state, width: 184, narrow: 126, cell: (s) => <SessionState of={s} /> },
    { id: 'router', title: t.router, wideOnly: true, cell: (s) => <RouterLink id={s.deviceId} name={s.deviceName} /> },
    { id: 'ip', title: t.ip, width: 120, wideOnly: true, cell: (s) => <span className="figure">{s.ipAddress ?? '–'}</span> },
    { id: 'began', title: t.began, width: 132, wideOnly: true, cell: (s) => <When at={s.startedAt} /> },
    { id: 'lasted', title: t.lasted, width: 112, figure: true, wideOnly: true, cell: (s) => <Lasted of={s} /> },
    {
      id: 'traffic', title: t.downUp, width: 156, figure: true, wideOnly: true,
      cell: (s) => `${f.bytes(s.bytesIn)} / ${f.bytes(s.bytesOut)}`,
    },
  ]
}

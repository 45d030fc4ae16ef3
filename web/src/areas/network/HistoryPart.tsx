import { Modal, Stack, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../../api/client'
import { type Row, type Rows, useRows } from '../../api/rows'
import { useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import { historiesText, historyOf } from '../../text/histories'
import { networkText } from '../../text/network'
import { servicesText } from '../../text/services'
import { uiText } from '../../text/ui'
import { type Column, DataTable } from '../../ui/DataTable'
import { Empty } from '../../ui/Empty'
import { When } from '../../ui/When'
import { Difference } from './Difference'
import { placeOf } from './words'

type Entry = Row<'/nas/devices/{id}/history'>

const persons = new Set<string>(['user', 'api_key', 'operator'])

/** HistoryPart shows what happened to a router and its services, each write with what was before and after. */
export function HistoryPart({ id }: { id: string }) {
  return <History list={useRows('/nas/devices/{id}/history', {}, { path: { id } })} device={id} />
}

/** ServiceHistory is the same for one service. */
export function ServiceHistory({ id }: { id: string }) {
  return <History list={useRows('/nas/services/{id}/history', {}, { path: { id } })} />
}

function History({ list, device }: {
  list: Rows<Entry>
  /** device is the router whose services are named in the rows. */
  device?: string
}) {
  const t = useText(networkText)
  const [opened, setOpened] = useState<Entry | null>(null)
  const words = useText(servicesText)
  const texts = useText(historiesText)
  const known = api.useQuery('get', '/nas/devices/{id}/services', { params: { path: { id: device ?? '' }, query: { limit: 100 } } }, {
    enabled: device !== undefined,
  })
  const nameOf = (id: string) => {
    const s = known.data?.data.find((each) => each.id === id)
    return s ? words.title(words.types[s.type] ?? s.type, placeOf(s, words)) : id.slice(0, 8)
  }
  const columns: Column<Entry>[] = [
    { id: 'at', title: t.when, width: 190, narrow: 104, cell: (e) => <When at={e.at} exact /> },
    {
      id: 'what', title: t.event,
      cell: (e) => {
        const [title, details] = historyOf(e, texts)
        return (
          <Text component="button" type="button" size="sm" truncate maw="100%" className="quiet-link" title={details || undefined} onClick={() => setOpened(e)}>
            {title} <Text span inherit c="dimmed">{details}</Text>
          </Text>
        )
      },
    },
    ...(device ? [{
      id: 'service', title: t.service, width: 200, wideOnly: true,
      cell: (e: Entry) => e.serviceId && <Link to="/services/$id" params={{ id: e.serviceId }}>{nameOf(e.serviceId)}</Link>,
    }] : []),
    { id: 'by', title: t.by, width: 160, wideOnly: true, cell: (e) => e.actor.name ?? (persons.has(e.actor.kind) ? t.byPerson : t.byPlatform) },
  ]
  return (
    <>
      <DataTable
        list={list}
        columns={columns}
        rowKey={(e) => `${e.at} ${e.kind} ${e.summary}`}
        label={t.views.history}
        empty={<Empty title={t.noHistory} />}
      />
      {opened && <Details of={opened} onClose={() => setOpened(null)} />}
    </>
  )
}

interface Step {
  path: string
  name: string
  before: Record<string, string> | null
  after: Record<string, string> | null
}

/** Details shows a write side by side, and of other events the whole sentence. */
function Details({ of: e, onClose }: { of: Entry; onClose: () => void }) {
  const t = useText(networkText)
  const words = useText(uiText)
  const f = useFormat()
  const says = historyOf(e, useText(historiesText)).filter(Boolean).join(': ')
  const step = (e.detail as { step?: Step } | null)?.step
  return (
    <Modal opened onClose={onClose} size="lg" title={step ? t.writes : t.event} closeButtonProps={{ 'aria-label': words.close }}>
      <Stack gap="sm">
        <Text size="sm" className="sentence">{says}</Text>
        <Text size="sm" c="dimmed">{f.exact(e.at)}</Text>
        {step && (
          <Difference
            of="write"
            resources={[{
              path: step.path,
              name: step.name,
              kind: step.before === null ? 'missing' : step.after === null ? 'extra' : 'changed',
              expected: step.after ?? {},
              actual: step.before ?? {},
            }]}
          />
        )}
      </Stack>
    </Modal>
  )
}

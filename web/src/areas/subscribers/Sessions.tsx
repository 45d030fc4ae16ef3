import { ActionIcon, Group } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { type Row, useRows } from '../../api/rows'
import { serverNow } from '../../app/clock'
import { useMay } from '../../app/person'
import { useText } from '../../text/catalogue'
import { customerText } from '../../text/customer'
import { useFormat } from '../../text/format'
import { type Column, DataTable } from '../../ui/DataTable'
import { Empty } from '../../ui/Empty'
import { Unplug } from '../../ui/icons'
import { State } from '../../ui/State'
import { When } from '../../ui/When'
import { useDo } from './doing'
import { firstOf } from './first'
import { addressOf } from './words'

type Session = Row<'/sessions'>

/** Sessions shows the present ones and those before; a present one can be ended. */
export function Sessions({ id, first }: { id: string; first?: number }) {
  const t = useText(customerText)
  const f = useFormat()
  const may = useMay()
  const begin = useDo()
  const list = useRows('/sessions', { subscriberId: id })
  const short = first !== undefined
  const seconds = (s: Session) => ((s.endedAt ? Date.parse(s.endedAt) : serverNow()) - Date.parse(s.startedAt)) / 1000
  const ends = may('POST /sessions/{id}/disconnect')
  const columns: Column<Session>[] = [
    { id: 'began', title: t.began, width: short ? 130 : 190, narrow: 130, cell: (s) => <Link to={addressOf.session(s.id)}><When at={s.startedAt} exact={!short} /></Link> },
    {
      id: 'state', title: t.state, width: short ? undefined : 190, narrow: 170,
      cell: (s) => s.endedAt ? (
        <State tone="quiet" title={s.endReason ?? undefined}>{`${t.ended} ${t.ends[s.endReason ?? ''] ?? t.byRouter}`}</State>
      ) : (
        <Group gap={4} wrap="nowrap">
          <State tone="good">{t.now}</State>
          {ends && (
            <ActionIcon size={24} aria-label={t.disconnect} title={t.disconnect} onClick={() => begin({ act: 'disconnect', session: s })}>
              <Unplug size={15} aria-hidden />
            </ActionIcon>
          )}
        </Group>
      ),
    },
    { id: 'router', title: t.router, width: short ? 110 : undefined, wideOnly: true, cell: (s) => <RouterName of={s} /> },
    ...(short ? [] : [
      { id: 'lasted', title: t.lasted, width: 110, wideOnly: true, cell: (s: Session) => f.duration(seconds(s)) },
      { id: 'address', title: t.address, width: 130, wideOnly: true, cell: (s: Session) => <span className="figure">{s.ipAddress}</span> },
      { id: 'device', title: t.device, width: 150, wideOnly: true, cell: (s: Session) => <span className="figure">{s.macAddress}</span> },
    ]),
    {
      id: 'traffic', title: t.traffic, width: 130, figure: true, wideOnly: true,
      cell: (s) => `${f.bytes(s.bytesIn)} / ${f.bytes(s.bytesOut)}`,
    },
  ]
  return (
    <DataTable
      list={firstOf(list, first)}
      columns={columns}
      rowKey={(s) => s.id}
      label={t.sessions}
      empty={<Empty title={t.noSessions}>{t.noSessionsHint}</Empty>}
    />
  )
}

/** RouterName leads to the router for those who may see it. */
function RouterName({ of: s }: { of: Session }) {
  const may = useMay()
  if (!may('GET /nas/devices/{id}')) return s.deviceName
  return <Link to={addressOf.router(s.deviceId)}>{s.deviceName}</Link>
}

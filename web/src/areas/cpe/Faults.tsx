import { Button, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { type Row, useRows } from '../../api/rows'
import { useWrite } from '../../api/write'
import { useMay } from '../../app/person'
import { useText } from '../../text/catalogue'
import { deviceFaultsText } from '../../text/deviceFaults'
import { useFormat } from '../../text/format'
import { Confirm } from '../../ui/Confirm'
import { type Column, DataTable } from '../../ui/DataTable'
import { Empty } from '../../ui/Empty'
import { State } from '../../ui/State'
import { When } from '../../ui/When'
import { channelOf } from './fault'

type Fault = Row<'/cpe/faults'>

// The server is asked for faults once a minute, which is no change of the stream.
const lookAgain = 20_000

/** Faults lists the faults of all devices, or of one, and clears them. */
export function Faults({ deviceId }: { deviceId?: string }) {
  const t = useText(deviceFaultsText)
  const f = useFormat()
  const may = useMay()
  const list = useRows('/cpe/faults', { deviceId }, { every: lookAgain })
  const [cleared, setCleared] = useState<Fault | null>(null)
  const clears = may('POST /cpe/faults/{id}/clear')
  const columns: Column<Fault>[] = [
    ...(deviceId ? [] : [{
      id: 'serial', title: t.serial, width: 170, narrow: 120,
      cell: (d: Fault) => <Link to="/devices/$id" params={{ id: d.deviceId }} className="figure">{d.serialNumber}</Link>,
    }]),
    {
      id: 'fault', title: t.fault,
      cell: (d) => <State tone="bad" title={d.code}>{[d.message, ...d.detail.parameters.map((p) => `${p.value === null ? p.name : `${p.name} = ${p.value}`}: ${p.message}`)].filter(Boolean).join(' ')}</State>,
    },
    { id: 'channel', title: t.channel, width: 140, wideOnly: true, cell: (d) => <Text span inherit>{channelOf(d.channel) ?? t.task}</Text> },
    { id: 'times', title: t.times, width: 80, figure: true, wideOnly: true, cell: (d) => f.number(d.retries + 1) },
    { id: 'first', title: t.first, width: 130, wideOnly: true, cell: (d) => <When at={d.firstSeen} /> },
    { id: 'last', title: t.last, width: 130, wideOnly: true, cell: (d) => <When at={d.lastSeen} /> },
    ...(clears ? [{
      id: 'clear', title: '', width: 110, narrow: 84,
      cell: (d: Fault) => <Button size="compact-sm" variant="default" aria-label={t.clearOf(d.serialNumber)} onClick={() => setCleared(d)}>{t.clear}</Button>,
    }] : []),
  ]
  return (
    <>
      <DataTable list={list} columns={columns} rowKey={(d) => d.id} label={t.faults} empty={<Empty title={t.none}>{t.noneHint}</Empty>} />
      {cleared && <Clear of={cleared} onClose={() => setCleared(null)} />}
    </>
  )
}

function Clear({ of: d, onClose }: { of: Fault; onClose: () => void }) {
  const t = useText(deviceFaultsText)
  const write = useWrite('post', '/cpe/faults/{id}/clear', { told: () => t.cleared, then: onClose })
  return (
    <Confirm
      title={t.clearTitle(d.serialNumber)}
      verb={t.clear}
      reason="optional"
      pending={write.isPending}
      error={write.error}
      onConfirm={(reason) => write.mutate({ params: { path: { id: d.id } }, body: reason ? { reason } : {} })}
      onClose={onClose}
    >
      {t.clearDoes}
    </Confirm>
  )
}

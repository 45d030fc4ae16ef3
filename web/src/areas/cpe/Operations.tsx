import { Text } from '@mantine/core'
import { useRows } from '../../api/rows'
import { useText } from '../../text/catalogue'
import { devicesText } from '../../text/devices'
import { type Column, DataTable } from '../../ui/DataTable'
import { Empty } from '../../ui/Empty'
import { State } from '../../ui/State'
import { When } from '../../ui/When'
import { firstOf } from '../subscribers/first'
import { goesOn, type Operation, stepsOf, toneOfOperation } from './words'

/** Operations lists the writes to a device, with what became of each. */
export function Operations({ id, first }: { id: string; first?: number }) {
  const t = useText(devicesText)
  const list = useRows('/cpe/devices/{id}/operations', {}, { path: { id } })
  const columns: Column<Operation>[] = [
    { id: 'what', title: t.what, width: 190, narrow: 120, cell: (o) => <><span>{t.kinds[o.kind] ?? o.kind}</span>{o.names.length > 0 && <Text span inherit c="dimmed"> {o.names.join(', ')}</Text>}</> },
    {
      id: 'became', title: t.became,
      cell: (o) => <>
        <State tone={toneOfOperation(o)} title={o.error ? o.error.code : undefined}>
          {t.becomes[o.state]}{o.error ? `: ${o.error.message}` : goesOn(o) && o.connectionRequest ? `. ${t.calls[o.connectionRequest]}` : ''}
        </State>
        <Steps of={o} />
        {o.written.length > 0 && <Text inherit c="dimmed">{t.written(o.written.join(', '))}</Text>}
      </>,
    },
    { id: 'at', title: t.askedBy, width: 140, narrow: 96, cell: (o) => <When at={o.at} /> },
    { id: 'by', title: t.by, width: 150, wideOnly: true, cell: (o) => o.by?.name ?? t.byProgram },
  ]
  return (
    <DataTable
      list={firstOf(list, first)}
      columns={columns}
      rowKey={(o) => o.id}
      label={t.operations}
      empty={<Empty title={t.noOperations}>{t.noOperationsHint}</Empty>}
    />
  )
}

/** Steps tells how far the set-up of an ONU has come; other operations have none. */
function Steps({ of: o }: { of: Operation }) {
  const t = useText(devicesText)
  const { done, left } = stepsOf(o)
  const said = (steps: typeof done) => steps.map((s) => t.steps[s]).join(', ')
  if (o.steps.length === 0) return null
  return <Text inherit c="dimmed">{done.length > 0 && t.stepsDone(said(done))} {left.length > 0 && t.stepsLeft(said(left))}</Text>
}

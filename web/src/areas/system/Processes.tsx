import { Button, Stack } from '@mantine/core'
import { useState } from 'react'
import type { Rows } from '../../api/rows'
import { useWrite } from '../../api/write'
import { useMay } from '../../app/person'
import { useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import { systemText } from '../../text/system'
import { Confirm } from '../../ui/Confirm'
import { type Column, DataTable } from '../../ui/DataTable'
import { Empty } from '../../ui/Empty'
import { Facts } from '../../ui/Facts'
import { State, type Tone } from '../../ui/State'
import { When } from '../../ui/When'
import { hasStopped, type Process } from './amiss'
import { AllStopped, Stopped } from './Stopped'

const tones: Record<Process['state'], Tone> = { waiting: 'quiet', history: 'attention', running: 'good', stopped: 'bad' }

/** ProcessTable shows every process with how far it is. */
export function ProcessTable({ list }: { list: Rows<Process> }) {
  const t = useText(systemText)
  const f = useFormat()
  const columns: Column<Process>[] = [
    { id: 'name', title: t.process, cell: (p) => <span title={p.name}>{t.processNames[p.name] ?? p.name}</span> },
    {
      id: 'state', title: t.state,
      cell: (p) => p.state !== 'stopped' && p.stopped.length > 0
        ? <State tone="bad">{t.partlyStopped(p.stopped.length)}</State>
        : <State tone={tones[p.state]}>{t.processStates[p.state]}</State>,
    },
    { id: 'retrying', title: t.repeats, wideOnly: true, cell: (p) => p.retrying > 0 && t.retrying(p.retrying) },
    { id: 'position', title: t.position, width: 110, figure: true, wideOnly: true, cell: (p) => f.number(p.position) },
    { id: 'lag', title: t.lag, width: 100, narrow: 54, figure: true, cell: (p) => f.number(p.lag) },
  ]
  return <DataTable whole list={list} columns={columns} rowKey={(p) => p.name} label={t.processes} empty={<Empty title={t.processes} />} />
}

/** StoppedParts shows what has stopped and why, with the button that tries it again. */
export function StoppedParts({ of }: { of: Process[] }) {
  const t = useText(systemText)
  const may = useMay()
  const [asking, setAsking] = useState<{ name: string; key?: string } | null>(null)
  const retry = useWrite('post', '/system/processes/{name}/retry', { told: () => t.retried, then: () => setAsking(null) })
  const stopped = of.filter(hasStopped)
  if (stopped.length === 0) return null
  const button = (name: string, words: string, key?: string) =>
    may('POST /system/processes/{name}/retry') && <Button variant="default" onClick={() => setAsking({ name, key })}>{words}</Button>
  const named = (name: string) => t.processNames[name] ?? name
  return (
    <AllStopped hint={t.stoppedHint}>
      {stopped.map((p) => (
        <Stopped key={p.name} name={named(p.name)} error={p.error}>
          {p.stopped.map((part) => (
            <Stack key={`${part.key} ${part.command}`} gap={6} align="start">
              <Facts
                of={[
                  [t.part, part.key],
                  [t.command, part.command],
                  [t.since, <When key="s" at={part.since} />],
                  [t.waiting, part.waiting],
                  [t.why, part.error],
                ]}
              />
              {button(p.name, t.retry, part.key)}
            </Stack>
          ))}
          {p.stopped.length !== 1 && <div>{button(p.name, p.stopped.length > 1 ? t.retryAll : t.retry)}</div>}
        </Stopped>
      ))}
      {asking && (
        <Confirm
          title={t.retryTitle(named(asking.name))}
          verb={t.retry}
          pending={retry.isPending}
          error={retry.error}
          onConfirm={() => retry.mutate({
            params: { path: { name: asking.name } },
            body: asking.key === undefined ? {} : { key: asking.key },
          })}
          onClose={() => setAsking(null)}
        >
          {t.retryHint}
        </Confirm>
      )}
    </AllStopped>
  )
}

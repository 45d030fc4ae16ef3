import { Text } from '@mantine/core'
import { useMemo } from 'react'
import { useText } from '../../text/catalogue'
import { customerText } from '../../text/customer'
import { useFormat } from '../../text/format'
import { useTell } from '../../text/happenings'
import { Chart, type Mark } from '../../ui/Chart'
import type { Day } from './day'
import './subscribers.css'

const colors: Record<Day['events'][number]['type'], string> = {
  payment: 'var(--tone-good)', restored: 'var(--tone-good)', cut: 'var(--tone-bad)', block: 'var(--tone-bad)', pause: 'var(--tone-quiet)',
  reboot: 'var(--tone-attention)', repair: 'var(--chart-3)',
}

/** UsageChart draws the traffic of a customer, marked with what may explain it. */
export default function UsageChart({ of: rows, events }: {
  of: { from: string; bytesIn: number; bytesOut: number }[]
  events: Day['events']
}) {
  const t = useText(customerText)
  const f = useFormat()
  const tell = useTell()
  const times = useMemo(() => rows.map((d) => Date.parse(d.from)), [rows])
  const series = useMemo(() => [
    { label: t.down, values: rows.map((d) => d.bytesIn), color: 'var(--chart-1)', bars: true },
    { label: t.up, values: rows.map((d) => d.bytesOut), color: 'var(--chart-2)' },
  ], [rows, t])
  const marks = useMemo<Mark[]>(() => events.map((e) => ({ at: Date.parse(e.at), label: tell(e), color: colors[e.type] })), [events, tell])
  const shown = [...new Set(events.map((e) => e.type))]
  const write = useMemo(() => (n: number) => f.bytes(n), [f])
  return (
    <>
      <Chart times={times} series={series} marks={marks} write={write} label={t.usageChart} />
      {shown.length > 0 && (
        <Text size="xs" c="dimmed" component="ul" className="usage-marks" aria-label={t.marksOf}>
          {shown.map((type) => <li key={type}><i style={{ borderColor: colors[type] }} aria-hidden /> {t.marks[type]}</li>)}
        </Text>
      )}
    </>
  )
}

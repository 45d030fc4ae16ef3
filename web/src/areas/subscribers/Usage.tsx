import { Group, Progress, SegmentedControl, Stack, Text } from '@mantine/core'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useMemo } from 'react'
import { api } from '../../api/client'
import { serverNow } from '../../app/clock'
import { useText } from '../../text/catalogue'
import { customerText } from '../../text/customer'
import { useFormat } from '../../text/format'
import { Empty } from '../../ui/Empty'
import { later } from '../../ui/later'
import { Loaded } from '../../ui/Loaded'
import { Section } from '../../ui/Page'
import { When } from '../../ui/When'
import { Days } from './Days'

const UsageChart = later(async () => (await import('./UsageChart')).default, { height: 260 })

const day = 86_400_000
const ranges = { days: { back: 29 * day, step: 'day' }, months: { back: 334 * day, step: 'month' } } as const

/** Usage answers: how much, when, and what has happened to it? */
export function Usage({ id }: { id: string }) {
  const t = useText(customerText)
  const f = useFormat()
  const { range = 'days' } = useSearch({ from: '/customers/$id' })
  const navigate = useNavigate({ from: '/customers/$id' })
  const { back, step } = ranges[range]
  const from = f.date(serverNow() - back)
  const read = api.useQuery('get', '/subscribers/{id}/usage', { params: { path: { id }, query: { from, step } } })
  const days = api.useQuery('get', '/subscribers/{id}/days', { params: { path: { id } } })
  const events = useMemo(() => (days.data?.data ?? []).flatMap((d) => d.events), [days.data])
  return (
    <Stack gap="lg">
      <Section title={t.days}><Days id={id} /></Section>
      <Section
        title={t.usage}
        actions={(
          <SegmentedControl
            size="xs"
            value={range}
            onChange={(v) => void navigate({ search: { view: 'usage', range: v as typeof range }, replace: true })}
            data={(['days', 'months'] as const).map((value) => ({ value, label: t.usageOf[value] }))}
            aria-label={t.usage}
          />
        )}
      >
        <Loaded read={read} height={320}>
          {(u) => (
            <Stack gap="sm">
              {u.cap && (
                <Group gap="sm">
                  <Progress value={Math.min(100, (100 * u.cap.used) / u.cap.bytes)} w={160} aria-label={t.usage} color={u.cap.used >= u.cap.bytes ? 'red' : undefined} />
                  <Text size="sm">{t.cap(f.bytes(u.cap.used), f.bytes(u.cap.bytes))}. {t.resets} <When at={u.cap.resetsAt} />.</Text>
                </Group>
              )}
              {u.data.every((d) => d.bytesIn + d.bytesOut === 0) ? <Empty title={t.noUsage} /> : (
                <>
                  <UsageChart of={u.data} events={range === 'months' ? [] : events} />
                  <UsageTable of={u.data} step={step} />
                </>
              )}
            </Stack>
          )}
        </Loaded>
      </Section>
    </Stack>
  )
}

function UsageTable({ of: rows, step }: { of: { from: string; bytesIn: number; bytesOut: number; seconds: number }[]; step: string }) {
  const t = useText(customerText)
  const f = useFormat()
  return (
    <div className="rows">
      <div className="rows-frame" tabIndex={0}>
        <table aria-label={t.usage}>
          <thead>
            <tr>
              <th scope="col">{step === 'month' ? t.month : t.day}</th>
              <th scope="col" className="figure">{t.down}</th>
              <th scope="col" className="figure">{t.up}</th>
              <th scope="col" className="figure wide-only">{t.time}</th>
            </tr>
          </thead>
          <tbody>
            {[...rows].reverse().filter((d) => d.bytesIn + d.bytesOut + d.seconds > 0).map((d) => (
              <tr key={d.from}>
                <td>{step === 'month' ? f.month(d.from) : f.day(d.from)}</td>
                <td className="figure">{f.bytes(d.bytesIn)}</td>
                <td className="figure">{f.bytes(d.bytesOut)}</td>
                <td className="figure wide-only">{f.duration(d.seconds)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  )
}

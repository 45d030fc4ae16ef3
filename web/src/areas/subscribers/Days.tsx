import { Group, Stack, Text } from '@mantine/core'
import { type KeyboardEvent, useState } from 'react'
import { api } from '../../api/client'
import { useText } from '../../text/catalogue'
import { customerText } from '../../text/customer'
import { useFormat } from '../../text/format'
import { useTell } from '../../text/happenings'
import { Loaded } from '../../ui/Loaded'
import type { Day } from './day'
import './subscribers.css'

const states = ['paid', 'walled_garden', 'off', 'outage', 'paused', 'none'] as const

// The keyboard shows a day as it comes to it. A finger's focus comes before its click, which would close the day at once.
const walked = (day: Element) => day.matches(':focus-visible')

/**
 * Days is a bar of the last 30 days; each is a cell of its own, told by height and hatching as well as by colour. A click
 * shows a day, and the next one on it, or Esc, closes it.
 */
export function Days({ id }: { id: string }) {
  const t = useText(customerText)
  const f = useFormat()
  const read = api.useQuery('get', '/subscribers/{id}/days', { params: { path: { id } } })
  const [chosen, setChosen] = useState<string | null>(null)
  const tell = useDayWords()
  const happened = useTell()
  const close = (e: KeyboardEvent) => {
    if (e.key !== 'Escape' || chosen === null) return
    e.stopPropagation() // the page behind stays
    setChosen(null)
  }
  return (
    <Loaded read={read} height={112}>
      {({ data }) => {
        const day = data.find((d) => d.date === chosen)
        return (
          <Stack gap={6}>
            <ol className="days" aria-label={t.days} onKeyDown={close}>
              {data.map((d) => (
                <li key={d.date}>
                  <button
                    type="button"
                    className={`day day-${d.state}`}
                    title={tell(d)}
                    aria-label={tell(d)}
                    aria-pressed={d.date === chosen}
                    onClick={() => setChosen(d.date === chosen ? null : d.date)}
                    onFocus={(e) => walked(e.currentTarget) && setChosen(d.date)}
                  >
                    <i>{d.events.length > 0 && '•'}</i>
                  </button>
                </li>
              ))}
            </ol>
            <Group gap="2px 16px" aria-hidden>
              {states.filter((s) => data.some((d) => d.state === s)).map((s) => (
                <Text key={s} size="xs" c="dimmed" component="span" className="days-key">
                  <span className={`day day-${s}`}><i /></span> {t.dayStates[s]}
                </Text>
              ))}
            </Group>
            <Text size="sm" mih={22} component="div" role="status">
              {day ? (
                <>
                  {tell(day)}
                  {day.events.map((e) => <div key={e.at + e.type}>{f.time(e.at)} · {happened(e)}</div>)}
                </>
              ) : <Text span size="sm" c="dimmed">{t.dayHint}</Text>}
            </Text>
          </Stack>
        )
      }}
    </Loaded>
  )
}

/** useDayWords gives the function that says in one line how a day was. */
function useDayWords(): (d: Day) => string {
  const t = useText(customerText)
  const f = useFormat()
  return (d) => {
    const spans: [number, string][] = [
      [d.walledGardenSeconds, t.daySpans.walledGarden], [d.offSeconds, t.daySpans.off], [d.outageSeconds, t.daySpans.outage],
      [d.pausedSeconds, t.daySpans.paused], [d.onlineSeconds, t.daySpans.online],
    ]
    const parts = spans.filter(([n]) => n > 0).map(([n, name]) => `${name} ${f.duration(n)}`)
    if (d.bytesIn + d.bytesOut > 0) parts.push(f.bytes(d.bytesIn + d.bytesOut))
    return `${f.day(d.date)}: ${t.dayStates[d.state]}${parts.length > 0 ? ` (${parts.join(', ')})` : ''}`
  }
}

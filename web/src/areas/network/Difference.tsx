import { Button, Group, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import type { Shape } from '../../api/types'
import { useText } from '../../text/catalogue'
import { routerSetupText } from '../../text/routerSetup'
import { State, type Tone } from '../../ui/State'
import { linesOf } from './difference'
import './network.css'

type Resource = Shape<'ResourceDrift'>

const tones: Record<string, Tone> = { missing: 'bad', extra: 'attention', changed: 'attention', orphan: 'quiet' }

// A router that was reset differs in hundreds of places; the first ones say so.
const first = 20

/**
 * Difference shows what should be on a router beside what is, place by place; of a write what was before it beside what
 * is after.
 */
export function Difference({ resources, of = 'drift' }: { resources: Resource[]; of?: 'drift' | 'write' }) {
  const t = useText(routerSetupText)
  const [all, setAll] = useState(false)
  if (resources.length === 0) return <Text component="div" size="sm"><State tone="good">{t.inSync}</State></Text>
  const shown = all ? resources : resources.slice(0, first)
  return (
    <Stack gap="sm">
      {shown.map((r) => <Place key={`${r.path} ${r.name} ${r.kind}`} of={r} write={of === 'write'} />)}
      {shown.length < resources.length && (
        <Group><Button variant="subtle" onClick={() => setAll(true)}>{t.moreDifferences(resources.length - first)}</Button></Group>
      )}
    </Stack>
  )
}

function Place({ of: r, write }: { of: Resource; write: boolean }) {
  const t = useText(routerSetupText)
  const lines = linesOf(r)
  return (
    <div className="rows wraps">
      <Group gap="sm" mb={2}>
        {!write && <Text component="div" size="sm"><State tone={tones[r.kind] ?? 'quiet'}>{t.kinds[r.kind] ?? r.kind}</State></Text>}
        <Text size="sm" fw={500} className="sentence">{r.path} {r.name}</Text>
      </Group>
      {lines.length > 0 && (
        <table aria-label={`${r.path} ${r.name}`}>
          <thead>
            <tr>
              <th scope="col" style={{ width: '24%' }}>{t.field}</th>
              <th scope="col">{write ? t.before : t.expected}</th>
              <th scope="col">{write ? t.after : t.actual}</th>
            </tr>
          </thead>
          <tbody>
            {lines.map((l) => (
              <tr key={l.field} data-differs={l.differs || undefined}>
                <th scope="row">{l.field}</th>
                <td><Value of={write ? l.actual : l.expected} /></td>
                <td><Value of={write ? l.expected : l.actual} differs={l.differs} /></td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </div>
  )
}

function Value({ of, differs }: { of: string | null; differs?: boolean }) {
  const t = useText(routerSetupText)
  if (of === null || of === '') return <Text span inherit c="dimmed" fs="italic">{t.absent}</Text>
  return <Text span inherit ff="monospace" fw={differs ? 600 : undefined}>{of}</Text>
}

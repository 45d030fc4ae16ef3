import { ScrollArea, Stack, Table, Text } from '@mantine/core'
import type { Shape } from '../../api/types'
import { useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import { proposalsText } from '../../text/proposals'
import { Section } from '../../ui/Page'
import { State } from '../../ui/State'

const shown = 100

/** Notes tells which users of the router are left out, and what of others is not taken. */
export function Notes({ of, count }: { of: Shape<'ProposalNote'>[]; count: number }) {
  const t = useText(proposalsText)
  const f = useFormat()
  if (of.length === 0) return null
  const title = t.notes(f.number(count))
  return (
    <Section title={title}>
      <Stack gap={4}>
        <ScrollArea.Autosize mah={360} type="auto" viewportProps={{ tabIndex: 0, role: 'region', 'aria-label': title }}>
          <Table stickyHeader verticalSpacing={4}>
            <Table.Thead>
              <Table.Tr>
                <Table.Th w={140}>{t.user}</Table.Th>
                <Table.Th>{t.what}</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {of.slice(0, shown).map((n, i) => (
                <Table.Tr key={i}>
                  <Table.Td style={{ overflowWrap: 'anywhere' }}>{n.name}</Table.Td>
                  <Table.Td>
                    <State tone={n.leftOut ? 'attention' : 'quiet'}>{n.leftOut ? t.isLeftOut : t.isTaken}</State>
                    <Text size="sm">{t.codes[n.code] ?? n.code}{n.value && <>: <span className="figure">{n.value}</span></>}</Text>
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </ScrollArea.Autosize>
        {count > shown && <Text size="sm" c="dimmed">{t.firstNotes(f.number(shown))}</Text>}
      </Stack>
    </Section>
  )
}

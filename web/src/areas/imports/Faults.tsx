import { Button, ScrollArea, Stack, Table, Text } from '@mantine/core'
import { useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import { importsText } from '../../text/imports'
import { Download } from '../../ui/icons'
import { Section } from '../../ui/Page'
import { save } from '../../ui/save'
import { csvOf } from '../access/csv'
import { columnOf, type Fault, faultTable } from './told'

const shown = 100

/** Faults shows the first faults by row and column; all that are known can be saved as a table. */
export function Faults({ of, count }: {
  of: Fault[]
  /** count is the number of all, also of those that are not told. */
  count: number
}) {
  const t = useText(importsText)
  const f = useFormat()
  if (of.length === 0) return null
  const table = () => csvOf(faultTable([t.row, t.column, t.wrong], of))
  return (
    <Section
      title={t.faults(f.number(count))}
      actions={(
        <Button
          variant="default" size="compact-sm" leftSection={<Download size={14} aria-hidden />}
          onClick={() => save('faults.csv', new Blob([table()], { type: 'text/csv' }))}
        >
          {t.saveFaults}
        </Button>
      )}
    >
      <Stack gap={4}>
        <ScrollArea.Autosize mah={360} type="auto" viewportProps={{ tabIndex: 0, role: 'region', 'aria-label': t.faults(f.number(count)) }}>
          <Table stickyHeader verticalSpacing={4}>
            <Table.Thead>
              <Table.Tr>
                <Table.Th w={64} ta="right">{t.row}</Table.Th>
                <Table.Th w={140}>{t.column}</Table.Th>
                <Table.Th>{t.wrong}</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {of.slice(0, shown).map((each, i) => (
                <Table.Tr key={i}>
                  <Table.Td ta="right" className="figure">{each.row}</Table.Td>
                  <Table.Td style={{ overflowWrap: 'anywhere' }}>{columnOf(each)}</Table.Td>
                  <Table.Td>{each.message}</Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </ScrollArea.Autosize>
        {count > shown && <Text size="sm" c="dimmed">{t.firstFaults(f.number(Math.min(shown, of.length)), f.number(of.length))}</Text>}
      </Stack>
    </Section>
  )
}

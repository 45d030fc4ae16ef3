import { Alert, Button, Group, Stack, Table, Text } from '@mantine/core'
import { useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import { importsText } from '../../text/imports'
import { TriangleAlert } from '../../ui/icons'
import { Section } from '../../ui/Page'
import { State } from '../../ui/State'
import { Faults } from './Faults'
import type { Answers } from './answers'
import { Questions } from './Questions'
import { Sums } from './Sums'
import { failedRows } from './told'
import type { DryRun } from './upload'

/** Checked shows what an import of the file would do, before it is begun. */
export function Checked({ of, answers, busy, onStart, onAnswer }: {
  of: DryRun
  answers: Answers
  busy: boolean
  onStart: () => void
  onAnswer: (answers: Answers) => void
}) {
  const t = useText(importsText)
  const f = useFormat()
  const failed = failedRows(of)
  return (
    <Stack gap="md">
      {of.looksLike && (
        <Alert color="yellow" variant="light" icon={<TriangleAlert size={18} aria-hidden />} maw={760}>
          {t.looksLike(of.looksLike === 'own' ? t.ownColumns : t.sources[of.looksLike])}
        </Alert>
      )}
      <Group gap="md" role="status">
        <State tone={of.valid > 0 ? 'good' : 'quiet'}>{t.valid(of.valid)}</State>
        {of.skipped > 0 && <State tone="quiet">{t.here(of.skipped)}</State>}
        {failed > 0 && <State tone="attention">{t.failed(failed)}</State>}
        {of.rows === 0 && <State tone="bad">{t.noRows}</State>}
      </Group>
      {of.waits && of.credit !== null && of.currency !== null && (
        <Text size="sm" maw={760}>{t.waits(f.money(of.credit, of.currency))}</Text>
      )}
      <Questions of={of.questions} given={answers} busy={busy} onAnswer={onAnswer} />
      {of.valid > 0 && <Sums of={of} />}
      {of.valid > 0 && of.questions.length === 0 && (
        <Group gap="sm">
          <Button onClick={onStart} loading={busy}>{t.start(of.valid)}</Button>
          <Text size="sm" c="dimmed">{failed > 0 ? t.startWithFaults : t.startHint}</Text>
        </Group>
      )}
      <Faults of={of.errors} count={of.errorCount} />
      {of.columns.length > 0 && (
        <Section title={t.columns}>
          <Table verticalSpacing={4} maw={560}>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>{t.inTheFile}</Table.Th>
                <Table.Th>{t.takenFor}</Table.Th>
                <Table.Th ta="right">{t.values}</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {of.columns.map((c, i) => (
                <Table.Tr key={i}>
                  <Table.Td style={{ overflowWrap: 'anywhere' }}>{c.column || '–'}</Table.Td>
                  <Table.Td>{c.field ?? <Text span inherit c="dimmed">{t.ignored}</Text>}</Table.Td>
                  <Table.Td ta="right" className="figure">{f.number(c.values)}</Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Section>
      )}
    </Stack>
  )
}

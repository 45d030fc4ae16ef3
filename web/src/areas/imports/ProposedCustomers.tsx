import { Anchor, Button, FileInput, Group, Stack, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import type { Shape } from '../../api/types'
import { useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import { proposalsText } from '../../text/proposals'
import { Section } from '../../ui/Page'
import { later } from '../../ui/later'
import { ProblemNote } from '../../ui/ProblemNote'
import { State } from '../../ui/State'
import { useBegun } from './begun'
import { type Answers, noAnswers } from './answers'
import { check, start, tableOf } from './upload'

const Checked = later(async () => (await import('./Checked')).Checked, { height: 160 })

/** ProposedCustomers imports the customers of a proposal: as they were read, or from the table that somebody completed. */
export function ProposedCustomers({ of }: { of: Shape<'ProposalResponse'> }) {
  const t = useText(proposalsText)
  const f = useFormat()
  const [file, setFile] = useState<File | null>(null)
  const checking = useMutation({
    mutationFn: async (answers: Answers) => {
      const table = file ?? (await tableOf(of.id))
      return { table, answers, told: await check(table, null, answers, of.id) }
    },
  })
  const starting = useMutation({
    mutationFn: ({ table, answers }: { table: Blob; answers: Answers }) => start(table, null, answers, of.id),
    onSuccess: useBegun(),
  })
  const checked = checking.data
  return (
    <Section title={t.customers}>
      <Group gap="md">
        <State tone={of.customers > 0 ? 'good' : 'quiet'}>{t.customersN(of.customers)}</State>
        {of.withoutPhone > 0 && <State tone="attention">{t.withoutPhone(f.number(of.withoutPhone))}</State>}
        {of.withoutPassword > 0 && <State tone="attention">{t.withoutPassword(f.number(of.withoutPassword))}</State>}
        {of.leftOut > 0 && <State tone="quiet">{t.leftOut(f.number(of.leftOut))}</State>}
      </Group>
      {of.customers > 0 && (
        <Stack gap="md">
          <Text size="sm" c="dimmed" maw={760}>{t.customersHint}</Text>
          <Anchor href={`/import-proposals/${of.id}/file`} download="customers.csv" w="fit-content">{t.save}</Anchor>
          <Group align="end" gap="sm">
            <FileInput
              label={t.file} placeholder={t.choose} accept=".csv,.txt,.tsv,text/csv" w={280} value={file}
              onChange={(next) => {
                setFile(next)
                checking.reset()
                starting.reset()
              }}
            />
            <Button variant={checked ? 'default' : 'filled'} loading={checking.isPending} onClick={() => checking.mutate(noAnswers)}>
              {t.check}
            </Button>
          </Group>
          {checking.error && <ProblemNote of={checking.error} />}
          {checked && (
            <Checked
              of={checked.told} answers={checked.answers} busy={starting.isPending || checking.isPending}
              onStart={() => starting.mutate(checked)} onAnswer={(given) => checking.mutate(given)}
            />
          )}
          {starting.error && <ProblemNote of={starting.error} />}
          <Text size="sm" c="dimmed" maw={760}>{t.after}</Text>
        </Stack>
      )}
    </Section>
  )
}

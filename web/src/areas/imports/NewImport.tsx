import { Button, FileInput, Group, Select, Stack, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { useText } from '../../text/catalogue'
import { importsText } from '../../text/imports'
import { later } from '../../ui/later'
import { Section } from '../../ui/Page'
import { ProblemNote } from '../../ui/ProblemNote'
import { useBegun } from './begun'
import { type Answers, noAnswers } from './answers'
import { check, type Source, sources, start } from './upload'

const mostBytes = 64 * 1024 * 1024

const Checked = later(async () => (await import('./Checked')).Checked, { height: 160 })

/** NewImport takes a file, tells what an import would do, and begins it. */
export function NewImport() {
  const t = useText(importsText)
  const [file, setFile] = useState<File | null>(null)
  const [source, setSource] = useState<Source>(null)
  const [answers, setAnswers] = useState(noAnswers)
  const checking = useMutation({ mutationFn: (by: { of: File; answers: Answers }) => check(by.of, source, by.answers) })
  const starting = useMutation({
    mutationFn: (of: File) => start(of, source, answers),
    onSuccess: useBegun(),
  })
  const anew = () => {
    setAnswers(noAnswers)
    checking.reset()
    starting.reset()
  }
  const tooLarge = file !== null && file.size > mostBytes
  return (
    <Section title={t.newImport}>
      <Text size="sm" c="dimmed" maw={760}>{t.hint}</Text>
      <Stack gap="md">
        <Group align="end" gap="sm">
          <FileInput
            label={t.file} placeholder={t.choose} accept=".csv,.txt,.tsv,text/csv" w={280} value={file}
            error={tooLarge ? t.tooLarge : undefined}
            onChange={(next) => {
              setFile(next)
              anew()
            }}
          />
          <Select
            label={t.source} w={240} allowDeselect={false} value={source ?? ''}
            data={[{ value: '', label: t.ownColumns }, ...sources.map((s) => ({ value: s, label: t.sources[s] }))]}
            onChange={(next) => {
              setSource((next || null) as Source)
              anew()
            }}
          />
          <Button
            variant={checking.data ? 'default' : 'filled'} disabled={!file || tooLarge} loading={checking.isPending}
            onClick={() => {
              void Checked.preload()
              if (file) checking.mutate({ of: file, answers })
            }}
          >
            {t.check}
          </Button>
        </Group>
        {checking.error && <ProblemNote of={checking.error} />}
        {file && checking.data && (
          <Checked
            of={checking.data} answers={answers} busy={starting.isPending || checking.isPending}
            onStart={() => starting.mutate(file)}
            onAnswer={(given) => {
              setAnswers(given)
              checking.mutate({ of: file, answers: given })
            }}
          />
        )}
        {starting.error && <ProblemNote of={starting.error} />}
      </Stack>
    </Section>
  )
}

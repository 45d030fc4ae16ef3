import { Alert, Button, Checkbox, Group, Select, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import { importSumsText } from '../../text/importSums'
import { TriangleAlert } from '../../ui/icons'
import { allAnswered, type Answers, answersFor, dateOrders, encodings, type Question } from './answers'

/** Questions asks what has to be decided before an import, and has the file checked again with the answers. */
export function Questions({ of, given, busy, onAnswer }: {
  of: Question[]
  /** given are the answers of before, which stay. */
  given: Answers
  busy: boolean
  onAnswer: (answers: Answers) => void
}) {
  const t = useText(importSumsText)
  const f = useFormat()
  const [answers, setAnswers] = useState<Answers>(given)
  if (of.length === 0) return null
  const set = (change: Partial<Answers>) => setAnswers((now) => ({ ...now, ...change }))
  return (
    <Alert color="yellow" variant="light" icon={<TriangleAlert size={18} aria-hidden />} title={t.questions} maw={760}>
      <Stack gap="sm">
        <Text size="sm">{t.questionsHint}</Text>
        {of.map((q) => {
          switch (q.kind) {
            case 'column':
              return (
                <Select
                  key={`column ${q.letter}`} label={t.column(q.column ?? '', q.letter ?? '', f.number(q.rows))}
                  placeholder={t.choose} value={answers.columns[q.letter ?? ''] ?? null}
                  data={answersFor(q).map((value) => ({ value, label: t.answers[value] }))}
                  onChange={(value) => value && set({ columns: { ...answers.columns, [q.letter ?? '']: value } })}
                />
              )
            case 'date_order':
              return (
                <Select
                  key={q.kind} label={t.dateOrder(f.number(q.rows))} placeholder={t.choose} value={answers.dateOrder}
                  data={dateOrders.map((value) => ({ value, label: t.dateOrders[value] }))}
                  onChange={(value) => set({ dateOrder: value as Answers['dateOrder'] })}
                />
              )
            case 'encoding':
              return (
                <Select
                  key={q.kind} label={t.encoding} placeholder={t.choose} value={answers.encoding}
                  data={encodings.map((value) => ({ value, label: t.encodings[value] }))}
                  onChange={(value) => set({ encoding: value as Answers['encoding'] })}
                />
              )
            case 'unpaid':
              return (
                <Checkbox
                  key={q.kind} label={t.unpaidAnswer(f.number(q.rows))} checked={answers.unpaid}
                  onChange={(event) => set({ unpaid: event.currentTarget.checked })}
                />
              )
          }
        })}
        <Group>
          <Button variant="default" disabled={!allAnswered(of, answers)} loading={busy} onClick={() => onAnswer(answers)}>{t.again}</Button>
        </Group>
      </Stack>
    </Alert>
  )
}

import { Alert, Button, Stack, Text } from '@mantine/core'
import type { Problem } from '../../api/problem'
import { useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import { paymentsText } from '../../text/payments'

/** AttemptWord is what a person says about the prompt whose money a receipt may be. */
export type AttemptWord = { paymentId: string } | { noPrompt: true }

interface Attempt {
  paymentId: string
  amount: number
  initiatedAt: string
}

/** mustAsk reports whether the server wants to know which prompt the money belongs to: else it could count twice. */
export function mustAsk(problem: Problem | null): problem is Problem {
  return problem?.code === 'attempt_not_named'
}

/** AttemptQuestion asks which prompt the money belongs to, and goes on with the answer. */
export function AttemptQuestion({ problem, currency, pending, onSay }: {
  problem: Problem
  currency: string
  pending: boolean
  onSay: (word: AttemptWord) => void
}) {
  const t = useText(paymentsText)
  const f = useFormat()
  const attempts = Array.isArray(problem.details.attempts) ? (problem.details.attempts as Attempt[]) : []
  return (
    <Alert color="yellow" variant="light" role="alert" p="sm">
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{t.whichPrompt}</Text>
        {attempts.map((a) => (
          <Button
            key={a.paymentId}
            variant="default"
            disabled={pending}
            onClick={() => onSay({ paymentId: a.paymentId })}
          >
            {t.promptAt(f.money(Number(a.amount), currency), f.short(a.initiatedAt))}
          </Button>
        ))}
        <Button variant="default" disabled={pending} onClick={() => onSay({ noPrompt: true })}>{t.noPrompt}</Button>
      </Stack>
    </Alert>
  )
}

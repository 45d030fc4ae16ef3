import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { useText } from '../text/catalogue'
import { uiText } from '../text/ui'
import { Form, leaves } from './Form'
import { ProblemNote } from './ProblemNote'
import { useFocusBack } from './useFocusBack'

/** FormDialog is a form above the page: it says what it does, is sent by Enter, and keeps what was typed when refused. */
export function FormDialog({ title, hint, verb, ready = true, pending, error, next, children, onSubmit, onClose }: {
  title: string
  hint?: string
  /** verb is the word on the button. */
  verb: string
  ready?: boolean
  pending: boolean
  error: unknown
  /** next is what helps after a refusal. */
  next?: ReactNode
  children: ReactNode
  onSubmit: () => void
  onClose: () => void
}) {
  const t = useText(uiText)
  useFocusBack()
  return (
    <Modal opened onClose={onClose} title={title} closeButtonProps={{ 'aria-label': t.close }}>
      <Form
        busy={pending}
        onSubmit={() => {
          if (ready) onSubmit()
        }}
      >
        <Stack gap="sm">
          {hint && <Text size="sm" c="dimmed">{hint}</Text>}
          {children}
          {error ? <ProblemNote of={error} next={next} /> : null}
          <Group justify="flex-end" gap="xs">
            <Button {...leaves} variant="default" onClick={onClose}>{t.cancel}</Button>
            <Button type="submit" loading={pending} disabled={!ready}>{verb}</Button>
          </Group>
        </Stack>
      </Form>
    </Modal>
  )
}

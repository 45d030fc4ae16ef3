import { Button, Group, Modal, Stack, Text, Textarea, TextInput } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { useText } from '../text/catalogue'
import { uiText } from '../text/ui'
import { Form, leaves } from './Form'
import { ProblemNote } from './ProblemNote'
import { useFocusBack } from './useFocusBack'

/**
 * Confirm says what a write will do, asks for its reason where the API wants one, and shows why it was refused with
 * everything that was typed still there.
 */
export function Confirm({
  title, children, verb, danger, typed, undoable, reason, incomplete, pending, error, onConfirm, onClose,
}: {
  title: string
  /** children say what will happen, to whom: "Disconnects 37 sessions." */
  children?: ReactNode
  /** verb is the word on the button. */
  verb: string
  danger?: boolean
  /** typed must be written out first; for what cannot be undone, or concerns very many. */
  typed?: string
  /** undoable says that what asks for `typed` can be taken back. */
  undoable?: boolean
  /** reason asks for one; "optional" may stay empty. */
  reason?: boolean | 'optional'
  /** incomplete is true as long as the children's own fields miss something. */
  incomplete?: boolean
  pending: boolean
  error: unknown
  onConfirm: (reason: string) => void
  onClose: () => void
}) {
  const t = useText(uiText)
  useFocusBack()
  const [why, setWhy] = useState('')
  const [name, setName] = useState('')
  const ready = !incomplete && (!typed || name === typed) && (reason !== true || why.trim() !== '')
  return (
    <Modal opened onClose={onClose} title={title} closeButtonProps={{ 'aria-label': t.close }}>
      <Form
        busy={pending}
        onSubmit={() => {
          if (ready) onConfirm(why.trim())
        }}
      >
        <Stack gap="sm">
          {typeof children === 'string' ? <Text size="sm">{children}</Text> : children}
          {reason && (
            <Textarea
              label={t.reason}
              description={t.reasonWhy}
              value={why}
              onChange={(e) => setWhy(e.currentTarget.value)}
              required={reason === true}
              maxLength={500}
              autosize
              data-autofocus
            />
          )}
          {typed && (
            <TextInput
              label={undoable ? t.typeToConfirm(typed) : t.typeName(typed)}
              value={name}
              onChange={(e) => setName(e.currentTarget.value)}
              autoComplete="off"
            />
          )}
          {error ? <ProblemNote of={error} /> : null}
          <Group justify="flex-end" gap="xs">
            <Button {...leaves} variant="default" onClick={onClose}>{t.cancel}</Button>
            <Button type="submit" color={danger ? 'red' : undefined} loading={pending} disabled={!ready}>{verb}</Button>
          </Group>
        </Stack>
      </Form>
    </Modal>
  )
}

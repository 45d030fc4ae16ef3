import { Button, Modal, Stack } from '@mantine/core'
import type { ReactNode } from 'react'
import { useFocusBack } from './useFocusBack'

/**
 * OnceDialog shows a secret that nobody can read a second time. Its button alone closes it: neither Esc, nor a click
 * beside it, nor a cross in its corner, all of which people press without looking.
 */
export function OnceDialog({ title, children, verb, onClose }: {
  title: string
  children: ReactNode
  /** verb is the word on the button. */
  verb: string
  onClose: () => void
}) {
  useFocusBack()
  return (
    <Modal opened onClose={() => undefined} withCloseButton={false} closeOnEscape={false} closeOnClickOutside={false} title={title}>
      <Stack gap="sm">
        {children}
        <Button onClick={onClose} style={{ alignSelf: 'end' }} data-autofocus>{verb}</Button>
      </Stack>
    </Modal>
  )
}

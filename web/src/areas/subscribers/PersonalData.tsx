import { Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { client } from '../../api/client'
import { useText } from '../../text/catalogue'
import { forgettingText } from '../../text/forgetting'
import { subscribersText } from '../../text/subscribers'
import { FormDialog } from '../../ui/FormDialog'
import { saveAnswer } from '../../ui/save'
import { type Customer, nameOf } from './words'

/** PersonalData saves all that is kept of a customer as one file. */
export function PersonalData({ of: c, onClose }: { of: Customer; onClose: () => void }) {
  const t = useText(forgettingText)
  const words = useText(subscribersText)
  const file = useMutation({
    mutationFn: () => saveAnswer(() => client.GET('/subscribers/{id}/personal-data', {
      params: { path: { id: c.id } }, parseAs: 'blob',
    })),
    onSuccess: onClose,
  })
  return (
    <FormDialog
      title={t.dataTitle(nameOf(c, words))}
      hint={t.dataHint}
      verb={t.download}
      pending={file.isPending}
      error={file.error}
      onSubmit={() => file.mutate()}
      onClose={onClose}
    >
      <Text size="sm">{t.dataRecorded}</Text>
    </FormDialog>
  )
}

import { Textarea, TextInput } from '@mantine/core'
import { useState } from 'react'
import type { Row } from '../../api/rows'
import { useWrite } from '../../api/write'
import { useText } from '../../text/catalogue'
import { supportText } from '../../text/support'
import { CustomerPicker } from '../../ui/CustomerPicker'
import { FormDialog } from '../../ui/FormDialog'

/** OpenRequest writes down what a customer asks for. */
export function OpenRequest({ onClose, onOpened }: { onClose: () => void; onOpened: (id: string) => void }) {
  const t = useText(supportText)
  const [customer, setCustomer] = useState<Row<'/subscribers'> | null>(null)
  const [subject, setSubject] = useState('')
  const [text, setText] = useState('')
  const write = useWrite('post', '/support-requests', { told: () => t.opened, then: (r) => onOpened(r.id) })
  return (
    <FormDialog
      title={t.open}
      hint={t.openHint}
      verb={t.open}
      ready={customer !== null && subject.trim() !== '' && text.trim() !== ''}
      pending={write.isPending}
      error={write.error}
      onSubmit={() => customer && write.mutate({ body: { subscriberId: customer.id, subject, text } })}
      onClose={onClose}
    >
      <CustomerPicker chosen={customer} onChoose={setCustomer} />
      <TextInput label={t.subject} value={subject} onChange={(e) => setSubject(e.currentTarget.value)} error={write.error?.of('subject')} maxLength={120} autoComplete="off" />
      <Textarea label={t.text} value={text} onChange={(e) => setText(e.currentTarget.value)} error={write.error?.of('text')} maxLength={4000} autosize minRows={3} />
    </FormDialog>
  )
}

import { Group, TextInput } from '@mantine/core'
import { useState } from 'react'
import { client } from '../../api/client'
import { useText } from '../../text/catalogue'
import { customerText } from '../../text/customer'
import { DocumentButton } from '../../ui/DocumentButton'

/** StatementPdf saves the statement of some days as a document; without days it has all of them. */
export function StatementPdf({ id }: { id: string }) {
  const t = useText(customerText)
  const [from, setFrom] = useState('')
  const [to, setTo] = useState('')
  const wrong = from !== '' && to !== '' && from > to
  const query = { from: from || undefined, to: to || undefined }
  return (
    <Group gap="xs" align="flex-end" className="unprinted">
      <TextInput type="date" label={t.pdfFrom} value={from} max={to || undefined} onChange={(e) => setFrom(e.currentTarget.value)} w={150} />
      <TextInput type="date" label={t.pdfTo} value={to} min={from || undefined} onChange={(e) => setTo(e.currentTarget.value)} w={150} error={wrong && t.wrongSpan} />
      <DocumentButton
        read={() => client.GET('/subscribers/{id}/statement/pdf', { params: { path: { id }, query }, parseAs: 'blob' })}
        of={t.statement}
        disabled={wrong}
        size="sm"
      />
    </Group>
  )
}

import { Alert, Button, Group, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { client } from '../../api/client'
import { useWrite } from '../../api/write'
import { useText } from '../../text/catalogue'
import { subscribersText } from '../../text/subscribers'
import { uiText } from '../../text/ui'
import { FormDialog } from '../../ui/FormDialog'
import { corrected, CustomerFields, nobody, typedOf } from './CustomerFields'
import type { Customer } from './words'

interface Version {
  customer: Customer
  tag: string | null
}

/** EditCustomer changes the details. What two people change at once is refused for the second, who is told before. */
export function EditCustomer({ id, onClose }: { id: string; onClose: () => void }) {
  const read = useQuery({
    queryKey: ['get', '/subscribers/{id}', { params: { path: { id } } }, 'version'],
    gcTime: 0,
    queryFn: async ({ signal }): Promise<Version> => {
      const { data, response } = await client.GET('/subscribers/{id}', { params: { path: { id } }, signal })
      return { customer: data!, tag: response.headers.get('ETag') }
    },
  })
  const [took, setTook] = useState(0)
  const take = async () => {
    await read.refetch()
    setTook((n) => n + 1)
  }
  return (
    <Form key={`${took} ${read.data === undefined}`} id={id} now={read.data} error={read.error} onTake={take} onClose={onClose} />
  )
}

function Form({ id, now, error, onTake, onClose }: {
  id: string
  now: Version | undefined
  error: unknown
  /** onTake reads the values that are there now, and begins with them. */
  onTake: () => Promise<void>
  onClose: () => void
}) {
  const t = useText(subscribersText)
  const words = useText(uiText)
  const [began] = useState(now)
  const before = began ? typedOf(began.customer) : nobody
  const [typed, setTyped] = useState(before)
  const write = useWrite('patch', '/subscribers/{id}', { told: () => t.saved, then: onClose })
  const body = corrected(before, typed)
  const meanwhile = began && now && began.tag !== now.tag && !write.isPending && !write.isSuccess
  return (
    <FormDialog
      title={t.editTitle}
      verb={t.save}
      ready={began !== undefined && !meanwhile && Object.keys(body).length > 0}
      pending={write.isPending}
      error={write.error ?? error}
      next={write.error?.status === 412 && !meanwhile && (
        <Button size="compact-sm" variant="default" onClick={() => void onTake()}>{words.takeTheirs}</Button>
      )}
      onSubmit={() => write.mutate({
        params: { path: { id } },
        body,
        headers: began?.tag ? { 'If-Match': began.tag } : {},
      })}
      onClose={onClose}
    >
      {meanwhile && (
        <Alert color="yellow" variant="light" p="sm" role="alert">
          <Text size="sm" fw={500}>{words.editedMeanwhile}</Text>
          <Text size="sm">{words.editedHint}</Text>
          <Group mt={6}><Button size="compact-sm" variant="default" onClick={() => void onTake()}>{words.takeTheirs}</Button></Group>
        </Alert>
      )}
      <CustomerFields value={typed} onChange={setTyped} problem={write.error} disabled={began === undefined} />
    </FormDialog>
  )
}

import { Alert, Button, FileInput, Group, Select, Stack, Text, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { api, client } from '../../api/client'
import { asProblem } from '../../api/problem'
import { type Row, useRows } from '../../api/rows'
import type { Shape } from '../../api/types'
import { useWrite } from '../../api/write'
import { useMay, usePerson } from '../../app/person'
import { useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import { reconciliationsText } from '../../text/reconciliations'
import { type Column, DataTable } from '../../ui/DataTable'
import { Empty } from '../../ui/Empty'
import { Form } from '../../ui/Form'
import { Page, Section } from '../../ui/Page'
import { ProblemNote } from '../../ui/ProblemNote'
import { When } from '../../ui/When'
import { ReconciliationState } from './reconciliation'
import { spanOf } from './spanOf'

type Compared = Row<'/reconciliations'>

const mostBytes = 24 * 1024 * 1024

/** ReconciliationsPage answers: do the receipts here agree with what the provider says? */
export default function ReconciliationsPage() {
  const t = useText(reconciliationsText)
  const f = useFormat()
  const may = useMay()
  const { platform } = usePerson()
  const gateway = api.useQuery('get', '/settings/payment-gateway', {}, { enabled: !platform })
  const shared = !platform && !gateway.isPending && gateway.data?.mode !== 'direct'
  const list = useRows('/reconciliations', {})
  const columns: Column<Compared>[] = [
    {
      id: 'span', title: t.statement,
      cell: (r) => <Link to="/reconciliations/$id" params={{ id: r.id }}>{spanOf(r, t, f)}</Link>,
    },
    { id: 'state', title: t.state, width: 150, narrow: 128, cell: (r) => <ReconciliationState of={r} /> },
    { id: 'here', title: t.missingHere, width: 124, figure: true, wideOnly: true, cell: (r) => f.number(r.figures.missingHere) },
    { id: 'there', title: t.missingThere, width: 124, figure: true, wideOnly: true, cell: (r) => f.number(r.figures.missingThere) },
    { id: 'different', title: t.different, width: 110, figure: true, wideOnly: true, cell: (r) => f.number(r.figures.different) },
    { id: 'taken', title: t.takenIn, width: 104, figure: true, wideOnly: true, cell: (r) => f.number(r.adopted) },
    { id: 'at', title: t.uploaded, width: 150, wideOnly: true, cell: (r) => <When at={r.uploadedAt} /> },
  ]
  return (
    <Page title={t.reconciliations} wide>
      <Stack gap="lg">
        {shared
          ? <Text size="sm" maw={760}>{t.shared}</Text>
          : may('POST /reconciliations') && <Upload hint={platform ? t.platformHint : t.hint} />}
        <DataTable
          list={list} columns={columns} rowKey={(r) => r.id} label={t.reconciliations}
          empty={<Empty title={t.none}>{shared ? null : t.noneHint}</Empty>}
        />
        {may('POST /receipt-inquiries') && <Inquiry />}
      </Stack>
    </Page>
  )
}

/** Upload takes a statement and opens its comparison, which goes on there. */
function Upload({ hint }: { hint: string }) {
  const t = useText(reconciliationsText)
  const navigate = useNavigate()
  const queries = useQueryClient()
  const [file, setFile] = useState<File | null>(null)
  const [asked, setAsked] = useState('')
  const [order, setOrder] = useState<'dmy' | 'mdy' | null>(null)
  const sending = useMutation({
    mutationFn: async (of: File) => {
      const { data } = await client.POST('/reconciliations', {
        params: { query: order ? { dateOrder: order } : {} },
        body: of as unknown as string,
        bodySerializer: (body: unknown) => body as BodyInit,
        headers: { 'Content-Type': 'text/csv' },
      })
      return data as Shape<'ReconciliationDetail'>
    },
    onError: (failure) => {
      const problem = asProblem(failure)
      if (problem.code === 'date_order_needed') setAsked(t.orderAsked(Number(problem.details.row), String(problem.details.date)))
    },
    onSuccess: async (made) => {
      await queries.invalidateQueries({ refetchType: 'none' })
      await navigate({ to: '/reconciliations/$id', params: { id: made.id } })
    },
  })
  const tooLarge = file !== null && file.size > mostBytes
  return (
    <Stack gap="sm">
      <Text size="sm" c="dimmed" maw={760}>{hint}</Text>
      <Group align="end" gap="sm">
        <FileInput
          label={t.file} placeholder={t.choose} accept=".csv,.txt,text/csv" w={280} value={file}
          error={tooLarge ? t.tooLarge : undefined}
          onChange={(next) => {
            setFile(next)
            setAsked('')
            setOrder(null)
            sending.reset()
          }}
        />
        {asked && (
          <Select
            label={t.order} description={asked} value={order} w={320}
            data={[{ value: 'dmy', label: t.orders.dmy }, { value: 'mdy', label: t.orders.mdy }]}
            onChange={(next) => {
              setOrder(next === 'dmy' || next === 'mdy' ? next : null)
              sending.reset()
            }}
          />
        )}
        <Button disabled={!file || tooLarge || (asked !== '' && !order)} loading={sending.isPending} onClick={() => file && sending.mutate(file)}>
          {t.compare}
        </Button>
      </Group>
      {sending.error && <ProblemNote of={sending.error} />}
    </Stack>
  )
}

/** Inquiry asks the provider about one receipt number that a customer shows. */
function Inquiry() {
  const t = useText(reconciliationsText)
  const { platform } = usePerson()
  const [number, setNumber] = useState('')
  const write = useWrite('post', '/receipt-inquiries')
  const said = write.data && 'state' in write.data ? write.data : undefined
  return (
    <Section title={t.ask}>
      <Text size="sm" c="dimmed" maw={760}>{t.askHint}</Text>
      <Form busy={write.isPending} onSubmit={() => number.trim() && write.mutate({ body: { receiptNumber: number.trim() } })}>
        <Group align="end" gap="sm">
          <TextInput
            label={t.number} placeholder="SJK4H7L2MN" value={number} maxLength={20} w={220}
            error={write.error?.of('receiptNumber')}
            onChange={(e) => {
              setNumber(e.currentTarget.value)
              write.reset()
            }}
          />
          <Button type="submit" variant="default" disabled={!number.trim()} loading={write.isPending}>{t.askVerb}</Button>
        </Group>
      </Form>
      {write.error && <ProblemNote of={write.error} />}
      {said && (
        <Alert variant="light" color="gray" role="status" maw={760}>
          {said.state === 'known' ? t.known : t.asked}{' '}
          {!platform && (said.state === 'known'
            ? <Link to="/receipts/$id" params={{ id: said.receiptId }}>{t.openIt}</Link>
            : <Link to="/receipts" search={{ receiptNumber: number.trim().toUpperCase() }}>{t.look}</Link>)}
        </Alert>
      )}
    </Section>
  )
}

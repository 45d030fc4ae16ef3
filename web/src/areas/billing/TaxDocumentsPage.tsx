import { Button, Checkbox, Text } from '@mantine/core'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { useRows } from '../../api/rows'
import { useWrite } from '../../api/write'
import { useMay } from '../../app/person'
import { appText } from '../../text/app'
import { useText } from '../../text/catalogue'
import { taxText } from '../../text/tax'
import { uiText } from '../../text/ui'
import { Confirm } from '../../ui/Confirm'
import { CustomerFilter } from '../../ui/CustomerFilter'
import { CustomerLink } from '../../ui/CustomerLink'
import { type Column, DataTable } from '../../ui/DataTable'
import { Empty } from '../../ui/Empty'
import { ChoiceFilter, Filters } from '../../ui/Filters'
import { Money } from '../../ui/Money'
import { Page } from '../../ui/Page'
import { When } from '../../ui/When'
import { type TaxDocumentRow, TaxState } from './TaxState'

/** TaxDocumentsPage answers: what has the tax authority refused, why, and what waits for it? */
export default function TaxDocumentsPage() {
  const t = useText(taxText)
  const app = useText(appText)
  const words = useText(uiText)
  const may = useMay()
  const filters = useSearch({ from: '/tax-documents' })
  const navigate = useNavigate({ from: '/tax-documents' })
  const [again, setAgain] = useState<TaxDocumentRow | null>(null)
  const list = useRows('/tax-documents', filters)
  const change = (part: Partial<typeof filters>) => void navigate({ search: { ...filters, ...part }, replace: true })
  const any = Object.values(filters).some((v) => v !== undefined)
  const columns: Column<TaxDocumentRow>[] = [
    {
      id: 'number', title: t.number, width: 136, narrow: 112,
      cell: (d) => <Link to="/invoices/$id" params={{ id: d.invoiceId }}>{d.number}</Link>,
    },
    { id: 'kind', title: t.kind, width: 120, wideOnly: true, cell: (d) => t.kinds[d.document] ?? d.document },
    { id: 'customer', title: t.customer, width: 200, wideOnly: true, cell: (d) => <CustomerLink of={d.subscriber} /> },
    { id: 'state', title: t.state, cell: (d) => <Told of={d} /> },
    { id: 'since', title: t.since, width: 136, wideOnly: true, cell: (d) => <When at={sinceOf(d)} /> },
    {
      id: 'total', title: t.total, width: 120, figure: true, wideOnly: true,
      cell: (d) => <Money amount={d.total} currency={d.currency} />,
    },
    {
      id: 'retry', title: '', width: 120, narrow: 106,
      cell: (d) => d.state === 'refused' && may('POST /tax-documents/{id}/retry') && (
        <Button size="compact-sm" variant="default" aria-label={t.retryTitle(d.number)} onClick={() => setAgain(d)}>{t.retry}</Button>
      ),
    },
  ]
  return (
    <Page title={app.taxDocuments} wide>
      <Filters any={any} onClear={() => void navigate({ search: {} })}>
        <ChoiceFilter value={filters.state} label={t.state} names={t.states} onChange={(state) => change({ state })} />
        <Checkbox
          size="sm"
          label={t.lateOnly}
          checked={filters.late ?? false}
          onChange={(e) => change({ late: e.currentTarget.checked || undefined })}
        />
        <CustomerFilter id={filters.subscriberId} onClear={() => change({ subscriberId: undefined })} />
      </Filters>
      <DataTable
        list={list}
        columns={columns}
        rowKey={(d) => d.id}
        label={app.taxDocuments}
        empty={any ? <Empty title={words.nothingFits} /> : <Empty title={t.none}>{t.noneHint}</Empty>}
      />
      {again && <Retry of={again} onClose={() => setAgain(null)} />}
    </Page>
  )
}

const sinceOf = (d: TaxDocumentRow) => (d.state === 'signed' ? d.signedAt : d.state === 'refused' ? d.refusedAt : d.queuedAt) ?? d.queuedAt

/** Told is the state of a document with what there is to say about it: why it was refused, or what it waits for. */
function Told({ of: d }: { of: TaxDocumentRow }) {
  const t = useText(taxText)
  const more = d.state === 'signed' ? d.controlNumber
    : d.state === 'refused' ? d.message ?? d.code
    : d.waits ? t.waits
    : d.fault ? t.faults[d.fault]
    : d.late ? t.late
    : d.state === 'queued' && d.retries > 0 ? t.retries(d.retries) : null
  return (
    <>
      <TaxState of={d.state} />
      {more && <Text span inherit c="dimmed" title={more}> · {more}</Text>}
    </>
  )
}

/** Retry asks why a refused document is sent again, and sends it. */
function Retry({ of: d, onClose }: { of: TaxDocumentRow; onClose: () => void }) {
  const t = useText(taxText)
  const write = useWrite('post', '/tax-documents/{id}/retry', { told: () => t.retryDone(d.number), then: onClose })
  return (
    <Confirm
      title={t.retryTitle(d.number)}
      verb={t.retry}
      reason
      pending={write.isPending}
      error={write.error}
      onConfirm={(reason) => write.mutate({ params: { path: { id: d.id } }, body: { reason } })}
      onClose={onClose}
    >
      {d.message && <Text size="sm" mb="xs">{d.message}</Text>}
      {t.retryWhat}
    </Confirm>
  )
}

import { Button, Text } from '@mantine/core'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { type Row, useRows } from '../../api/rows'
import { useWrite } from '../../api/write'
import { usePerson } from '../../app/person'
import { useText } from '../../text/catalogue'
import { devicesText } from '../../text/devices'
import { type Column, DataTable } from '../../ui/DataTable'
import { Empty } from '../../ui/Empty'
import { Filters, TextFilter } from '../../ui/Filters'
import { later } from '../../ui/later'
import { Page } from '../../ui/Page'
import { When } from '../../ui/When'
import { kindName } from './words'

const ClaimDialog = later(() => import('./ClaimDialog').then((m) => m.ClaimDialog))
const AssignDialog = later(() => import('./AssignDialog').then((m) => m.AssignDialog))

type Pending = Row<'/cpe/pending'>

// A device that nobody has is of no organization, so no change tells of it.
const lookAgain = 10_000

/** PendingPage answers: which devices have called and belong to nobody? One click claims one. */
export default function PendingPage() {
  const t = useText(devicesText)
  const { platform } = usePerson()
  const filters = useSearch({ from: '/pending-devices' })
  const navigate = useNavigate({ from: '/pending-devices' })
  const list = useRows('/cpe/pending', filters, { every: lookAgain })
  const [taken, setTaken] = useState<Pending | null>(null)
  const close = () => setTaken(null)
  const remove = useWrite('delete', '/cpe/pending/{id}', { told: () => t.removedPending })
  const columns: Column<Pending>[] = [
    { id: 'serial', title: t.serial, width: 180, narrow: 128, cell: (d) => <span className="figure">{d.serialNumber}</span> },
    { id: 'kind', title: t.model, cell: (d) => kindName(d) ?? d.productClass },
    { id: 'oui', title: t.oui, width: 150, wideOnly: true, cell: (d) => <span className="figure">{d.oui}</span> },
    { id: 'seen', title: t.firstSeen, width: 150, wideOnly: true, cell: (d) => <When at={d.firstSeen} /> },
    {
      id: 'claim', title: '', width: 200, narrow: 100,
      cell: (d) => d.refused ? <Text span inherit c="red">{t.unusable}</Text> : (
        <Button size="compact-sm" variant="light" aria-label={platform ? t.assignTitle(d.serialNumber) : t.claimOf(d.serialNumber)} onClick={() => setTaken(d)}>
          {platform ? t.assignShort : t.claim}
        </Button>
      ),
    },
    ...(platform ? [{
      id: 'remove', title: '', width: 110, narrow: 84,
      cell: (d: Pending) => (
        <Button size="compact-sm" variant="default" aria-label={t.removePendingOf(d.serialNumber)} onClick={() => remove.mutate({ params: { path: { id: d.id } } })}>
          {t.removePending}
        </Button>
      ),
    }] : []),
  ]
  return (
    <Page title={t.pending} wide>
      <Text size="sm" c="dimmed">{t.pendingHint}</Text>
      <Filters any={filters.serial !== undefined} onClear={() => void navigate({ search: {} })}>
        <TextFilter value={filters.serial} label={t.serial} onChange={(serial) => void navigate({ search: serial ? { serial } : {}, replace: true })} />
      </Filters>
      <DataTable
        list={list}
        columns={columns}
        rowKey={(d) => d.id}
        label={t.pending}
        empty={filters.serial ? <Empty title={t.noPendingHere} /> : <Empty title={t.noPending}>{t.noPendingHint}</Empty>}
      />
      {taken && (platform ? <AssignDialog of={taken} onClose={close} /> : <ClaimDialog of={taken} onClose={close} />)}
    </Page>
  )
}

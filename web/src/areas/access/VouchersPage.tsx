import { Button, Text } from '@mantine/core'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { useAll } from '../../api/all'
import { type Row, useRows } from '../../api/rows'
import type { Shape } from '../../api/types'
import { useMay } from '../../app/person'
import { given } from '../../app/params'
import { appText } from '../../text/app'
import { useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import { isolated } from '../../text/isolated'
import { uiText } from '../../text/ui'
import { vouchersText } from '../../text/vouchers'
import { type Column, DataTable } from '../../ui/DataTable'
import { Empty } from '../../ui/Empty'
import { ChoiceFilter, Filters } from '../../ui/Filters'
import { Plus, X } from '../../ui/icons'
import { later } from '../../ui/later'
import { Page } from '../../ui/Page'
import { RouterLink } from '../../ui/RouterLink'
import { State, type Tone } from '../../ui/State'
import { PartNote } from '../../ui/PartNote'
import { exactly, Views } from '../../ui/Views'
import { When } from '../../ui/When'
import { VoucherBatches } from './VoucherBatches'

// Codes are shown once: what shows them is here before they are made.
const codes = () => import('./NewCodes')
const NewCodes = later(() => codes().then((m) => m.NewCodes))
const MakeVouchers = later(async () => {
  const [{ MakeVouchers }] = await Promise.all([import('./VoucherDialogs'), codes()])
  return MakeVouchers
})
const VoidRow = later(() => import('./VoucherDialogs').then((m) => m.VoidRow))
const VoidVoucher = later(() => import('./VoucherDialogs').then((m) => m.VoidVoucher))

type Voucher = Row<'/vouchers'>

const tones: Record<string, Tone> = { unused: 'good', active: 'attention', used: 'quiet', void: 'bad' }
const noFilters = {}

/** VouchersPage answers: which vouchers are there, and what became of them? */
export default function VouchersPage() {
  const t = useText(vouchersText)
  const app = useText(appText)
  const words = useText(uiText)
  const may = useMay()
  const filters = useSearch({ from: '/vouchers' })
  const navigate = useNavigate({ from: '/vouchers' })
  const { view, ...chosen } = filters
  const list = useRows('/vouchers', chosen, { enabled: view === undefined })
  const [voiding, setVoiding] = useState<Voucher | null>(null)
  const columns = useColumns(setVoiding)
  const allPlans = useAll('/plans', noFilters)
  const plans = allPlans.rows?.filter((p) => p.kind === 'hotspot' && p.billing.mode === 'prepaid')
  const [doing, setDoing] = useState<'make' | 'void' | null>(null)
  const [made, setMade] = useState<Shape<'BatchResponse'> | null>(null)
  const change = (part: Partial<typeof filters>) => void navigate({ search: { ...filters, ...part }, replace: true })
  const any = Object.values(chosen).some((v) => v !== undefined)
  const forSale = plans?.filter((p) => !p.archived) ?? []
  const make = may('POST /vouchers') && forSale.length > 0 && (
    <Button leftSection={<Plus size={16} aria-hidden />} onClick={() => setDoing('make')}>{t.make}</Button>
  )
  return (
    <Page
      title={app.vouchers}
      wide
      actions={!made && (
        <>
          {may('POST /vouchers/{code}/void') && (
            <Button variant="default" onClick={() => setDoing('void')}>{t.void}</Button>
          )}
          {make}
        </>
      )}
    >
      {made && <NewCodes of={made} onClose={() => setMade(null)} />}
      <Views
        label={t.which}
        current={view ?? 'all'}
        of={[
          ['all', t.single, (inner) => <Link to="/vouchers" search={chosen} activeOptions={exactly} {...inner} />],
          ['batches', t.batches, (inner) => <Link to="/vouchers" search={given({ view: 'batches' as const, planId: filters.planId })} {...inner} />],
        ]}
      />
      <Filters any={any} onClear={() => void navigate({ search: given({ view }) })}>
        {!view && <ChoiceFilter value={filters.state} label={t.state} names={t.states} onChange={(state) => change({ state })} />}
        <ChoiceFilter
          value={filters.planId}
          label={t.plan}
          names={Object.fromEntries(plans?.map((p) => [p.id, p.name]) ?? [])}
          onChange={(planId) => change({ planId })}
        />
        <PartNote of={allPlans} />
        {filters.batchId && (
          <Button
            variant="light" px="xs" title={t.allBatches} rightSection={<X size={14} aria-hidden />}
            onClick={() => change({ batchId: undefined })}
          >
            {t.batchOf}
          </Button>
        )}
      </Filters>
      {view ? <VoucherBatches planId={filters.planId} /> : <DataTable
        list={list}
        columns={columns}
        rowKey={(v) => v.id}
        label={app.vouchers}
        empty={any ? <Empty title={words.nothingFits} /> : (
          <Empty title={t.none} action={!made && make}>
            {t.noneHint}
            {allPlans.whole && forSale.length === 0 && <Text span inherit display="block">{t.noPlans}</Text>}
          </Empty>
        )}
      />}
      {doing === 'make' && (
        <MakeVouchers
          plans={forSale}
          onMade={(batch) => {
            setDoing(null)
            setMade(batch)
          }}
          onClose={() => setDoing(null)}
        />
      )}
      {doing === 'void' && <VoidVoucher onClose={() => setDoing(null)} />}
      {voiding && <VoidRow of={voiding} onClose={() => setVoiding(null)} />}
    </Page>
  )
}

function useColumns(onVoid: (voucher: Voucher) => void): Column<Voucher>[] {
  const t = useText(vouchersText)
  const may = useMay()
  const f = useFormat()
  return [
    {
      id: 'batch', title: t.batch, width: 164, narrow: 126,
      cell: (v) => <Link to="/vouchers" search={{ batchId: v.batchId }}>{v.prefix ?? f.minute(v.createdAt)}</Link>,
    },
    {
      id: 'state', title: t.state, width: 124, narrow: 118,
      cell: (v) => <State tone={tones[v.state] ?? 'quiet'} title={t.meanings[v.state]}>{t.states[v.state] ?? v.state}</State>,
    },
    { id: 'plan', title: t.plan, wideOnly: true, cell: (v) => v.planName },
    { id: 'made', title: t.made, width: 125, wideOnly: true, cell: (v) => <When at={v.createdAt} /> },
    { id: 'redeemed', title: t.redeemed, width: 125, wideOnly: true, cell: (v) => <When at={v.redeemedAt} /> },
    { id: 'ends', title: t.ends, width: 125, wideOnly: true, cell: (v) => <When at={v.endsAt} /> },
    { id: 'device', title: t.device, width: 140, wideOnly: true, cell: (v) => <span className="figure">{v.macAddress ?? '–'}</span> },
    { id: 'router', title: t.router, wideOnly: true, cell: (v) => <RouterLink id={v.deviceId} name={v.deviceName} /> },
    { id: 'moves', title: t.moves, width: 66, figure: true, wideOnly: true, cell: (v) => f.number(v.moves) },
    {
      id: 'void', title: t.voidReason, width: 112, narrow: 92,
      cell: (v) => (v.state === 'unused' || v.state === 'active')
        ? may('POST /vouchers/{code}/void') && <Button variant="default" size="compact-xs" onClick={() => onVoid(v)}>{t.voidVerb}</Button>
        : [v.voidReason && isolated(v.voidReason), v.voidedByName && `(${isolated(v.voidedByName)})`].filter(Boolean).join(' '),
    },
  ]
}

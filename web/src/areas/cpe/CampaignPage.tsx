import { Button, Progress, Stack, Text } from '@mantine/core'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../../api/client'
import { type Row, useRows } from '../../api/rows'
import type { Shape } from '../../api/types'
import { useWrite } from '../../api/write'
import { useMay } from '../../app/person'
import { useText } from '../../text/catalogue'
import { firmwareText } from '../../text/firmware'
import { useFormat } from '../../text/format'
import { Confirm } from '../../ui/Confirm'
import { type Column, DataTable } from '../../ui/DataTable'
import { Empty } from '../../ui/Empty'
import { Facts } from '../../ui/Facts'
import { ChoiceFilter, Filters } from '../../ui/Filters'
import { Loaded } from '../../ui/Loaded'
import { Page, Section } from '../../ui/Page'
import { State } from '../../ui/State'
import { When } from '../../ui/When'
import { lives, toneOfCampaign, toneOfPart } from './campaign'

type Campaign = Shape<'CpeCampaign'>
type Part = Row<'/cpe/firmware/campaigns/{id}/devices'>

// No change tells of one device after the other.
const lookAgain = 3_000

/** CampaignPage answers: how far is a deployment of firmware, and which devices did not get it, and why? */
export default function CampaignPage() {
  const t = useText(firmwareText)
  const { id } = useParams({ from: '/campaigns/$id' })
  const read = api.useQuery('get', '/cpe/firmware/campaigns/{id}', { params: { path: { id } } }, {
    refetchInterval: (q) => (lives(q.state.data) ? lookAgain : false),
  })
  return (
    <Page title={read.data ? t.campaign(read.data.version, read.data.model) : t.oneCampaign} wide actions={read.data && <Actions of={read.data} />}>
      <Loaded read={read} height={260}>{(c) => <Story of={c} />}</Loaded>
    </Page>
  )
}

function Actions({ of: c }: { of: Campaign }) {
  const t = useText(firmwareText)
  const may = useMay()
  const [halts, setHalts] = useState(false)
  const path = { params: { path: { id: c.id } } }
  const halt = useWrite('post', '/cpe/firmware/campaigns/{id}/halt', { told: () => t.halted, then: () => setHalts(false) })
  const goOn = useWrite('post', '/cpe/firmware/campaigns/{id}/continue', { told: () => t.goesOn })
  return (
    <>
      {c.state === 'stopped' && may('POST /cpe/firmware/campaigns/{id}/continue') && (
        <Button loading={goOn.isPending} onClick={() => goOn.mutate(path)}>{t.goOn}</Button>
      )}
      {(c.state === 'running' || c.state === 'stopped') && may('POST /cpe/firmware/campaigns/{id}/halt') && (
        <Button variant="default" onClick={() => setHalts(true)}>{t.halt}</Button>
      )}
      {halts && (
        <Confirm title={t.haltTitle} verb={t.halt} danger pending={halt.isPending} error={halt.error} onConfirm={() => halt.mutate(path)} onClose={() => setHalts(false)}>
          {t.haltDoes(c.pending - c.loading)}
        </Confirm>
      )}
    </>
  )
}

function Story({ of: c }: { of: Campaign }) {
  const t = useText(firmwareText)
  const f = useFormat()
  const all = c.succeeded + c.failed + c.pending
  const done = c.succeeded + c.failed
  return (
    <Stack gap="lg">
      <Stack gap={6}>
        <div role="status"><State tone={toneOfCampaign(c)}>{t.states[c.state]}{lives(c) && `: ${t.progress(done, all)}`}</State></div>
        {lives(c) && <Progress value={(100 * done) / Math.max(1, all)} aria-label={t.states.running} maw={480} />}
        {c.state === 'stopped' && <Text size="sm">{t.stoppedHint}</Text>}
      </Stack>
      <Facts
        of={[
          [t.file, c.filename],
          [t.matched, f.number(c.matched)],
          [t.succeeded, f.number(c.succeeded)],
          [t.failed, c.failed > 0 ? f.number(c.failed) : null],
          [t.pending, c.pending > 0 ? f.number(c.pending - c.loading) : null],
          [t.loading, c.loading > 0 ? f.number(c.loading) : null],
          [t.skipped, c.skipCount > 0 ? f.number(c.skipCount) : null],
          [t.hours, c.hours ? `${c.hours.from} – ${c.hours.to}` : null],
          [t.atOnce, f.number(c.atOnce)],
          [t.deadline, <When key="deadline" at={c.deadline} exact />],
          [t.started, <span key="started">{c.startedBy?.name} <When at={c.startedAt} /></span>],
          [t.ended, c.endedAt ? <When key="ended" at={c.endedAt} /> : null],
        ]}
      />
      <Devices of={c} />
    </Stack>
  )
}

/** Devices has a row for each device of the deployment. */
function Devices({ of: c }: { of: Campaign }) {
  const t = useText(firmwareText)
  const { state } = useSearch({ from: '/campaigns/$id' })
  const navigate = useNavigate({ from: '/campaigns/$id' })
  const list = useRows('/cpe/firmware/campaigns/{id}/devices', { state }, { path: { id: c.id }, every: lives(c) ? lookAgain : undefined })
  const columns: Column<Part>[] = [
    { id: 'serial', title: t.serial, width: 200, narrow: 128, cell: (d) => (d.serialNumber ? <Link to="/devices/$id" params={{ id: d.deviceId }} className="figure">{d.serialNumber}</Link> : t.gone) },
    { id: 'state', title: t.state, width: 150, narrow: 100, cell: (d) => <State tone={toneOfPart(d)}>{t.deviceStates[d.state]}</State> },
    { id: 'reason', title: t.reason, cell: (d) => d.reason && (t.reasons[d.reason] ?? d.reason) },
    { id: 'tried', title: t.tried, width: 150, wideOnly: true, cell: (d) => <When at={d.triedAt} /> },
  ]
  return (
    <Section title={t.devices}>
      <Filters any={state !== undefined} onClear={() => void navigate({ search: {} })}>
        <ChoiceFilter value={state} label={t.state} names={t.deviceStates} onChange={(next) => void navigate({ search: next ? { state: next } : {}, replace: true })} />
      </Filters>
      <DataTable list={list} columns={columns} rowKey={(d) => d.deviceId} label={t.devices} empty={<Empty title={t.noDevices} />} />
    </Section>
  )
}

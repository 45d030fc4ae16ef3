import { Button, Group } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { type Row, useRows } from '../../api/rows'
import { useWrite } from '../../api/write'
import { useMay } from '../../app/person'
import { useText } from '../../text/catalogue'
import { firmwareText } from '../../text/firmware'
import { useFormat } from '../../text/format'
import { Confirm } from '../../ui/Confirm'
import { type Column, DataTable } from '../../ui/DataTable'
import { Empty } from '../../ui/Empty'
import { later } from '../../ui/later'
import { Page, Section } from '../../ui/Page'
import { State } from '../../ui/State'
import { When } from '../../ui/When'
import { toneOfCampaign } from './campaign'

const UploadDialog = later(() => import('./UploadDialog').then((m) => m.UploadDialog))
const DeployDialog = later(() => import('./DeployDialog').then((m) => m.DeployDialog))

type File = Row<'/cpe/firmware'>
type Campaign = Row<'/cpe/firmware/campaigns'>

const noFilters = {}

/** FirmwarePage answers: which firmware is there for the devices, and how far is each deployment of it? */
export default function FirmwarePage() {
  const t = useText(firmwareText)
  const f = useFormat()
  const may = useMay()
  const files = useRows('/cpe/firmware', noFilters)
  const campaigns = useRows('/cpe/firmware/campaigns', noFilters, { every: 5_000 })
  const [uploads, setUploads] = useState(false)
  const [sent, setSent] = useState<File | null>(null)
  const [removed, setRemoved] = useState<File | null>(null)
  const deploys = may('POST /cpe/firmware/deploy')
  const removes = may('DELETE /cpe/firmware/{id}')
  const upload = may('POST /cpe/firmware/upload') && <Button onClick={() => setUploads(true)}>{t.upload}</Button>
  const fileColumns: Column<File>[] = [
    { id: 'file', title: t.file, cell: (r) => <span style={{ overflowWrap: 'anywhere' }}>{r.filename}</span> },
    { id: 'version', title: t.version, width: 120, narrow: 84, cell: (r) => r.version },
    { id: 'for', title: t.for, width: 180, wideOnly: true, cell: (r) => [r.oui, r.productClass].filter(Boolean).join(' ') },
    { id: 'size', title: t.size, width: 100, figure: true, wideOnly: true, cell: (r) => f.bytes(r.size) },
    { id: 'at', title: t.uploaded, width: 150, wideOnly: true, cell: (r) => <When at={r.uploadedAt} /> },
    { id: 'state', title: t.state, width: 120, wideOnly: true, cell: (r) => <State tone={r.state === 'stored' ? 'good' : 'quiet'}>{t.fileStates[r.state]}</State> },
    ...(deploys || removes ? [{
      id: 'send', title: '', width: 240, narrow: 124,
      cell: (r: File) => (
        <Group gap="xs">
          {deploys && r.state === 'stored' && <Button size="compact-sm" variant="light" aria-label={`${t.deploy}: ${r.filename}`} onClick={() => setSent(r)}>{t.deploy}</Button>}
          {removes && r.state !== 'removing' && <Button size="compact-sm" variant="default" aria-label={`${t.remove}: ${r.filename}`} onClick={() => setRemoved(r)}>{t.remove}</Button>}
        </Group>
      ),
    }] : []),
  ]
  const campaignColumns: Column<Campaign>[] = [
    { id: 'what', title: t.oneCampaign, cell: (c) => <Link to="/campaigns/$id" params={{ id: c.id }}>{t.campaign(c.version, c.model)}</Link> },
    { id: 'state', title: t.state, width: 190, narrow: 120, cell: (c) => <State tone={toneOfCampaign(c)}>{t.states[c.state]}</State> },
    { id: 'done', title: t.succeeded, width: 100, figure: true, wideOnly: true, cell: (c) => `${f.number(c.succeeded)}/${f.number(c.matched)}` },
    { id: 'failed', title: t.failed, width: 90, figure: true, wideOnly: true, cell: (c) => (c.failed > 0 ? f.number(c.failed) : '') },
    { id: 'at', title: t.started, width: 150, wideOnly: true, cell: (c) => <When at={c.startedAt} /> },
  ]
  return (
    <Page title={t.firmware} wide actions={upload}>
      <Section title={t.campaigns}>
        <DataTable list={campaigns} columns={campaignColumns} rowKey={(c) => c.id} label={t.campaigns} empty={<Empty title={t.noCampaigns} />} />
      </Section>
      <Section title={t.files}>
        <DataTable list={files} columns={fileColumns} rowKey={(r) => r.id} label={t.files} empty={<Empty title={t.noFiles} action={upload}>{t.noFilesHint}</Empty>} />
      </Section>
      {uploads && <UploadDialog onClose={() => setUploads(false)} />}
      {sent && <DeployDialog of={sent} onClose={() => setSent(null)} />}
      {removed && <Remove of={removed} onClose={() => setRemoved(null)} />}
    </Page>
  )
}

function Remove({ of: r, onClose }: { of: File; onClose: () => void }) {
  const t = useText(firmwareText)
  const write = useWrite('delete', '/cpe/firmware/{id}', { told: () => t.removed, then: onClose })
  return (
    <Confirm
      title={t.removeTitle(r.filename)}
      verb={t.remove}
      danger
      pending={write.isPending}
      error={write.error}
      onConfirm={() => write.mutate({ params: { path: { id: r.id } } })}
      onClose={onClose}
    >
      {t.removeDoes}
    </Confirm>
  )
}

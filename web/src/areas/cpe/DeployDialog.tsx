import { Group, TextInput } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { type Row, useRows } from '../../api/rows'
import { useWrite } from '../../api/write'
import { useText } from '../../text/catalogue'
import { firmwareText } from '../../text/firmware'
import { useFormat } from '../../text/format'
import { instantOf } from '../../text/instant'
import { FormDialog } from '../../ui/FormDialog'
import { InstantField } from '../../ui/InstantField'
import { modelsOf } from './words'

const noFilters = {}

/** DeployDialog sends a file to all devices of a model. */
export function DeployDialog({ of: file, onClose }: { of: Row<'/cpe/firmware'>; onClose: () => void }) {
  const t = useText(firmwareText)
  const navigate = useNavigate()
  const [model, setModel] = useState('')
  const [atOnce, setAtOnce] = useState('10')
  const [from, setFrom] = useState('')
  const [to, setTo] = useState('')
  const [deadline, setDeadline] = useState('')
  const { zone: { timezone } } = useFormat()
  const devices = useRows('/cpe/devices', noFilters)
  const write = useWrite('post', '/cpe/firmware/deploy', {
    told: (answer) => ('matched' in answer ? t.deployed(answer.matched - answer.skipped.length) : ''),
    then: (answer) => {
      onClose()
      if ('campaignId' in answer) void navigate({ to: '/campaigns/$id', params: { id: answer.campaignId } })
    },
  })
  return (
    <FormDialog
      title={`${t.deploy}: ${file.filename}`}
      hint={t.deployHint}
      verb={t.deploy}
      ready={model.trim() !== '' && /^\d+$/.test(atOnce) && (from === '') === (to === '')}
      pending={write.isPending}
      error={write.error}
      onSubmit={() => write.mutate({
        body: {
          filename: file.filename, model: model.trim(), atOnce: Number(atOnce), hours: from && to ? { from, to } : undefined,
          deadline: deadline ? instantOf(deadline, timezone).toISOString() : undefined,
        },
      })}
      onClose={onClose}
    >
      <TextInput label={t.model} description={t.modelHint} value={model} onChange={(e) => setModel(e.currentTarget.value)} error={write.error?.of('model')} maxLength={128} autoComplete="off" list="models" data-autofocus />
      <datalist id="models">{modelsOf(devices.rows).map((m) => <option key={m} value={m} />)}</datalist>
      <TextInput label={t.atOnce} description={t.atOnceHint} value={atOnce} onChange={(e) => setAtOnce(e.currentTarget.value)} error={write.error?.of('atOnce')} inputMode="numeric" maxLength={3} />
      <Group grow align="flex-start">
        <TextInput label={t.from} description={t.hoursHint} type="time" value={from} onChange={(e) => setFrom(e.currentTarget.value)} error={write.error?.of('hours.from')} />
        <TextInput label={t.to} description={t.hours} type="time" value={to} onChange={(e) => setTo(e.currentTarget.value)} error={write.error?.of('hours.to')} />
      </Group>
      <InstantField label={t.deadline} description={t.deadlineHint} value={deadline} error={write.error?.of('deadline')} onChange={setDeadline} />
    </FormDialog>
  )
}

import { Button, Checkbox, Group, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useWrite } from '../../api/write'
import { useText } from '../../text/catalogue'
import { devicesText } from '../../text/devices'
import { FormDialog } from '../../ui/FormDialog'

// As many as one write has in a dialog; who writes more uses the API.
const most = 10

const empty = { name: '', value: '' }

/** ParametersDialog writes parameters by their names. */
export function ParametersDialog({ id, onClose }: { id: string; onClose: () => void }) {
  const t = useText(devicesText)
  const [rows, setRows] = useState([empty])
  const [now, setNow] = useState(true)
  const write = useWrite('post', '/cpe/devices/{id}/parameters', { told: () => t.asked, then: onClose })
  const set = (at: number, part: Partial<typeof empty>) => setRows(rows.map((r, i) => (i === at ? { ...r, ...part } : r)))
  return (
    <FormDialog
      title={t.parameters}
      hint={t.parametersHint}
      verb={t.write}
      ready={rows.every((r) => r.name.trim() !== '')}
      pending={write.isPending}
      error={write.error}
      onSubmit={() => write.mutate({
        params: { path: { id } },
        body: { parameters: rows.map((r) => ({ name: r.name.trim(), value: r.value })), connectionRequest: now },
      })}
      onClose={onClose}
    >
      {rows.map((r, i) => (
        <Group key={i} gap="xs" align="flex-end" grow preventGrowOverflow={false}>
          <TextInput
            label={t.parameter} description={i === 0 ? t.parameterHint : undefined} value={r.name} maxLength={256}
            onChange={(e) => set(i, { name: e.currentTarget.value })} autoComplete="off" spellCheck={false} data-autofocus={i === 0 || undefined}
          />
          <TextInput label={t.value} value={r.value} onChange={(e) => set(i, { value: e.currentTarget.value })} autoComplete="off" spellCheck={false} />
          {rows.length > 1 && (
            <Button variant="subtle" style={{ flexGrow: 0 }} onClick={() => setRows(rows.filter((_, other) => other !== i))}>{t.remove}</Button>
          )}
        </Group>
      ))}
      {rows.length < most && <Group><Button variant="default" size="compact-sm" onClick={() => setRows([...rows, empty])}>{t.another}</Button></Group>}
      <Checkbox label={t.callNow} description={t.callNowHint} checked={now} onChange={(e) => setNow(e.currentTarget.checked)} />
    </FormDialog>
  )
}

import { Button, Checkbox, Code, Group, Modal, Stack, Text } from '@mantine/core'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { type Row, useRows } from '../../api/rows'
import { useWrite } from '../../api/write'
import { appText } from '../../text/app'
import { useText } from '../../text/catalogue'
import { failedCallbacksText } from '../../text/failedCallbacks'
import { useFormat } from '../../text/format'
import { uiText } from '../../text/ui'
import { Confirm } from '../../ui/Confirm'
import { type Column, DataTable } from '../../ui/DataTable'
import { Empty } from '../../ui/Empty'
import { Page } from '../../ui/Page'
import { ProblemNote } from '../../ui/ProblemNote'
import { When } from '../../ui/When'

type Failed = Row<'/failed-callbacks'>

// A message is of no organization, so no change tells of it.
const lookAgain = 20_000

/** FailedCallbacksPage answers: which messages of the payment provider led to nothing? */
export default function FailedCallbacksPage() {
  const t = useText(failedCallbacksText)
  const app = useText(appText)
  const f = useFormat()
  const filters = useSearch({ from: '/failed-callbacks' })
  const navigate = useNavigate({ from: '/failed-callbacks' })
  const list = useRows('/failed-callbacks', filters, { every: lookAgain })
  const [opened, setOpened] = useState<Failed | null>(null)
  const columns: Column<Failed>[] = [
    { id: 'came', title: t.came, width: 150, narrow: 96, cell: (m) => <When at={m.receivedAt} /> },
    { id: 'kind', title: t.kind, width: 200, wideOnly: true, cell: (m) => t.kinds[m.kind] ?? m.kind },
    { id: 'reason', title: t.reason, cell: (m) => t.reasons[m.reason] ?? m.reason },
    { id: 'shortcode', title: t.shortcode, width: 120, wideOnly: true, cell: (m) => <span className="figure">{m.shortcode}</span> },
    { id: 'from', title: t.from, width: 150, wideOnly: true, cell: (m) => <span className="figure">{m.from}</span> },
    {
      id: 'read', title: '', width: 110, narrow: 84,
      cell: (m) => (
        <Button size="compact-sm" variant="default" aria-label={t.readOf(f.minute(m.receivedAt))} onClick={() => setOpened(m)}>{t.read}</Button>
      ),
    },
  ]
  return (
    <Page title={app.failedCallbacks} wide>
      <Text size="sm" c="dimmed">{t.hint}</Text>
      <Checkbox
        label={t.unproven}
        checked={filters.verified === false}
        onChange={(e) => void navigate({ search: e.currentTarget.checked ? { verified: false } : {}, replace: true })}
      />
      <DataTable list={list} columns={columns} rowKey={(m) => m.id} label={app.failedCallbacks} empty={<Empty title={t.none}>{t.noneHint}</Empty>} />
      {opened && <Message key={opened.id} of={opened} onClose={() => setOpened(null)} />}
    </Page>
  )
}

/** Message shows the content of a message once somebody has confirmed to read it, and has it tried again. */
function Message({ of: m, onClose }: { of: Failed; onClose: () => void }) {
  const t = useText(failedCallbacksText)
  const words = useText(uiText)
  const read = useWrite('post', '/failed-callbacks/{id}/read')
  const retry = useWrite('post', '/failed-callbacks/{id}/retry', { told: () => t.retried, then: onClose })
  const params = { path: { id: m.id } }
  const said = read.data
  if (!said || !('content' in said)) {
    return (
      <Confirm
        title={t.readTitle}
        verb={t.read}
        pending={read.isPending}
        error={read.error}
        onConfirm={() => read.mutate({ params })}
        onClose={onClose}
      >
        {t.readDoes}
      </Confirm>
    )
  }
  return (
    <Modal opened onClose={onClose} title={t.content} size="lg" closeButtonProps={{ 'aria-label': words.close }}>
      <Stack gap="sm">
        <Code block>{said.content}</Code>
        {said.cut && <Text size="sm" c="dimmed">{t.cut}</Text>}
        {retry.error && <ProblemNote of={retry.error} />}
        <Group justify="flex-end">
          <Button loading={retry.isPending} onClick={() => retry.mutate({ params })}>{t.retry}</Button>
        </Group>
      </Stack>
    </Modal>
  )
}

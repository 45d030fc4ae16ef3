import { Button, Group, Paper, Stack, Text, Textarea, Title } from '@mantine/core'
import { useClipboard } from '@mantine/hooks'
import { useBlocker } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { createPortal } from 'react-dom'
import type { Shape } from '../../api/types'
import { usePerson } from '../../app/person'
import { useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import { vouchersText } from '../../text/vouchers'
import { Confirm } from '../../ui/Confirm'
import { Check, Copy, Download } from '../../ui/icons'
import { save } from '../../ui/save'
import { toneColor } from '../../ui/State'
import { csvOf } from './csv'
import './access.css'

type Batch = Shape<'BatchResponse'>

/** NewCodes shows the codes of a batch the only time that they can be read, and helps to keep them. */
export function NewCodes({ of: batch, onClose }: { of: Batch; onClose: () => void }) {
  const t = useText(vouchersText)
  const { copy, copied } = useClipboard()
  const [printing, setPrinting] = useState(false)
  const [closing, setClosing] = useState(false)
  // Whoever leaves the page, and with it the codes, is asked before: by the browser, or here.
  const leaving = useBlocker({
    shouldBlockFn: ({ current, next }) => current.pathname !== next.pathname,
    enableBeforeUnload: true,
    withResolver: true,
  })
  return (
    <Paper component="section" withBorder p="md">
      <Stack gap="sm">
        <Title order={2} size="h5" fw={600}>{t.codes(batch.count, batch.planName)}</Title>
        <Text size="sm" fw={500} c={toneColor('attention')}>{t.once}</Text>
        <Textarea
          aria-label={t.listOf}
          value={batch.codes.join('\n')}
          readOnly
          autosize
          minRows={3}
          maxRows={10}
          styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
        />
        <Group gap="xs">
          <Button onClick={() => setPrinting(true)}>{t.print}</Button>
          <Button
            variant="default"
            leftSection={copied ? <Check size={14} aria-hidden /> : <Copy size={14} aria-hidden />}
            onClick={() => copy(batch.codes.join('\n'))}
          >
            {copied ? t.copied : t.copyAll}
          </Button>
          <Button variant="default" leftSection={<Download size={14} aria-hidden />} onClick={() => saveCodes(batch)}>{t.csv}</Button>
          <Button variant="subtle" onClick={() => setClosing(true)}>{t.done}</Button>
        </Group>
      </Stack>
      {printing && <Sheet of={batch} onPrinted={() => setPrinting(false)} />}
      {closing && (
        <Confirm
          title={t.closeTitle} verb={t.done} danger pending={false} error={null}
          onConfirm={onClose} onClose={() => setClosing(false)}
        >
          {t.closeDoes}
        </Confirm>
      )}
      {leaving.status === 'blocked' && (
        <Confirm
          title={t.closeTitle} verb={t.leave} danger pending={false} error={null}
          onConfirm={leaving.proceed} onClose={leaving.reset}
        >
          {t.closeDoes}
        </Confirm>
      )}
    </Paper>
  )
}

/** Sheet is what the printer gets instead of the page: a slip for each code, to cut out. */
function Sheet({ of: batch, onPrinted }: { of: Batch; onPrinted: () => void }) {
  const t = useText(vouchersText)
  const f = useFormat()
  const { me } = usePerson()
  useEffect(() => {
    window.addEventListener('afterprint', onPrinted, { once: true })
    window.print()
    return () => window.removeEventListener('afterprint', onPrinted)
    // Printing happens once, when the sheet is there.
  }, [])
  return createPortal(
    <div className="sheet">
      {batch.codes.map((code) => (
        <div className="slip" key={code}>
          <strong>{me.org?.name}</strong>
          <span>{batch.planName} · {f.money(batch.price, batch.currency)}</span>
          <code>{code}</code>
          <span>{t.slipLasts(t.periods[batch.period] ?? batch.period)}</span>
          <span>{t.slipHow}</span>
        </div>
      ))}
    </div>,
    document.body,
  )
}

/** saveCodes hands the codes over as a file; the server never has them again. */
function saveCodes(batch: Batch) {
  const rows = batch.codes.map((code) => [code, batch.planName, String(batch.price), batch.currency, batch.period, batch.id])
  const text = csvOf([['code', 'plan', 'price', 'currency', 'period', 'batchId'], ...rows])
  const name = `vouchers-${batch.createdAt.slice(0, 10)}-${batch.id.slice(0, 8)}.csv`
  save(name, new Blob([text], { type: 'text/csv;charset=utf-8' }))
}

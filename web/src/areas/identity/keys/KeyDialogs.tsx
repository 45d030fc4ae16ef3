import { NativeSelect, Text } from '@mantine/core'
import { useState } from 'react'
import type { Shape } from '../../../api/types'
import { useWrite } from '../../../api/write'
import { useNow } from '../../../app/clock'
import { apiKeysText } from '../../../text/apiKeys'
import { useText } from '../../../text/catalogue'
import { useFormat } from '../../../text/format'
import { Confirm } from '../../../ui/Confirm'
import { FormDialog } from '../../../ui/FormDialog'
import { KeyShown } from './KeyShown'
import type { ApiKey } from './words'

// An ordinary change of a program takes less than a day.
const usualOverlap = '24h'

/** RotateKey replaces the text of a key, and shows the new one once. */
export function RotateKey({ of: k, onClose }: { of: ApiKey; onClose: () => void }) {
  const t = useText(apiKeysText)
  const [overlap, setOverlap] = useState(usualOverlap)
  const [made, setMade] = useState<Shape<'NewAPIKeyResponse'> | null>(null)
  const write = useWrite('post', '/api-keys/{id}/rotate', { then: (k) => ('key' in k ? setMade(k) : onClose()) })
  if (made) return <KeyShown of={made} replaced onClose={onClose} />
  return (
    <FormDialog
      title={t.rotateTitle(k.name)}
      hint={t.rotateHint}
      verb={t.rotate}
      pending={write.isPending}
      error={write.error}
      onSubmit={() => write.mutate({ params: { path: { id: k.id } }, body: overlap ? { overlap } : {} })}
      onClose={onClose}
    >
      <NativeSelect
        label={t.overlap} description={t.overlapHint} value={overlap} onChange={(e) => setOverlap(e.currentTarget.value)}
        data={Object.entries(t.overlaps).map(([value, label]) => ({ value, label }))} error={write.error?.of('overlap')} data-autofocus
      />
    </FormDialog>
  )
}

/** RevokeKey ends a key for good; who does it sees whether a program still uses it. */
export function RevokeKey({ of: k, onClose }: { of: ApiKey; onClose: () => void }) {
  const t = useText(apiKeysText)
  const f = useFormat()
  const now = useNow()
  const write = useWrite('delete', '/api-keys/{id}', { told: () => t.revoked(k.name), then: onClose })
  return (
    <Confirm
      title={t.revokeTitle(k.name)}
      verb={t.revoke}
      danger
      typed={k.name}
      pending={write.isPending}
      error={write.error}
      onConfirm={() => write.mutate({ params: { path: { id: k.id } } })}
      onClose={onClose}
    >
      <Text size="sm">{t.revokeHint}</Text>
      <Text size="sm">{k.lastUsedAt ? t.lastUse(f.relative(k.lastUsedAt, now)) : t.neverUsed}</Text>
    </Confirm>
  )
}

import { Text } from '@mantine/core'
import type { Shape } from '../../../api/types'
import { apiKeysText } from '../../../text/apiKeys'
import { useText } from '../../../text/catalogue'
import { useFormat } from '../../../text/format'
import { CopyText } from '../../../ui/CopyText'
import { OnceDialog } from '../../../ui/OnceDialog'

/** KeyShown shows the text of a key, once, and what became of the one before. */
export function KeyShown({ of, replaced, onClose }: {
  of: Shape<'NewAPIKeyResponse'>
  /** replaced = the key had another text before. */
  replaced?: boolean
  onClose: () => void
}) {
  const t = useText(apiKeysText)
  const f = useFormat()
  return (
    <OnceDialog title={t.onceTitle(of.name)} verb={t.kept} onClose={onClose}>
      <Text size="sm" fw={500}>{t.once}</Text>
      <div className="secret"><CopyText text={of.key} /></div>
      <Text size="sm" c="dimmed">{t.header}</Text>
      <code className="secret">Authorization: Bearer {of.prefix}…</code>
      {replaced && <Text size="sm">{of.previous ? t.oldUntil(f.exact(of.previous.until)) : t.oldOver}</Text>}
    </OnceDialog>
  )
}

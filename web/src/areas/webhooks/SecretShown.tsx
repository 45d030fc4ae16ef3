import { Text } from '@mantine/core'
import { useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import { webhooksText } from '../../text/webhooks'
import { CopyText } from '../../ui/CopyText'
import { OnceDialog } from '../../ui/OnceDialog'

/** SecretShown shows the secret of an address, once. */
export function SecretShown({ secret, formerUntil, onClose }: {
  secret: string
  /** formerUntil is until when the secret of before signs, too; null = not any more, undefined = there was none. */
  formerUntil?: string | null
  onClose: () => void
}) {
  const t = useText(webhooksText)
  const f = useFormat()
  return (
    <OnceDialog title={t.secretTitle} verb={t.kept} onClose={onClose}>
      <Text size="sm" fw={500}>{t.once}</Text>
      <div className="secret"><CopyText text={secret} /></div>
      {formerUntil !== undefined && <Text size="sm">{formerUntil === null ? t.formerOver : t.bothUntil(f.exact(formerUntil))}</Text>}
    </OnceDialog>
  )
}

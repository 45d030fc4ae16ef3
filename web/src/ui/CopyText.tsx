import { UnstyledButton } from '@mantine/core'
import { useClipboard } from '@mantine/hooks'
import { useText } from '../text/catalogue'
import { uiText } from '../text/ui'
import { Check, Copy } from './icons'

/** CopyText shows a text that a click copies. */
export function CopyText({ text, children }: { text: string; children?: string }) {
  const t = useText(uiText)
  const { copy, copied } = useClipboard()
  return (
    <UnstyledButton
      className="copy"
      onClick={() => copy(text)}
      title={copied ? t.copied : t.copy}
      aria-label={`${t.copy} ${children ?? text}`}
    >
      <span>{children ?? text}</span> {copied ? <Check size={12} aria-hidden /> : <Copy size={12} aria-hidden />}
    </UnstyledButton>
  )
}

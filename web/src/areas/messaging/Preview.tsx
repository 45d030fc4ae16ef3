import { Text } from '@mantine/core'
import { usePerson } from '../../app/person'
import { type Language, useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import { messageTextsText } from '../../text/messageTexts'
import { exampleOf, filled, partsOf } from './texts'

/** Preview is a text as one customer could get it; of an SMS also how many it takes. */
export function Preview({ what, language, title, text, sms }: {
  what: string
  language: Language
  /** title is the subject of an e-mail. */
  title?: string
  text: string
  sms?: boolean
}) {
  const t = useText(messageTextsText)
  const { me } = usePerson()
  const { zone: { currency } } = useFormat()
  const values = exampleOf(language, me.org?.name ?? '', currency, `${location.origin}/pay`)
  const said = filled(text, values)
  const { parts, signs, outside } = partsOf(said)
  return (
    <div className="text-preview" lang={language} role="group" aria-label={t.previewOf(what)}>
      <Text size="xs" c="dimmed">{t.preview}{sms && parts > 0 && ` · ${t.parts(parts, signs)}`}</Text>
      {title && <Text size="sm" fw={500}>{filled(title, values)}</Text>}
      <Text size="sm" component="div" className="text-said">{said || t.states.none}</Text>
      {sms && outside.length > 0 && <Text size="xs" c="var(--tone-attention)">{t.unicode(outside.slice(0, 5).join(' '))}</Text>}
    </div>
  )
}

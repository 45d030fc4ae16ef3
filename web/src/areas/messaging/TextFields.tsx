import { Button, Stack, Text, Textarea, TextInput } from '@mantine/core'
import { type FocusEvent, useRef } from 'react'
import type { Problem } from '../../api/problem'
import { type Language, languages, useText } from '../../text/catalogue'
import { messageTextsText } from '../../text/messageTexts'
import { Section } from '../../ui/Page'
import { Preview } from './Preview'
import { faultIn, same, type Texts } from './texts'

type Field = HTMLInputElement | HTMLTextAreaElement

/** TextFields are the texts of one message in one language, with the words that they may have and an example. */
export function TextFields({ language, of, usual, words, path, problem, readOnly, onChange }: {
  language: Language
  of: Texts
  usual: Texts
  words: string[]
  /** path is where the API tells faults of these texts. */
  path: string
  problem: Problem | null
  readOnly: boolean
  onChange: (next: Texts) => void
}) {
  const t = useText(messageTextsText)
  const signIn = words.includes('otp')
  const { last, put } = usePutting(of, onChange)
  const faultOf = (text: string) => {
    const fault = faultIn(text, words)
    return fault === null ? undefined : fault === 'brace' ? t.braceAlone : t.unknownWord(fault.unknown)
  }
  const field = (name: keyof Texts, path: string) => ({
    value: of[name],
    onChange: (e: { currentTarget: { value: string } }) => onChange({ ...of, [name]: e.currentTarget.value }),
    onFocus: (e: FocusEvent<Field>) => (last.current = { name, at: e.currentTarget }),
    error: faultOf(of[name]) ?? problem?.of(path),
    'data-fault': faultOf(of[name]) ? true : undefined,
    readOnly,
  })
  return (
    <Section
      title={t.inLanguage[language]}
      actions={!readOnly && !same(of, usual) && (
        <Button size="xs" variant="default" aria-label={t.resetOf(languages[language])} onClick={() => onChange(usual)}>{t.reset}</Button>
      )}
    >
      <Stack gap="sm">
        {!of.sms && !of.text && <Text size="sm" fw={500} c="var(--tone-attention)" role="status">{t.notSent}</Text>}
        <div className="text-pair">
          <Textarea label={t.sms} description={signIn ? t.smsSignIn : t.smsHint} autosize minRows={2} maxLength={480} {...field('sms', `${path}.sms`)} />
          <Preview what={t.sms} language={language} text={of.sms} sms />
        </div>
        <div className="text-pair">
          <Stack gap="sm">
            <TextInput label={t.subject} maxLength={150} {...field('subject', `${path}.email.subject`)} />
            <Textarea label={t.email} description={signIn ? t.emailSignIn : t.emailHint} autosize minRows={5} maxLength={2000} {...field('text', `${path}.email.text`)} error={faultOf(of.text) ?? problem?.of(`${path}.email.text`) ?? problem?.of(`${path}.email`)} />
          </Stack>
          <Preview what={t.email} language={language} title={of.subject} text={of.text} />
        </div>
        {!signIn && (
          <TextInput label={t.whatsApp} description={t.whatsAppHint} maxLength={480} {...field('whatsApp', `${path}.whatsApp`)} />
        )}
        {!readOnly && <Words of={words} put={put} />}
      </Stack>
    </Section>
  )
}

/** usePutting puts a word where somebody writes: into the field that had the focus last, or at the end of the SMS. */
function usePutting(of: Texts, onChange: (next: Texts) => void) {
  const last = useRef<{ name: keyof Texts; at: Field } | null>(null)
  const put = (word: string) => {
    const { name, at } = last.current ?? { name: 'sms' as const, at: null }
    const text = of[name]
    const [from, to] = at ? [at.selectionStart ?? text.length, at.selectionEnd ?? text.length] : [text.length, text.length]
    onChange({ ...of, [name]: text.slice(0, from) + word + text.slice(to) })
    if (!at) return
    requestAnimationFrame(() => {
      at.focus()
      at.setSelectionRange(from + word.length, from + word.length)
    })
  }
  return { last, put }
}

/** Words are those that are replaced, each with its meaning. */
function Words({ of, put }: { of: string[]; put: (word: string) => void }) {
  const t = useText(messageTextsText)
  return (
    <div>
      <Text size="sm" fw={500}>{t.words}</Text>
      <Text size="xs" c="dimmed">{t.wordsHint}</Text>
      <div className="text-words">
        {of.map((w) => (
          <Button key={w} size="compact-xs" variant="default" title={t.meanings[w]} aria-label={t.put(`{${w}}`, t.meanings[w] ?? w)} onClick={() => put(`{${w}}`)}>
            {`{${w}}`}
          </Button>
        ))}
      </div>
    </div>
  )
}

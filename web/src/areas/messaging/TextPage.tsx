import { Button, Stack, Text } from '@mantine/core'
import { Link, useParams } from '@tanstack/react-router'
import { useRef } from 'react'
import { useVersioned, type Versioned } from '../../api/versioned'
import { useWrite } from '../../api/write'
import { useMay } from '../../app/person'
import { type Language, languages, useText } from '../../text/catalogue'
import { messageTextsText } from '../../text/messageTexts'
import { EditedNote } from '../../ui/EditedNote'
import { Empty } from '../../ui/Empty'
import { Form } from '../../ui/Form'
import { Loaded } from '../../ui/Loaded'
import { Page } from '../../ui/Page'
import { SaveBar } from '../../ui/SaveBar'
import { useEdited } from '../../ui/useEdited'
import { TextFields } from './TextFields'
import { type Both, faultIn, same, type Settings, textsOf, usualOf, writtenWith } from './texts'
import { useNames } from './useNames'
import './messaging.css'

const needed = ['reminder_due', 'reminder_overdue', 'walled_garden', 'suspended', 'restored', 'cap_throttled', 'cap_stopped', 'invoice_signed', 'support_answer', 'sign_in_code', 'address_code', 'address_changed']

/** TextPage answers about one message: when does it go, and what does it say, to the letter? */
export default function TextPage() {
  const t = useText(messageTextsText)
  const names = useNames()
  const may = useMay()
  const { message } = useParams({ from: '/message-texts/$message' })
  const read = useVersioned('/settings/messages', {})
  const toAll = <Button component={Link} to="/message-texts" variant="default">{t.toAll}</Button>
  return (
    <Page title={names[message] ?? t.message} actions={toAll}>
      <Loaded read={read} height={900}>
        {(settings) => settings.value.words[message] === undefined ? <Empty title={t.noMessage} /> : (
          <>
            <div>
              <Text size="sm">{t.whens[message]}</Text>
              {needed.includes(message) && <Text size="sm" c="dimmed">{t.always}</Text>}
              {!may('PUT /settings/messages') && <Text size="sm" c="dimmed">{t.readOnly}</Text>}
            </div>
            <TextForm key={message} settings={settings} message={message} reread={() => void read.refetch()} />
          </>
        )}
      </Loaded>
    </Page>
  )
}

const spoken = ['en', 'sw'] as const

/** TextForm writes one message in all languages. */
function TextForm({ settings, message, reread }: { settings: Versioned<Settings>; message: string; reread: () => void }) {
  const t = useText(messageTextsText)
  const names = useNames()
  const may = useMay()
  const said = useRef('')
  const save = useWrite('put', '/settings/messages', {
    told: () => t.saved(names[message] ?? message, said.current),
    shown: () => edited.undo(),
  })
  const edited = useEdited<Settings, Both>(settings, (s) => textsOf(s, message), save.isPending)
  const s = settings.value
  const words = s.words[message] ?? []
  const sound = spoken.every((l) => Object.values(edited.values[l]).every((text: string) => faultIn(text, words) === null))
  const path = (l: Language) => (l === s.language ? `templates.${message}` : `translations.${l}.${message}`)
  return (
    <Form
      busy={save.isPending}
      onSubmit={() => {
        if (!edited.dirty || edited.meanwhile || !sound) return
        said.current = changedWords(textsOf(s, message), edited.values, t)
        save.mutate({ headers: edited.headers, body: writtenWith(s, message, edited.values) })
      }}
    >
      <Stack gap="lg">
        {(s.language === 'en' ? spoken : [...spoken].reverse()).map((l) => (
          <TextFields
            key={l} language={l} of={edited.values[l]} usual={usualOf(s, message)[l]} words={words} path={path(l)} problem={save.error}
            readOnly={!may('PUT /settings/messages')} onChange={(next) => edited.set({ [l]: next })}
          />
        ))}
        <EditedNote
          edited={edited}
          names={{ en: languages.en, sw: languages.sw }}
          error={save.error}
          onTake={() => {
            save.reset()
            reread()
          }}
        />
        {may('PUT /settings/messages') && <SaveBar edited={edited} pending={save.isPending} />}
      </Stack>
    </Form>
  )
}

/** changedWords lists what a save changes: "SMS in English, e-mail in Swahili". */
function changedWords(before: Both, after: Both, t: (typeof messageTextsText)['en']): string {
  return spoken.filter((l) => !same(before[l], after[l])).flatMap((l) => {
    const mail = before[l].subject !== after[l].subject || before[l].text !== after[l].text
    return [before[l].sms !== after[l].sms && t.sms, mail && t.email, before[l].whatsApp !== after[l].whatsApp && t.whatsApp].filter((what) => what !== false).map((what) => t.changedIn(what, languages[l]))
  }).join(', ')
}

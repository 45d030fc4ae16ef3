import { NativeSelect, SimpleGrid, Stack, Switch, Text, TextInput } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useRef } from 'react'
import { useVersioned, type Versioned } from '../../api/versioned'
import { useWrite } from '../../api/write'
import { useMay } from '../../app/person'
import { appText } from '../../text/app'
import { type Language, languages, useText } from '../../text/catalogue'
import { messageTextsText } from '../../text/messageTexts'
import { uiText } from '../../text/ui'
import { type Column, DataTable } from '../../ui/DataTable'
import { EditedNote } from '../../ui/EditedNote'
import { Facts } from '../../ui/Facts'
import { Form } from '../../ui/Form'
import { Loaded } from '../../ui/Loaded'
import { Page, Section } from '../../ui/Page'
import { PageLink } from '../../ui/PageLink'
import { SaveBar } from '../../ui/SaveBar'
import { State } from '../../ui/State'
import { useEdited } from '../../ui/useEdited'
import { wholeList } from '../../ui/wholeList'
import { same, type Settings, type Texts, textsOf, usualOf } from './texts'
import { useNames } from './useNames'

/** TextsPage answers: what are customers told by themselves, in whose words, and when not? */
export default function TextsPage() {
  const t = useText(messageTextsText)
  const app = useText(appText)
  const may = useMay()
  const read = useVersioned('/settings/messages', {})
  return (
    <Page title={app.messageTexts}>
      <Text size="sm" c="dimmed">{t.hint} <PageLink to="/messages">{t.log}</PageLink></Text>
      <Loaded read={read} height={700}>
        {(settings) => (
          <>
            <Section title={t.of}>
              <Messages of={settings.value} />
            </Section>
            <Section title={t.general}>
              {may('PUT /settings/messages')
                ? <GeneralForm settings={settings} reread={() => void read.refetch()} />
                : <General of={settings.value} />}
            </Section>
          </>
        )}
      </Loaded>
    </Page>
  )
}

/** Messages lists all messages: when each goes, and whose text it has in each language. */
function Messages({ of: s }: { of: Settings }) {
  const t = useText(messageTextsText)
  const names = useNames()
  const columns: Column<string>[] = [
    { id: 'message', title: t.message, cell: (m) => <Link to="/message-texts/$message" params={{ message: m }}>{names[m] ?? m}</Link> },
    { id: 'when', title: t.when, wideOnly: true, cell: (m) => <span title={t.whens[m]}>{t.whens[m]}</span> },
    ...(['en', 'sw'] as const).map((language): Column<string> => ({
      id: language, title: languages[language], width: 170, narrow: 96,
      cell: (m) => <Whose of={textsOf(s, m)[language]} usual={usualOf(s, m)[language]} />,
    })),
  ]
  const read = { data: s, error: null, isPending: false, refetch: () => undefined }
  return <DataTable whole list={wholeList(read, (of) => inOrder(Object.keys(of.words), Object.keys(names)))} columns={columns} rowKey={(m) => m} label={t.of} empty={null} />
}

/** inOrder has messages as the catalogue has them, by what they are about; those that it does not know come last. */
function inOrder(messages: string[], known: string[]): string[] {
  return [...known.filter((m) => messages.includes(m)), ...messages.filter((m) => !known.includes(m))]
}

/** Whose says whether a text is ours, the organization's own, or none, and on which way alone it goes. */
function Whose({ of, usual }: { of: Texts; usual: Texts }) {
  const t = useText(messageTextsText)
  if (!of.sms && !of.text) return <State tone="attention">{t.states.none}</State>
  const only = !of.text ? t.smsOnly : !of.sms ? t.emailOnly : ''
  return <State tone={same(of, usual) ? 'quiet' : 'good'} title={only || undefined}>{same(of, usual) ? t.states.usual : t.states.own}{only && ` (${only})`}</State>
}

// Hours that an organization begins with when it wants some.
const usualHours = { from: '21:00', to: '07:00' }

const formOf = (s: Settings) => ({ language: s.language as Language, quiet: s.quietHours !== null, hours: s.quietHours ?? usualHours })

/** GeneralForm sets the language of most customers, and the hours in which nothing goes that can wait. */
function GeneralForm({ settings, reread }: { settings: Versioned<Settings>; reread: () => void }) {
  const t = useText(messageTextsText)
  const words = useText(uiText)
  const said = useRef('')
  const save = useWrite('put', '/settings/messages', { told: () => t.savedGeneral(said.current), shown: () => edited.undo() })
  const edited = useEdited(settings, formOf, save.isPending)
  const { values: v, set } = edited
  const before = formOf(settings.value)
  const submit = () => {
    if (!edited.dirty || edited.meanwhile) return
    const language = v.language !== before.language
    const quiet = v.quiet !== before.quiet || (v.quiet && JSON.stringify(v.hours) !== JSON.stringify(before.hours))
    said.current = [
      language && t.nowLanguage(languages[v.language]),
      quiet && (v.quiet ? t.nowQuiet(v.hours.from, v.hours.to) : t.nowNoQuiet),
    ].filter(Boolean).join(' ')
    save.mutate({
      headers: edited.headers,
      body: { ...(language && { language: v.language }), ...(quiet && { quietHours: v.quiet ? v.hours : null }) },
    })
  }
  return (
    <Form busy={save.isPending} onSubmit={submit}>
      <Stack gap="md">
        <NativeSelect
          label={t.language} description={t.languageHint} value={v.language} onChange={(e) => set({ language: e.currentTarget.value as Language })}
          data={Object.entries(languages).map(([value, label]) => ({ value, label }))} error={save.error?.of('language')} maw={400}
        />
        <Switch label={t.quiet} description={t.quietHint} checked={v.quiet} onChange={(e) => set({ quiet: e.currentTarget.checked })} maw={640} />
        {v.quiet && (
          <SimpleGrid cols={2} spacing="xs" maw={300}>
            {(['from', 'to'] as const).map((end) => (
              <TextInput
                key={end} type="time" label={t[end]} value={v.hours[end]} required withAsterisk={false}
                onChange={(e) => set({ hours: { ...v.hours, [end]: e.currentTarget.value } })}
                error={save.error?.of(`quietHours.${end}`) ?? (end === 'from' && save.error?.of('quietHours'))}
              />
            ))}
          </SimpleGrid>
        )}
        <EditedNote
          edited={edited}
          names={{
            language: [t.language, (l) => languages[l]], quiet: [t.quiet, (on) => (on ? words.yes : words.no)],
            hours: [t.quiet, (h) => `${h.from}–${h.to}`],
          }}
          error={save.error}
          onTake={() => {
            save.reset()
            reread()
          }}
        />
        <SaveBar edited={edited} pending={save.isPending} />
      </Stack>
    </Form>
  )
}

/** General shows the same to those who may not change it. */
function General({ of: s }: { of: Settings }) {
  const t = useText(messageTextsText)
  const words = useText(uiText)
  return <Facts of={[[t.language, languages[s.language]], [t.quiet, s.quietHours ? `${s.quietHours.from}–${s.quietHours.to}` : words.no]]} />
}

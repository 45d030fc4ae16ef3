import { Button, Checkbox, Group, Stack, Text } from '@mantine/core'
import { useVersioned, type Versioned } from '../../api/versioned'
import type { Shape } from '../../api/types'
import { useWrite } from '../../api/write'
import { useMay } from '../../app/person'
import { useText } from '../../text/catalogue'
import { outagesText } from '../../text/outages'
import { uiText } from '../../text/ui'
import { EditedNote } from '../../ui/EditedNote'
import { Form } from '../../ui/Form'
import { Loaded } from '../../ui/Loaded'
import { NumberField } from '../../ui/NumberField'
import { Page } from '../../ui/Page'
import { useEdited } from '../../ui/useEdited'

type Rules = Shape<'RulesShape'>

/** RulesPage answers: do outages begin by themselves, and who is told of them? */
export default function RulesPage() {
  const t = useText(outagesText)
  const read = useVersioned('/settings/outages', {})
  return (
    <Page title={t.rules}>
      <Loaded read={read} height={320}>{(rules) => <Fields of={rules} reread={() => void read.refetch()} />}</Loaded>
    </Page>
  )
}

// The form is what the API gives; minutes may be empty while they are typed.
const typedOf = (r: Rules): Omit<Rules, 'afterMinutes'> & { afterMinutes: number | '' } => ({ ...r })

function Fields({ of: rules, reread }: { of: Versioned<Rules>; reread: () => void }) {
  const t = useText(outagesText)
  const words = useText(uiText)
  const may = useMay()
  const write = useWrite('put', '/settings/outages', { told: () => t.saved, shown: () => edited.undo() })
  const edited = useEdited(rules, typedOf, write.isPending)
  const { values, set } = edited
  const changed = JSON.stringify(values) !== JSON.stringify(typedOf(rules.value))
  const readOnly = !may('PUT /settings/outages')
  const yes = (on: unknown) => (on ? words.yes : words.no)
  const box = (field: 'detect' | 'tell' | 'public', label: string, description: string) => (
    <Checkbox label={label} description={description} checked={values[field]} disabled={readOnly} onChange={(e) => set({ ...values, [field]: e.currentTarget.checked })} />
  )
  return (
    <Form
      busy={write.isPending}
      onSubmit={() => {
        if (changed && !edited.meanwhile && values.afterMinutes !== '') {
          write.mutate({ body: { ...values, afterMinutes: values.afterMinutes }, headers: edited.headers })
        }
      }}
    >
      <Stack gap="md" maw={640}>
        <Text size="sm" c="dimmed">{t.rulesHint}</Text>
        {box('detect', t.detect, t.detectHint)}
        {box('tell', t.tell, t.tellHint)}
        <NumberField label={t.afterMinutes} description={t.afterMinutesHint} value={values.afterMinutes} onChange={(n) => set({ ...values, afterMinutes: n })} min={0} max={1440} whole required withAsterisk={false} disabled={readOnly || !values.tell} error={write.error?.of('afterMinutes')} maw={260} />
        {box('public', t.public, t.publicHint)}
        <EditedNote
          edited={edited}
          names={{ detect: [t.detect, yes], tell: [t.tell, yes], afterMinutes: t.afterMinutes, public: [t.public, yes] }}
          error={write.error}
          onTake={() => {
            write.reset()
            reread()
          }}
        />
        {!readOnly && (
          <Group>
            <Button type="submit" size="sm" loading={write.isPending} disabled={!changed || edited.meanwhile || values.afterMinutes === ''}>{t.save}</Button>
            <a href="/status" target="_blank" rel="noreferrer">{t.statusPage}</a>
          </Group>
        )}
      </Stack>
    </Form>
  )
}

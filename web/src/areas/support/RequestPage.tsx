import { Badge, Button, Checkbox, Group, Paper, Stack, Text, Textarea } from '@mantine/core'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../../api/client'
import type { Shape } from '../../api/types'
import { useWrite } from '../../api/write'
import { useMay, usePerson } from '../../app/person'
import { useText } from '../../text/catalogue'
import { supportText } from '../../text/support'
import { CustomerLink } from '../../ui/CustomerLink'
import { Facts } from '../../ui/Facts'
import { Form } from '../../ui/Form'
import { later } from '../../ui/later'
import { Loaded } from '../../ui/Loaded'
import { Page, Section } from '../../ui/Page'
import { ProblemNote } from '../../ui/ProblemNote'
import { State } from '../../ui/State'
import { When } from '../../ui/When'
import { tones } from './tones'

const GiveRequest = later(() => import('./GiveRequest').then((m) => m.GiveRequest))
const CloseRequest = later(() => import('./CloseRequest').then((m) => m.CloseRequest))

type Request = Shape<'SupportResponse'>

/** RequestPage answers: what was said so far, and what is to be answered? */
export default function RequestPage() {
  const t = useText(supportText)
  const { id } = useParams({ from: '/support/$id' })
  const read = api.useQuery('get', '/support-requests/{id}', { params: { path: { id } } })
  return (
    <Page title={read.data?.subject ?? t.request} actions={read.data && <Actions of={read.data} />}>
      <Loaded read={read} height={320}>
        {(r) => (
          <Stack gap="lg">
            <div role="status"><State tone={tones[r.state]}>{t.states[r.state]}</State></div>
            <Facts
              of={[
                [t.customer, <CustomerLink key="customer" of={r.subscriber} account />],
                [t.assignee, r.assignee?.name ?? t.nobody],
                [t.waits, r.waitingSince && <When key="waits" at={r.waitingSince} exact />],
              ]}
            />
            <Texts of={r} />
            {r.subject !== null && <Write of={r} />}
          </Stack>
        )}
      </Loaded>
    </Page>
  )
}

function Actions({ of: r }: { of: Request }) {
  const t = useText(supportText)
  const may = useMay()
  const { me } = usePerson()
  const [doing, setDoing] = useState<'give' | 'close' | null>(null)
  const take = useWrite('post', '/support-requests/{id}/assign', { told: () => t.given })
  const assigns = may('POST /support-requests/{id}/assign')
  return (
    <>
      {assigns && r.assignee?.id !== me.id && (
        <Button variant="default" loading={take.isPending} onClick={() => take.mutate({ params: { path: { id: r.id } }, body: { userId: me.id } })}>{t.take}</Button>
      )}
      {assigns && may('GET /users') && <Button variant="default" onClick={() => setDoing('give')}>{t.give}</Button>}
      {r.state !== 'closed' && may('POST /support-requests/{id}/close') && <Button variant="default" onClick={() => setDoing('close')}>{t.close}</Button>}
      {take.error ? <ProblemNote of={take.error} /> : null}
      {doing === 'give' && <GiveRequest of={r} onClose={() => setDoing(null)} />}
      {doing === 'close' && <CloseRequest id={r.id} onClose={() => setDoing(null)} />}
    </>
  )
}

/** Texts is the conversation, the oldest first. */
function Texts({ of: r }: { of: Request }) {
  const t = useText(supportText)
  return (
    <Section title={t.messages}>
      <Stack component="ol" gap="sm" m={0} p={0} style={{ listStyle: 'none' }}>
        {r.messages.map((m) => (
          <li key={m.at + m.from + (m.text ?? '')}>
            <Paper withBorder p="sm" maw={760} ml={m.side === 'staff' ? 'xl' : 0}>
              <Group gap="xs">
                <Text size="sm" fw={600}>{m.side === 'customer' ? t.fromCustomer : (m.by?.name ?? t.fromStaff)}</Text>
                {m.internal && <Badge variant="default" tt="none">{t.note}</Badge>}
                <Text size="xs" c="dimmed"><When at={m.at} exact /></Text>
              </Group>
              <Text size="sm" c={m.text === null ? 'dimmed' : undefined} style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>{m.text ?? t.forgotten}</Text>
            </Paper>
          </li>
        ))}
      </Stack>
    </Section>
  )
}

/** Write answers the customer, or keeps a note for staff. */
function Write({ of: r }: { of: Request }) {
  const t = useText(supportText)
  const may = useMay()
  const [text, setText] = useState('')
  const [internal, setInternal] = useState(false)
  const write = useWrite('post', '/support-requests/{id}/messages', {
    told: () => (internal ? t.kept : t.sent),
    shown: () => {
      setText('')
      setInternal(false)
    },
  })
  if (!may('POST /support-requests/{id}/messages')) return null
  return (
    <Section title={t.write}>
      <Form
        busy={write.isPending}
        onSubmit={() => {
          if (text.trim()) write.mutate({ params: { path: { id: r.id } }, body: internal ? { text, internal } : { text } })
        }}
      >
        <Stack gap="sm" maw={760}>
          <Textarea
            label={internal ? t.note : t.answer}
            value={text}
            onChange={(e) => setText(e.currentTarget.value)}
            error={write.error?.of('text')}
            maxLength={4000}
            autosize
            minRows={3}
          />
          <Checkbox label={t.noteInstead} checked={internal} onChange={(e) => setInternal(e.currentTarget.checked)} />
          {write.error ? <ProblemNote of={write.error} /> : null}
          <Group><Button type="submit" loading={write.isPending} disabled={!text.trim()}>{internal ? t.keep : t.send}</Button></Group>
        </Stack>
      </Form>
    </Section>
  )
}

import { Button, Text } from '@mantine/core'
import { type Row, useRows } from '../../api/rows'
import { useWrite } from '../../api/write'
import { usePerson } from '../../app/person'
import { useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import { identityText } from '../../text/identity'
import { type Column, DataTable } from '../../ui/DataTable'
import { Empty } from '../../ui/Empty'
import { Section } from '../../ui/Page'
import { ProblemNote } from '../../ui/ProblemNote'
import { State } from '../../ui/State'
import { When } from '../../ui/When'

type OwnSession = Row<'/auth/sessions'>

const noFilters = {}

/** OwnSessions lists where this person is signed in, and ends what should not be. */
export function OwnSessions() {
  const t = useText(identityText)
  const f = useFormat()
  const { me } = usePerson()
  const list = useRows('/auth/sessions', noFilters)
  const end = useWrite('delete', '/auth/sessions/{id}', { told: () => t.ended(1) })
  const place = (s: OwnSession) => {
    if (s.orgId === (me.org?.id ?? null)) return null
    return s.orgId === null ? t.onPlatform : t.otherOrganization
  }
  const columns: Column<OwnSession>[] = [
    {
      id: 'where', title: t.browser,
      cell: (s) => (
        <>
          {s.current ? <State tone="good">{t.here}</State> : [s.browser ?? t.elsewhere, place(s)].filter(Boolean).join(', ')}
          {s.current && s.browser && <Text span size="sm" c="dimmed"> {s.browser}</Text>}
        </>
      ),
    },
    { id: 'ip', title: t.ip, width: 250, wideOnly: true, cell: (s) => <span className="figure">{s.ip}</span> },
    { id: 'started', title: t.started, width: 140, wideOnly: true, cell: (s) => <When at={s.startedAt} /> },
    { id: 'used', title: t.used, width: 140, narrow: 104, cell: (s) => <When at={s.usedAt} /> },
    { id: 'ends', title: t.ends, width: 140, wideOnly: true, cell: (s) => <When at={s.expiresAt} /> },
    {
      id: 'end', title: '', width: 100, narrow: 64,
      cell: (s) => !s.current && (
        <Button
          size="compact-xs"
          variant="default"
          aria-label={t.endSessionOf(f.short(s.startedAt))}
          disabled={end.isPending}
          onClick={() => end.mutate({ params: { path: { id: s.id } } })}
        >
          {t.endSession}
        </Button>
      ),
    },
  ]
  return (
    <Section title={t.sessions}>
      <Text size="sm" c="dimmed">{t.sessionsHint}</Text>
      {end.error && <ProblemNote of={end.error} />}
      <DataTable whole list={list} columns={columns} rowKey={(s) => s.id} label={t.sessions} empty={<Empty title={t.noSessions} />} />
    </Section>
  )
}

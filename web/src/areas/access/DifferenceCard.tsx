import { Button, Group, Paper, SimpleGrid, Text, Title } from '@mantine/core'
import { useState } from 'react'
import type { Row } from '../../api/rows'
import { useWrite } from '../../api/write'
import { useMay } from '../../app/person'
import { useText } from '../../text/catalogue'
import { differencesText } from '../../text/differences'
import { useFormat } from '../../text/format'
import { Confirm } from '../../ui/Confirm'
import { CustomerLink } from '../../ui/CustomerLink'
import { Wrench } from '../../ui/icons'
import { ProblemNote } from '../../ui/ProblemNote'
import { RouterLink } from '../../ui/RouterLink'
import { State, type Tone } from '../../ui/State'
import { When } from '../../ui/When'

type Difference = Row<'/access-differences'>

const tones: Record<string, Tone> = { stale_session: 'quiet', port_below_plan: 'attention', wrong_rate: 'attention' }

// These repairs touch nobody who is online, so one click is enough.
const harmless = new Set(['paid_but_offline', 'stale_session'])

// A port is mended with a cable; there is nothing to press.
const repairable = (d: Difference) => d.kind !== 'port_below_plan'

/** DifferenceCard tells one difference: what is wrong, for whom, since when, and what to do about it. */
export function DifferenceCard({ of: d }: { of: Difference }) {
  const t = useText(differencesText)
  const f = useFormat()
  const asks = !useMay()('POST /access-differences/{id}/repair') && repairable(d)
  return (
    <Paper component="article" withBorder p="sm">
      <Group justify="space-between" align="flex-start" gap="xs" mb={4}>
        <div style={{ minWidth: 0 }}>
          <Title order={2} size="h5" fw={600}><State tone={tones[d.kind] ?? 'bad'}>{t.kinds[d.kind] ?? d.kind}</State></Title>
          <Text size="sm" component="div">
            {d.subscriber ? <CustomerLink of={d.subscriber} account /> : t.nobody}
            {' · '}<RouterLink id={d.deviceId} name={d.deviceName} />
            {' · '}<Text span inherit c="dimmed">{t.since} <When at={d.since} /></Text>
          </Text>
        </div>
        <Repair of={d} />
      </Group>
      <Text size="sm">{t.about[d.kind]}</Text>
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="md" my={6}>
        <div>
          <Text size="xs" c="dimmed">{t.expected}</Text>
          <Text size="sm" style={{ overflowWrap: 'anywhere' }}>{d.expected}</Text>
        </div>
        <div>
          <Text size="xs" c="dimmed">{t.actual}</Text>
          <Text size="sm" style={{ overflowWrap: 'anywhere' }}>{d.actual}</Text>
        </div>
      </SimpleGrid>
      <Text size="sm" c="dimmed">{t.toDo}: {t.helps[d.kind]}{asks && ` ${t.askRepair}`}</Text>
      {d.unseenSince && <Text size="sm" c="var(--tone-attention)">{t.unseen(f.short(d.unseenSince))}</Text>}
      {d.reportsMissingSince && <Text size="sm" c="var(--tone-attention)">{t.missing(f.short(d.reportsMissingSince))}</Text>}
    </Paper>
  )
}

/** Repair ends a difference. What ends somebody's session is said before; the answer of the router is shown beside. */
function Repair({ of: d }: { of: Difference }) {
  const t = useText(differencesText)
  const may = useMay()
  const [asking, setAsking] = useState(false)
  const write = useWrite('post', '/access-differences/{id}/repair', {
    told: (a) => ('outcome' in a ? (t.outcomes[a.outcome] ?? a.outcome) : t.accepted),
    then: () => setAsking(false),
  })
  const repair = () => write.mutate({ params: { path: { id: d.id } } })
  const answer = write.data && 'outcome' in write.data ? write.data : null
  if (!may('POST /access-differences/{id}/repair') || !repairable(d)) return null
  return (
    <div>
      <Button
        variant="default"
        size="xs"
        leftSection={<Wrench size={14} aria-hidden />}
        loading={write.isPending && !asking}
        onClick={harmless.has(d.kind) ? repair : () => setAsking(true)}
      >
        {t.repair}
      </Button>
      {answer && <Text size="xs" maw={320} role="status">{answer.message || t.outcomes[answer.outcome]}</Text>}
      {write.error && !asking && <ProblemNote of={write.error} />}
      {asking && (
        <Confirm
          title={t.repairTitle}
          verb={t.repair}
          danger
          pending={write.isPending}
          error={write.error}
          onConfirm={repair}
          onClose={() => setAsking(false)}
        >
          {`${t.repairEnds(d.subscriber?.name ?? t.somebody, d.deviceName ?? t.router)} ${t.helps[d.kind]}`}
        </Confirm>
      )}
    </div>
  )
}

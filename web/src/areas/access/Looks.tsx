import { ActionIcon, Button, Progress, Stack, Text } from '@mantine/core'
import { type Row, useRows } from '../../api/rows'
import { useNow } from '../../app/clock'
import { useMay } from '../../app/person'
import { useText } from '../../text/catalogue'
import { differencesText } from '../../text/differences'
import { useFormat } from '../../text/format'
import { type Column, DataTable } from '../../ui/DataTable'
import { Empty } from '../../ui/Empty'
import { RefreshCw } from '../../ui/icons'
import { Section } from '../../ui/Page'
import { ProblemNote } from '../../ui/ProblemNote'
import { RouterLink } from '../../ui/RouterLink'
import { State } from '../../ui/State'
import { When } from '../../ui/When'
import { freshnessOf } from './freshness'
import { useLookNow } from './useLookNow'

type Look = Row<'/access-audits'>

const noFilters = {}

/** Looks tells how fresh the differences are, router by router, and has routers looked at now. */
export function Looks() {
  const t = useText(differencesText)
  const may = useMay()
  const list = useRows('/access-audits', noFilters)
  const { look, progress, pending, error } = useLookNow()
  const looks = may('POST /access-audits')
  const columns: Column<Look>[] = [
    { id: 'router', title: t.router, width: 180, narrow: 98, cell: (l) => <RouterLink id={l.deviceId} name={l.deviceName} /> },
    { id: 'tried', title: t.tried, width: 142, wideOnly: true, cell: (l) => <When at={l.triedAt} /> },
    { id: 'looked', title: t.looked, width: 142, narrow: 88, cell: (l) => (l.lookedAt ? <When at={l.lookedAt} /> : t.never) },
    {
      id: 'state', title: t.state, width: 286, narrow: 116,
      cell: (l) => <Seen of={l} />,
    },
    {
      id: 'why', title: t.why, wideOnly: true,
      cell: (l) => l.why && <span title={t.whys[l.why] ?? l.why}>{t.whys[l.why] ?? l.why}</span>,
    },
    ...(looks ? [{
      id: 'do', title: '', width: 44, narrow: 34,
      cell: (l: Look) => (
        <ActionIcon
          variant="subtle" color="gray" size={26} disabled={pending}
          aria-label={t.lookAt(l.deviceName)} title={t.lookNow} onClick={() => look(l.deviceId)}
        >
          <RefreshCw size={15} aria-hidden />
        </ActionIcon>
      ),
    }] : []),
  ]
  return (
    <Section
      title={t.looks}
      actions={looks && list.rows.length > 0 && (
        <Button variant="default" size="xs" loading={pending} leftSection={<RefreshCw size={14} aria-hidden />} onClick={() => look(undefined)}>
          {t.lookAll}
        </Button>
      )}
    >
      <Text size="sm" c="dimmed">{t.looksHint}</Text>
      {error ? <ProblemNote of={error} /> : null}
      {progress && (
        <Stack gap={4} role="status">
          <Text size="sm">
            {progress.over
              ? progress.left > 0 ? t.notAnswered(progress.left) : t.lookedAll(progress.all)
              : t.looking(progress.all - progress.left, progress.all)}
          </Text>
          {!progress.over && <Progress value={((progress.all - progress.left) / progress.all) * 100} aria-label={t.lookNow} />}
        </Stack>
      )}
      <DataTable list={list} columns={columns} rowKey={(l) => l.deviceId} label={t.looks} empty={<Empty title={t.noRouters} />} />
    </Section>
  )
}

/** Seen says how much the differences of a router say of now. */
function Seen({ of: l }: { of: Look }) {
  const t = useText(differencesText)
  const f = useFormat()
  switch (freshnessOf(l, useNow())) {
    case 'unseen':
      return (
        <State tone="bad" title={t.whys[l.why ?? ''] ?? undefined}>
          {t.notSeen}{l.unseenSince && <span className="wide-only"> {t.since} {f.short(l.unseenSince)}</span>}
        </State>
      )
    case 'old':
      return <State tone="attention" title={t.oldHint}>{t.old}</State>
    case 'fresh':
      return <State tone="good">{t.fine}</State>
    case 'never':
      return <State tone="quiet">{t.never}</State>
  }
}

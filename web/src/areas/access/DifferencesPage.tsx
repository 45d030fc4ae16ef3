import { Button, Group, Stack, Text } from '@mantine/core'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useRows } from '../../api/rows'
import { appText } from '../../text/app'
import { useText } from '../../text/catalogue'
import { differencesText } from '../../text/differences'
import { useFormat } from '../../text/format'
import { uiText } from '../../text/ui'
import { CustomerFilter } from '../../ui/CustomerFilter'
import { Empty } from '../../ui/Empty'
import { ChoiceFilter, Filters } from '../../ui/Filters'
import { later } from '../../ui/later'
import { Loaded } from '../../ui/Loaded'
import { Page } from '../../ui/Page'
import { ProblemNote } from '../../ui/ProblemNote'
import { RouterFilter } from '../../ui/RouterFilter'
import { DifferenceCard } from './DifferenceCard'
import { useCounts } from './counts'

const Looks = later(async () => (await import('./Looks')).Looks)

/** DifferencesPage answers: where do routers show something else than customers are entitled to, and what now? */
export default function DifferencesPage() {
  const t = useText(differencesText)
  const app = useText(appText)
  const words = useText(uiText)
  const f = useFormat()
  const filters = useSearch({ from: '/differences' })
  const navigate = useNavigate({ from: '/differences' })
  const list = useRows('/access-differences', filters)
  const change = (part: Partial<typeof filters>) => void navigate({ search: { ...filters, ...part }, replace: true })
  const { differences: counts } = useCounts()
  const names = Object.fromEntries(Object.entries(t.kinds).map(([kind, name]) => [kind, counts[kind] ? `${name} (${f.number(counts[kind])})` : name]))
  const any = Object.values(filters).some((v) => v !== undefined)
  // Later pages that fail leave those shown that were read.
  const read = { data: list.isPending ? undefined : list.rows, error: list.error, isPending: list.isPending, refetch: list.refetch }
  return (
    <Page title={app.differences}>
      <Filters any={any} onClear={() => void navigate({ search: {} })}>
        <ChoiceFilter value={filters.kind} label={t.kind} names={names} onChange={(kind) => change({ kind })} />
        <RouterFilter value={filters.deviceId} onChange={(deviceId) => change({ deviceId })} />
        <CustomerFilter id={filters.subscriberId} onClear={() => change({ subscriberId: undefined })} />
      </Filters>
      <Loaded read={read} height={240}>
        {(rows) => (
          <Stack gap="sm">
            {rows.length === 0 && !list.error && (
              any ? <Empty title={words.nothingFits} /> : <Empty title={t.none}>{t.noneHint}</Empty>
            )}
            {rows.map((d) => <DifferenceCard key={d.id} of={d} />)}
            {list.error ? <ProblemNote of={list.error} retry={list.more} /> : null}
            {rows.length > 0 && (
              <Group gap="sm">
                <Text size="xs" c="dimmed">{t.count(rows.length, list.hasMore)}</Text>
                {list.hasMore && (
                  <Button variant="default" size="xs" loading={list.isFetchingMore} onClick={list.more}>{t.more}</Button>
                )}
              </Group>
            )}
          </Stack>
        )}
      </Loaded>
      <Looks />
    </Page>
  )
}

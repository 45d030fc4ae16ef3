import { Progress, Stack, Text } from '@mantine/core'
import { Link, useParams } from '@tanstack/react-router'
import { api } from '../../api/client'
import { useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import { importsText } from '../../text/imports'
import { Facts } from '../../ui/Facts'
import { Loaded } from '../../ui/Loaded'
import { Page } from '../../ui/Page'
import { State } from '../../ui/State'
import { UndoBatch } from '../../ui/UndoBatch'
import { When } from '../../ui/When'
import { Faults } from './Faults'
import type { Import } from './upload'

/** ImportPage answers: how far is this import, and what was wrong with its rows? It may be left and found again. */
export default function ImportPage() {
  const t = useText(importsText)
  const { id } = useParams({ from: '/imports/$id' })
  const read = api.useQuery('get', '/imports/{id}', { params: { path: { id } } }, {
    refetchInterval: (q) => (q.state.data?.state === 'finished' ? false : 1500),
  })
  return (
    <Page title={t.oneImport}>
      <Loaded read={read} height={220}>{(of) => <Outcome of={of} />}</Loaded>
    </Page>
  )
}

/** Outcome shows progress while the import runs, and its result afterwards. */
function Outcome({ of }: { of: Import }) {
  const t = useText(importsText)
  const f = useFormat()
  const done = of.created + of.skipped + of.failed
  const over = of.state === 'finished'
  return (
    <Stack gap="md">
      <div role="status">
        <State tone={over ? (of.failed > 0 ? 'attention' : 'good') : 'quiet'}>
          {over ? t.over(of.created) : t.underWay(f.number(done), f.number(of.rows))}
        </State>
      </div>
      {!over && <Progress value={(100 * done) / Math.max(1, of.rows)} aria-label={t.oneImport} maw={480} />}
      {!over && <Text size="sm" c="dimmed">{t.mayLeave}</Text>}
      <Facts
        of={[
          [t.rows, f.number(of.rows)],
          [t.created, f.number(of.created)],
          [t.skipped, of.skipped > 0 ? f.number(of.skipped) : null],
          [t.failedRows, f.number(of.failed)],
          [t.at, <When key="at" at={of.askedAt} />],
          [t.finished, of.finishedAt ? <When key="end" at={of.finishedAt} /> : null],
        ]}
      />
      {over && of.created > 0 && <Link to="/customers" search={{ sort: 'newest' }}>{t.toCustomers}</Link>}
      <UndoBatch id={of.id} />
      <Faults of={of.errors} count={Math.max(of.failed, of.errors.length)} />
    </Stack>
  )
}

import { Button, Text } from '@mantine/core'
import { Link, useParams } from '@tanstack/react-router'
import { readUntilRead } from '../../api/again'
import { api } from '../../api/client'
import { useWrite } from '../../api/write'
import { useMay } from '../../app/person'
import { useText } from '../../text/catalogue'
import { webhooksText } from '../../text/webhooks'
import { CopyText } from '../../ui/CopyText'
import { type Column, DataTable } from '../../ui/DataTable'
import { Facts } from '../../ui/Facts'
import { Loaded } from '../../ui/Loaded'
import { Page, Section } from '../../ui/Page'
import { ProblemNote } from '../../ui/ProblemNote'
import { State } from '../../ui/State'
import { When } from '../../ui/When'
import { wholeList } from '../../ui/wholeList'
import { aboutOf } from './message'
import { AboutLink, type Delivery, DeliveryState } from './words'
import './webhooks.css'

type Attempt = Delivery['attempts'][number]

// No change tells of an attempt.
const lookAgain = 2_000

/** DeliveryPage answers about one message to one address: what was sent, when, and what came back? */
export default function DeliveryPage() {
  const t = useText(webhooksText)
  const may = useMay()
  const { id } = useParams({ from: '/webhooks/deliveries/$id' })
  const path = { params: { path: { id } } }
  const read = api.useQuery('get', '/webhook-deliveries/{id}', path, {
    refetchInterval: (q) => readUntilRead(q) || (q.state.data?.state === 'pending' && lookAgain),
  })
  const again = useWrite('post', '/webhook-deliveries/{id}/redeliver', { told: () => t.redelivered })
  const d = read.data
  return (
    <Page
      title={d ? (t.typeNames[d.type] ?? d.type) : t.delivery}
      actions={d && d.state !== 'pending' && may('POST /webhook-deliveries/{id}/redeliver') && (
        <Button variant="default" loading={again.isPending} onClick={() => again.mutate(path)}>{t.redeliver}</Button>
      )}
    >
      {again.error && <ProblemNote of={again.error} />}
      <Loaded read={read} height={420}>
        {(of) => (
          <>
            <DeliveryFacts of={of} />
            <Section title={t.attempts}>
              {of.tries > of.attempts.length && <Text size="sm" c="dimmed">{t.lastTwenty(of.tries)}</Text>}
              <Attempts of={of} />
            </Section>
            <Section title={t.message}>
              <Text size="sm" c="dimmed">{t.messageHint}</Text>
              <pre className="message" tabIndex={0} aria-label={t.message}>{JSON.stringify(of.message, null, 2)}</pre>
            </Section>
          </>
        )}
      </Loaded>
    </Page>
  )
}

function DeliveryFacts({ of: d }: { of: Delivery }) {
  const t = useText(webhooksText)
  return (
    <Facts
      of={[
        [t.state, <DeliveryState key="s" of={d} />],
        [t.outcome, d.error && (t.errors[d.error] ?? d.error)],
        [t.about, aboutOf(d.type, d.message) && <AboutLink key="a" of={d} />],
        [t.endpoint, <Link key="e" to="/webhooks/$id" params={{ id: d.endpointId }}>{t.deliveries}</Link>],
        [t.at, <When key="c" at={d.createdAt} exact />],
        [t.next, d.nextAttemptAt ? <When key="n" at={d.nextAttemptAt} exact /> : t.noNext],
        [t.ended, d.endedAt && <When key="z" at={d.endedAt} exact />],
        [t.messageId, <CopyText key="m" text={d.eventId} />],
        [t.position, d.position > 0 ? d.position : null],
      ]}
    />
  )
}

/** Attempts are the calls of the receiver, the newest first. */
function Attempts({ of: d }: { of: Delivery }) {
  const t = useText(webhooksText)
  const columns: Column<Attempt>[] = [
    { id: 'at', title: t.attempt, width: 160, narrow: 110, cell: (a) => <When at={a.at} exact /> },
    { id: 'answer', title: t.answer, width: 70, narrow: 60, figure: true, cell: (a) => a.status ?? t.noAnswer },
    { id: 'took', title: t.took, width: 90, figure: true, wideOnly: true, cell: (a) => `${a.durationMs} ms` },
    {
      id: 'outcome', title: t.outcome,
      cell: (a) => <State tone={a.error ? 'bad' : 'good'} title={a.error ? t.errors[a.error] : undefined}>{a.error ? (t.errors[a.error] ?? a.error) : t.success}</State>,
    },
  ]
  if (d.attempts.length === 0) return <Text size="sm" c="dimmed">{t.noAttempt}</Text>
  const read = { data: d, error: null, isPending: false, refetch: () => undefined }
  return (
    <DataTable
      whole
      list={wholeList(read, (of) => [...of.attempts].reverse())}
      columns={columns}
      rowKey={(a) => a.at}
      label={t.attempts}
      empty={null}
    />
  )
}

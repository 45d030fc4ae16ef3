import { Group, Paper, Stack, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { api } from '../../api/client'
import { type Row, useRows } from '../../api/rows'
import type { Shape } from '../../api/types'
import { useMay } from '../../app/person'
import { answersText } from '../../text/answers'
import { useText } from '../../text/catalogue'
import { customerText } from '../../text/customer'
import { useFormat } from '../../text/format'
import { subscribersText } from '../../text/subscribers'
import { ActionMenu } from '../../ui/ActionMenu'
import { CopyText } from '../../ui/CopyText'
import { EventHistory } from '../../ui/EventHistory'
import { Empty } from '../../ui/Empty'
import { Facts } from '../../ui/Facts'
import { Loaded } from '../../ui/Loaded'
import { Section } from '../../ui/Page'
import { State } from '../../ui/State'
import { When } from '../../ui/When'
import { holdNeeds } from '../access/holdActs'
import { type ServiceAct, useDo } from './doing'
import { Extras } from './Extras'
import { serviceActs } from './serviceActs'
import { addressOf, observedTones, stateTones } from './words'

type Subscription = Row<'/subscriptions'>
type Seen = Shape<'AccessResponse'>['services'][number]

/** Services shows what a customer has, and what can be done with each. Those that have ended are counted only. */
export function Services({ id }: { id: string }) {
  const t = useText(customerText)
  const list = useRows('/subscriptions', { subscriberId: id })
  const access = api.useQuery('get', '/subscribers/{id}/access', { params: { path: { id } } })
  const read = { data: list.isPending || list.error ? undefined : list.rows, error: list.error, isPending: list.isPending, refetch: list.refetch }
  return (
    <Section title={t.services}>
      <Loaded read={read} height={150}>
        {(rows) => {
          const running = rows.filter((s) => s.state !== 'ended')
          const ended = rows.length - running.length
          return (
            <Stack gap="xs">
              {running.map((s) => (
                <OneService key={s.id} of={s} seen={access.data?.services.find((each) => each.subscriptionId === s.id)} />
              ))}
              {rows.length === 0 && <Empty title={t.noServices}>{t.noServicesHint}</Empty>}
              {ended > 0 && <Text size="sm" c="dimmed">{t.endedServices(ended)}</Text>}
            </Stack>
          )
        }}
      </Loaded>
    </Section>
  )
}

function OneService({ of: s, seen }: { of: Subscription; seen: Seen | undefined }) {
  const t = useText(customerText)
  const words = useText(subscribersText)
  const answers = useText(answersText)
  const f = useFormat()
  const dunning = seen?.dunning
  return (
    <Paper withBorder p="sm">
      <Group justify="space-between" wrap="nowrap" mb={6} gap="xs">
        <Group gap="2px 12px" miw={0}>
          <Text component="div" fw={600}><Link to={addressOf.plan(s.planId)} className="quiet-link">{s.planName}</Link></Text>
          <Text component="div" size="sm"><State tone={stateTones[s.state] ?? 'quiet'}>{t.states[s.state]}</State></Text>
          {seen && (
            <Text component="div" size="sm">
              {seen.outage
                ? <State tone="bad">{t.behind(seen.outage.deviceName ?? answers.aRouter)}</State>
                : <State tone={observedTones[seen.observed] ?? 'quiet'}>{t.observed[seen.observed]}</State>}
            </Text>
          )}
        </Group>
        <ServiceMenu of={s} held={seen ? Boolean(dunning?.hold) : null} />
      </Group>
      <Facts
        of={[
          [words.paidUntil, <PaidUntil key="until" of={s} />],
          [t.price, `${f.money(s.price, s.currency)} ${words.perPeriod[s.billing.period] ?? s.billing.period}`],
          [t.rate, `${f.rate(s.rates.down)} / ${f.rate(s.rates.up)}`],
          [t.login, s.username && <CopyText text={s.username} />],
          [t.nextPlan, s.plannedPlan && <NextPlan key="plan" of={s.plannedPlan} />],
          [t.unbilled, s.unbilledSince && <When key="unbilled" at={s.unbilledSince} exact />],
          [t.nextInvoice, <NextInvoice key="invoice" of={s} />],
          [t.next, dunning?.next && <>{answers.comes[dunning.next.state] ?? dunning.next.state}, <When at={dunning.next.at} /></>],
          [t.held, dunning?.hold && <span title={dunning.hold.reason}><When at={dunning.hold.until} exact /></span>],
          [t.stopped, dunning?.stopped && (t.stoppedBy[dunning.stopped.cause] ?? dunning.stopped.cause)],
          [t.routes, s.routes.length > 0 && s.routes.join(', ')],
          [t.staticIp, s.staticIp && <CopyText text={s.staticIp} />],
          [t.macs, s.macAddresses.length > 0 ? s.macAddresses.join(', ') : null],
        ]}
      />
      <Extras id={s.id} plan={s.planName} />
      <EventHistory type="subscription" id={s.id} of={s.planName} />
    </Paper>
  )
}

/** PaidUntil is the end of the paid time. Who pays afterwards has none, and it stands still for who has paused. */
function PaidUntil({ of: s }: { of: Subscription }) {
  const t = useText(customerText)
  if (s.billing.mode === 'postpaid') return t.postpaid
  if (!s.paidUntil) return '–'
  return <><When at={s.paidUntil} exact /> ({s.state === 'paused' ? t.states.paused : <When at={s.paidUntil} />})</>
}

/** NextPlan is the plan that comes when the paid time is over. */
function NextPlan({ of: p }: { of: NonNullable<Subscription['plannedPlan']> }) {
  return <><Link to={addressOf.plan(p.planId)} className="quiet-link">{p.planName}</Link>{p.effectiveAt && <>, <When at={p.effectiveAt} exact /></>}</>
}

/** NextInvoice is what comes when nothing changes, and when. */
function NextInvoice({ of: s }: { of: Subscription }) {
  const f = useFormat()
  const next = api.useQuery('get', '/subscriptions/{id}/upcoming', { params: { path: { id: s.id } } }).data?.data[0]
  return next ? <>{f.money(next.total, next.currency)}, <When at={next.invoicedAt} /></> : '–'
}

// What a person must be allowed to, for each act.
const needs: Record<ServiceAct, Parameters<ReturnType<typeof useMay>>[0]> = {
  credentials: 'GET /subscriptions/{id}/credentials',
  new_credentials: 'POST /subscriptions/{id}/credentials',
  addresses: 'PATCH /subscriptions/{id}',
  top_up: 'POST /subscriptions/{id}/top-ups',
  ...holdNeeds,
  pause: 'POST /subscriptions/{id}/pause',
  resume: 'POST /subscriptions/{id}/resume',
  change_plan: 'POST /subscriptions/{id}/change-plan',
  extra: 'POST /subscriptions/{id}/charges',
  end: 'POST /subscriptions/{id}/end',
}

function ServiceMenu({ of: s, held }: { of: Subscription; held: boolean | null }) {
  const t = useText(customerText)
  const may = useMay()
  const begin = useDo()
  const labels = { ...t, new_credentials: t.newCredentials, top_up: t.topUp, change_plan: t.changePlan, extra: t.extra }
  const actions = serviceActs(s, held).filter((act) => may(needs[act])).map((act) => ({
    key: act, label: labels[act], danger: act === 'end',
    onClick: () => begin({ act, subscriptionId: s.id }),
  }))
  return actions.length > 0 && <ActionMenu label={t.actionsOf(s.planName)} actions={actions} />
}

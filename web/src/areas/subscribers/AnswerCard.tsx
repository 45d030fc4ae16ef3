import { Button, Group, Paper, Stack, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { readUntilRead } from '../../api/again'
import { api } from '../../api/client'
import { useWrite } from '../../api/write'
import { serverNow } from '../../app/clock'
import { useMay } from '../../app/person'
import { answersText } from '../../text/answers'
import { useText } from '../../text/catalogue'
import { customerText } from '../../text/customer'
import { Loaded } from '../../ui/Loaded'
import { ProblemNote } from '../../ui/ProblemNote'
import { State } from '../../ui/State'
import { type Answer, type AnswerCode, answersOf, calledAmong, helpOf, isNamed, type Step } from './answer'
import { useDo } from './doing'
import { useSpoken } from './spoken'
import { addressOf } from './words'

/** AnswerCard says in one sentence why a customer is on or off, and has the one button that helps. */
export function AnswerCard({ id }: { id: string }) {
  const t = useText(answersText)
  const may = useMay()
  // Minutes alone change an answer, and nobody tells support of routers: it is read again.
  const access = api.useQuery('get', '/subscribers/{id}/access', { params: { path: { id } } }, {
    refetchInterval: (read) => readUntilRead(read) || 60_000,
  })
  const found = api.useQuery('get', '/access-differences', { params: { query: { subscriberId: id, limit: 20 } } }, {
    enabled: may('GET /access-differences'),
  })
  const customer = api.useQuery('get', '/subscribers/{id}', { params: { path: { id } } })
  return (
    <Loaded read={access} height={88}>
      {(a) => {
        // What has ended does not start again, so what is asked for is what is owed.
        const all = answersOf(a, found.data?.data ?? [], serverNow(), customer.data?.balance)
        const [first, ...others] = all
        return first && (
          <Paper withBorder p="md" className="answer" data-tone={first.tone} component="section" aria-live="polite">
            <Said answer={first} called={calledAmong(first, all, t)} id={id} main />
            {others.length > 0 && (
              <Stack gap={4} mt="sm">
                <Text size="xs" c="dimmed">{t.otherServices}</Text>
                {others.map((o) => <Said key={o.subscriptionId} answer={o} called={calledAmong(o, all, t)} id={id} />)}
              </Stack>
            )}
          </Paper>
        )
      }}
    </Loaded>
  )
}

function Said({ answer: a, called, id, main }: { answer: Answer; called: string; id: string; main?: boolean }) {
  const t = useText(answersText)
  const may = useMay()
  const spoken = useSpoken(id, a, called)
  // A page that was opened before the program was renewed can meet a code that it does not know.
  const says = (code: AnswerCode) => (code in t.says ? t.says[code](spoken).replace(/\s+/g, ' ').trim() : t.other(code))
  const held = a.service?.dunning?.hold
  const allowed = a.step !== null && may(needs[a.step])
  // An outage is worked on already; nobody has to be told.
  const asked = a.step !== null && !allowed ? t.asked[a.code] : undefined
  const toAsk = a.step !== null && !allowed && a.code !== 'outage' && !asked && (a.step === 'take_payment' ? t.customerPays : t.notYours)
  const sentence = [a.code, ...a.also].map(says).join(' ')
  const help = asked ?? helpOf(a).map((code) => t.now[code]).filter(Boolean).join(' ')
  return (
    <Group justify="space-between" align="flex-start" gap="sm" mih={main ? 56 : 28}>
      <Stack gap={4} flex={1} miw={240}>
        <Text component="div" size={main ? 'md' : 'sm'} fw={main ? 600 : undefined} className="sentence">
          <State tone={a.tone}>{null}</State> <span>{isNamed(a.code, called) ? t.named(called, sentence) : sentence}</span>
        </Text>
        {main && (
          <Text size="sm" c="dimmed">
            {[spoken.reason, help, toAsk, held && t.held(spoken.heldUntil), !a.step && spoken.session].filter(Boolean).join(' ')}
          </Text>
        )}
      </Stack>
      {allowed && <StepButton answer={a} id={id} main={main} />}
    </Group>
  )
}

// What a person must be allowed to, for each step.
const needs: Record<Step, Parameters<ReturnType<typeof useMay>>[0]> = {
  take_payment: 'POST /payments/initiate',
  unblock: 'POST /subscribers/{id}/unblock',
  add_service: 'POST /subscriptions',
  resume: 'POST /subscriptions/{id}/resume',
  top_up: 'POST /subscriptions/{id}/top-ups',
  credentials: 'GET /subscriptions/{id}/credentials',
  addresses: 'PATCH /subscriptions/{id}',
  disconnect: 'POST /sessions/{id}/disconnect',
  router: 'GET /nas/devices/{id}',
  sessions: 'GET /sessions',
  repair: 'POST /access-differences/{id}/repair',
}

/** StepButton does what helps, or leads to where it is done. */
function StepButton({ answer: a, id, main }: { answer: Answer; id: string; main?: boolean }) {
  const t = useText(answersText)
  const words = useText(customerText)
  const begin = useDo()
  const repair = useWrite('post', '/access-differences/{id}/repair', {
    told: (done) => ('message' in done && done.message ? done.message : words.repaired),
  })
  if (!a.step) return null
  const look = { variant: main ? 'filled' : 'default', size: main ? 'sm' : 'xs' }
  const label = t.steps[a.step]
  const does = (onClick: () => unknown, loading = false) => <Button {...look} loading={loading} onClick={onClick}>{label}</Button>
  const service = a.subscriptionId
  switch (a.step) {
    case 'take_payment':
    case 'unblock':
    case 'add_service': {
      const act = a.step
      return does(() => begin({ act }))
    }
    case 'resume':
    case 'top_up':
    case 'credentials':
    case 'addresses': {
      const act = a.step
      return service && does(() => begin({ act, subscriptionId: service }))
    }
    case 'disconnect':
      return a.session && does(() => a.session && begin({ act: 'disconnect', session: a.session }))
    case 'router':
      return a.router?.id && <Button component={Link} to={addressOf.router(a.router.id)} {...look}>{label}</Button>
    case 'sessions':
      return (
        <Button {...look} renderRoot={(props) => <Link {...props} to="/customers/$id" params={{ id }} search={{ view: 'sessions' }} />}>
          {label}
        </Button>
      )
    case 'repair':
      return a.differenceId && (
        <Stack gap="xs">
          {does(() => a.differenceId && repair.mutate({ params: { path: { id: a.differenceId } } }), repair.isPending)}
          {repair.error && <ProblemNote of={repair.error} />}
        </Stack>
      )
  }
}

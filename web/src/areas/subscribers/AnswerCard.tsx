import { Button, Group, Paper, Stack, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
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
import { type Answer, type AnswerCode, answersOf } from './answer'
import { useDo } from './doing'
import { useSpoken } from './spoken'
import { addressOf } from './words'

/** AnswerCard says in one sentence why a customer is on or off, and has the one button that helps. */
export function AnswerCard({ id }: { id: string }) {
  const t = useText(answersText)
  const may = useMay()
  const access = api.useQuery('get', '/subscribers/{id}/access', { params: { path: { id } } })
  const found = api.useQuery('get', '/access-differences', { params: { query: { subscriberId: id, limit: 20 } } }, {
    enabled: may('GET /access-differences'),
  })
  return (
    <Loaded read={access} height={88}>
      {(a) => {
        const [first, ...others] = answersOf(a, found.data?.data ?? [], serverNow())
        return first && (
          <Paper withBorder p="md" className="answer" data-tone={first.tone} component="section" aria-live="polite">
            <Said answer={first} id={id} main />
            {others.length > 0 && (
              <Stack gap={4} mt="sm">
                <Text size="xs" c="dimmed">{t.otherServices}</Text>
                {others.map((o) => <Said key={o.subscriptionId} answer={o} id={id} />)}
              </Stack>
            )}
          </Paper>
        )
      }}
    </Loaded>
  )
}

function Said({ answer: a, id, main }: { answer: Answer; id: string; main?: boolean }) {
  const t = useText(answersText)
  const spoken = useSpoken(id, a)
  // A page that was opened before the program was renewed can meet a code that it does not know.
  const says = (code: AnswerCode) => (code in t.says ? t.says[code](spoken).replace(/\s+/g, ' ').trim() : t.other(code))
  const held = a.service?.dunning?.hold
  return (
    <Group justify="space-between" align="flex-start" gap="sm" mih={main ? 56 : 28}>
      <Stack gap={4} flex={1} miw={240}>
        <Text component="div" size={main ? 'md' : 'sm'} fw={main ? 600 : undefined} className="sentence">
          <State tone={a.tone}>{null}</State> <span>{[a.code, ...a.also].map(says).join(' ')}</span>
        </Text>
        {main && (
          <Text size="sm" c="dimmed">
            {[spoken.reason, t.now[a.code], held && t.held(spoken.heldUntil), !a.step && spoken.session].filter(Boolean).join(' ')}
          </Text>
        )}
      </Stack>
      {a.step && <StepButton answer={a} id={id} main={main} />}
    </Group>
  )
}

/** StepButton does what helps, or leads to where it is done. Who may not do it does not see it. */
function StepButton({ answer: a, id, main }: { answer: Answer; id: string; main?: boolean }) {
  const t = useText(answersText)
  const words = useText(customerText)
  const may = useMay()
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
      return may('POST /payments/initiate') && does(() => begin({ act: 'take_payment' }))
    case 'unblock':
      return may('POST /subscribers/{id}/unblock') && does(() => begin({ act: 'unblock' }))
    case 'add_service':
      return may('POST /subscriptions') && does(() => begin({ act: 'add_service' }))
    case 'resume':
      return may('POST /subscriptions/{id}/resume') && service && does(() => begin({ act: 'resume', subscriptionId: service }))
    case 'top_up':
      return may('POST /subscriptions/{id}/top-ups') && service && does(() => begin({ act: 'top_up', subscriptionId: service }))
    case 'credentials':
      return may('GET /subscriptions/{id}/credentials') && service && does(() => begin({ act: 'credentials', subscriptionId: service }))
    case 'addresses':
      return may('PATCH /subscriptions/{id}') && service && does(() => begin({ act: 'addresses', subscriptionId: service }))
    case 'disconnect':
      return may('POST /sessions/{id}/disconnect') && a.session && does(() => a.session && begin({ act: 'disconnect', session: a.session }))
    case 'router':
      return may('GET /nas/devices/{id}') && a.router?.id ? (
        <Button component={Link} to={addressOf.router(a.router.id)} {...look}>{label}</Button>
      ) : null
    case 'sessions':
      return (
        <Button {...look} renderRoot={(props) => <Link {...props} to="/customers/$id" params={{ id }} search={{ view: 'sessions' }} />}>
          {label}
        </Button>
      )
    case 'repair':
      return may('POST /access-differences/{id}/repair') && a.differenceId && (
        <Stack gap="xs">
          {does(() => a.differenceId && repair.mutate({ params: { path: { id: a.differenceId } } }), repair.isPending)}
          {repair.error && <ProblemNote of={repair.error} />}
        </Stack>
      )
  }
}

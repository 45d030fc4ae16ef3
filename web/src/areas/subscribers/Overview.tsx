import { Anchor, Badge, Group, Stack, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { api } from '../../api/client'
import { useMay } from '../../app/person'
import { useText } from '../../text/catalogue'
import { customerText } from '../../text/customer'
import { subscribersText } from '../../text/subscribers'
import { CopyText } from '../../ui/CopyText'
import { EventHistory } from '../../ui/EventHistory'
import { Facts } from '../../ui/Facts'
import { later } from '../../ui/later'
import { Balance } from '../../ui/Money'
import { Section } from '../../ui/Page'
import { State } from '../../ui/State'
import { When } from '../../ui/When'
import { Days } from './Days'
import { Services } from './Services'
import { Sessions } from './Sessions'
import { Statement } from './Statement'
import { Timeline } from './Timeline'
import type { Customer } from './words'

const CustomerDevices = later(() => import('../cpe/CustomerDevices').then((m) => m.CustomerDevices), { height: 64 })

/** Overview has the first rows of everything about a customer; of one who was forgotten, of what remains. */
export function Overview({ of: c }: { of: Customer }) {
  const t = useText(customerText)
  const may = useMay()
  const forgotten = c.status === 'forgotten'
  const all = (view: 'statement' | 'timeline' | 'sessions' | 'usage') => (
    <Anchor size="sm" renderRoot={(props) => <Link {...props} to="/customers/$id" params={{ id: c.id }} search={{ view }} />}>
      {t.all}
    </Anchor>
  )
  return (
    <Stack gap="lg">
      {!forgotten && <Section title={t.days} actions={all('usage')}><Days id={c.id} /></Section>}
      <div className="overview">
        <Stack gap="lg">
          {!forgotten && <Services id={c.id} />}
          {!forgotten && may('GET /cpe/devices') && <CustomerDevices id={c.id} />}
          {!forgotten && <Section title={t.sessions} actions={all('sessions')}><Sessions id={c.id} first={3} /></Section>}
          <Section title={t.statement} actions={all('statement')}><Statement id={c.id} first={5} /></Section>
        </Stack>
        <Stack gap="lg">
          <Details of={c} />
          <Section title={t.timeline} actions={all('timeline')}><Timeline id={c.id} first={12} /></Section>
        </Stack>
      </div>
    </Stack>
  )
}

/** Details are the facts of a customer; a tag leads to all who have it. */
function Details({ of: c }: { of: Customer }) {
  const t = useText(subscribersText)
  const words = useText(customerText)
  const paybill = api.useQuery('get', '/paybill')
  const { shortcode, environment } = paybill.data ?? {}
  return (
    <Section title={words.details}>
      <Facts
        of={[
          [words.balanceNow, (
            <Link to="/customers/$id" params={{ id: c.id }} search={{ view: 'statement' }} className="quiet-link">
              <Balance amount={c.balance} currency={c.currency} />
            </Link>
          )],
          [t.account, <CopyText text={c.accountNumber} />],
          [words.paysTo, c.status === 'forgotten' ? null : paybill.isPending ? '…' : (
            <>
              {paybill.isError ? words.paybillUnknown : shortcode ? words.paybill(shortcode, c.accountNumber) : words.noPaybill}
              {environment === 'sandbox' && <State key="s" tone="attention">{words.sandbox}</State>}
            </>
          )],
          [t.phone, c.phone && <Anchor href={`tel:${c.phone}`} inherit className="figure">{c.phone}</Anchor>],
          [t.secondPhone, c.secondPhone && <Anchor href={`tel:${c.secondPhone}`} inherit className="figure">{c.secondPhone}</Anchor>],
          [t.email, c.email && <Anchor href={`mailto:${c.email}`} inherit>{c.email}</Anchor>],
          [t.address, c.address],
          [t.taxPin, c.taxPin],
          [t.since, <When at={c.createdAt} />],
          [t.tags, c.tags.length === 0 ? null : (
            <Group gap={4}>
              {c.tags.map((tag) => (
                <Link key={tag} to="/customers" search={{ tag }}><Badge variant="default" tt="none">{tag}</Badge></Link>
              ))}
            </Group>
          )],
        ]}
      />
      {c.notes && <Text size="sm" style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>{c.notes}</Text>}
      <Group gap="md">
        <EventHistory type="subscriber" id={c.id} />
        <EventHistory type="account" id={c.id} />
        <Anchor size="sm" renderRoot={(props) => <Link {...props} to="/support" search={{ subscriberId: c.id }} />}>{words.support}</Anchor>
      </Group>
    </Section>
  )
}

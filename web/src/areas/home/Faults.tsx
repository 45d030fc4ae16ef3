import { Button, Stack, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useNow } from '../../app/clock'
import { useMay } from '../../app/person'
import { homeText } from '../../text/home'
import { useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import { partHelp, partsText } from '../../text/parts'
import { CircleAlert, CircleX } from '../../ui/icons'
import { Section } from '../../ui/Page'
import { PageLink } from '../../ui/PageLink'
import { toneColor } from '../../ui/State'
import type { Way } from '../../ui/To'
import { helpWordsOf } from './help'
import type { Fault } from './today'
import './home.css'

const shownFirst = 6

// Of these people still get what they pay for.
const mild: Fault['kind'][] = ['service_degraded', 'router_drifted', 'gateway_unregistered', 'rebuild_stopped', 'run_held', 'run_failed', 'batch_still', 'cuts_held', 'messages_held', 'tax_refused', 'tax_late', 'webhook_disabled']

/** toneOf says how bad a fault is. */
export const toneOf = (f: Fault) => (mild.includes(f.kind) ? 'attention' : 'bad')

/** Faults lists what is broken, each with what follows from it and the step that helps. */
export function Faults({ of }: { of: Fault[] }) {
  const t = useText(homeText)
  const [all, setAll] = useState(false)
  if (of.length === 0) return null
  const shown = all ? of : of.slice(0, shownFirst)
  return (
    <Section title={t.broken}>
      <Stack component="ul" gap="sm" m={0} p={0} className="faults">
        {shown.map((f) => <Row key={`${f.kind} ${f.root.id ?? f.root.name}`} fault={f} />)}
      </Stack>
      {of.length > shown.length && (
        <Button variant="subtle" onClick={() => setAll(true)} style={{ alignSelf: 'start' }}>
          {t.moreFaults(of.length - shown.length)}
        </Button>
      )}
    </Section>
  )
}

function Row({ fault: f }: { fault: Fault }) {
  const t = useText(homeText)
  const parts = useText(partsText)
  const tone = toneOf(f)
  const Icon = tone === 'bad' ? CircleX : CircleAlert
  const may = useMay()
  const help = helpOf(f, may)
  const effects = f.effects.map((e) => t.effects[e.kind]?.(e.count) ?? `${e.count} ${e.kind}`)
  return (
    <li className="fault">
      <Icon size={18} aria-hidden color={toneColor(tone)} style={{ flexShrink: 0, marginTop: 2 }} />
      <div>
        <div>
          <Text fw={500} c={toneColor(tone)}>
            {f.kind === 'part_down' ? parts.down[f.root.name] ?? parts.otherDown(f.root.name) : t.faults[f.kind]?.(f.root.name) ?? f.message}
            {!!f.customers && <>: {f.kind === 'outage' && f.root.id
              ? <PageLink to={`/outages/${f.root.id}`}>{t.customersOff(f.customers)}</PageLink>
              : f.offBehind
              ? <PageLink to="/customers" search={{ offBehind: f.offBehind }}>{t.customersOff(f.customers)}</PageLink>
              : t.customersOff(f.customers)}</>}
          </Text>
          <Text size="sm" c="dimmed">
            {f.since && <>{t.since} <Began at={f.since} />. </>}
            {effects.length > 0 && `${t.follows(effects)} `}
            {f.kind === 'part_down' ? partHelp(f.root.name, parts) : helpWordsOf(f.kind, t, may)}
          </Text>
          {f.words && <Text size="sm" className="words">{f.words}</Text>}
        </div>
        {help && (
          <Button variant="default" renderRoot={(props) => <Link {...props} to={help.to} search={help.search as never} />}>
            {t.steps[f.kind]}
          </Button>
        )}
      </div>
    </li>
  )
}

/** Began shows the time of today, or the day with it. */
function Began({ at }: { at: string }) {
  const f = useFormat()
  const now = useNow()
  return <time dateTime={at} title={f.exact(at)}>{f.date(at) === f.date(now) ? f.time(at) : f.short(at)}</time>
}

/** helpOf leads to where the fault is repaired; null = this person cannot open that. */
function helpOf({ kind, root }: Fault, may: ReturnType<typeof useMay>): Way | null {
  switch (root.type) {
    case 'device':
      return root.id ? { to: `/routers/${root.id}`, search: kind === 'router_drifted' ? { view: 'differences' } : undefined } : null
    case 'outage':
      return root.id ? { to: `/outages/${root.id}` } : null
    case 'service':
      return root.id ? { to: `/services/${root.id}` } : null
    case 'provider':
      return { to: '/payments', search: { status: 'PENDING' } }
    case 'gateway':
      return may('GET /settings/payment-gateway') ? { to: '/gateway' } : null
    case 'run':
      return root.id ? { to: `/billing-runs/${root.id}` } : null
    case 'batch':
    case 'fuse':
      return { to: '/batches' }
    case 'tax':
      return { to: '/tax-documents', search: kind === 'tax_late' ? { late: true } : { state: 'refused' } }
    case 'webhook':
      return root.id && may('GET /webhook-endpoints/{id}') ? { to: `/webhooks/${root.id}` } : null
    case 'part':
      return root.id ? { to: '/system' } : null
    default:
      return may('GET /system/projections') ? { to: '/system' } : null
  }
}

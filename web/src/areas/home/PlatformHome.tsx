import { Stack } from '@mantine/core'
import { appText } from '../../text/app'
import { useText } from '../../text/catalogue'
import { type Format, useFormat } from '../../text/format'
import { homeText } from '../../text/home'
import { Loaded } from '../../ui/Loaded'
import { Page, Section } from '../../ui/Page'
import { Faults } from './Faults'
import { type Line, Lines, Quiet } from './Lines'
import { type Platform, usePlatform } from './today'
import { Verdict } from './Verdict'

type Texts = (typeof homeText)['en']

/** PlatformHome answers for the operators of the platform: does the program run, and is money waiting? */
export function PlatformHome() {
  const app = useText(appText)
  const t = useText(homeText)
  const f = useFormat()
  const platform = usePlatform()
  return (
    <Page
      title={app.home}
      name={platform.data && <Verdict of={platform.data.faults} waiting={isWaiting(platform.data)} />}
    >
      <Loaded read={platform} height={240}>
        {(p) => (
          <Stack gap="lg">
            <Faults of={p.faults} />
            {p.organizations && (
              <Section title={t.organizations}>
                <Lines of={organizationsOf(p, t, f)} />
              </Section>
            )}
            <Section title={t.program}>
              <Lines of={stoppedOf(p, t, f)} />
              <Quiet
                lead={t.none}
                of={quietOf(p, t)}
              />
            </Section>
          </Stack>
        )}
      </Loaded>
    </Page>
  )
}

const isWaiting = ({ suspense, breakers }: Platform) => suspense.length > 0 || breakers.open + breakers.failing > 0

function organizationsOf(p: Platform, t: Texts, f: Format): Line[] {
  if (!p.organizations) return []
  const { total, suspended } = p.organizations
  const lines: Line[] = [
    {
      key: 'orgs', figure: f.number(total), words: t.orgs(total), more: suspended > 0 ? t.orgsSuspended(suspended) : undefined,
      way: { to: '/orgs' },
    },
  ]
  for (const s of p.suspense.filter((s) => s.count > 0)) {
    lines.push({
      key: s.currency, tone: 'attention', figure: f.number(s.count), words: t.ofNobody(s.count),
      more: `${f.money(s.amount, s.currency)}${s.oldestAt ? `, ${t.oldest(f.relative(s.oldestAt, Date.parse(p.asOf)))}` : ''}`,
      way: { to: '/suspense' },
    })
  }
  return lines
}

// What is called may be away for its own reasons; a part of the program that has stopped waits for somebody here.
const parts = (p: Platform, t: Texts) => [
  { key: 'breakers', tone: 'attention' as const, n: p.breakers.open, words: t.breakers, zero: t.names.breakers },
  { key: 'failing', tone: 'attention' as const, n: p.breakers.failing, words: t.failing, zero: t.names.failing },
  { key: 'projections', tone: 'bad' as const, n: p.projections.stopped, words: t.projections, zero: t.names.projections },
  { key: 'processes', tone: 'bad' as const, n: p.processes.stopped, words: t.processes, zero: t.names.processes },
]

const system = { to: '/system' }

function stoppedOf(p: Platform, t: Texts, f: Format): Line[] {
  return parts(p, t)
    .filter((s) => s.n > 0)
    .map((s): Line => ({ key: s.key, tone: s.tone, figure: f.number(s.n), words: s.words(s.n), way: system }))
}

function quietOf(p: Platform, t: Texts) {
  const none = parts(p, t).filter((s) => s.n === 0).map((s) => ({ key: s.key, words: s.zero, way: system }))
  return p.suspense.some((s) => s.count > 0) ? none : [...none, { key: 'suspense', words: t.names.suspense, way: { to: '/suspense' } }]
}

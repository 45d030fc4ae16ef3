import { Stack } from '@mantine/core'
import { appText } from '../../text/app'
import { useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import { homeText } from '../../text/home'
import { Loaded } from '../../ui/Loaded'
import { Page, Section } from '../../ui/Page'
import { Faults } from './Faults'
import { Lines, Quiet } from './Lines'
import { isWaiting, organizationsOf, quietOf, stoppedOf } from './platform'
import { type Platform, usePlatform } from './today'
import { Verdict } from './Verdict'

/** PlatformHome answers for the operators of the platform: does the program run, and is money waiting? */
export function PlatformHome() {
  const app = useText(appText)
  const platform = usePlatform()
  return (
    <Page
      title={app.home}
      name={platform.data && <Verdict of={platform.data.faults} waiting={isWaiting(platform.data)} />}
    >
      <Loaded read={platform} height={240}>{(p) => <Report of={p} />}</Loaded>
    </Page>
  )
}

function Report({ of: p }: { of: Platform }) {
  const t = useText(homeText)
  const f = useFormat()
  const organizations = organizationsOf(p, t, f)
  const { none, unread } = quietOf(p, t)
  return (
    <Stack gap="lg">
      <Faults of={p.faults} />
      {organizations && (
        <Section title={t.organizations}>
          <Lines of={organizations} />
        </Section>
      )}
      <Section title={t.program}>
        <Lines of={stoppedOf(p, t, f)} />
        <Quiet lead={t.none} of={none} />
        <Quiet lead={t.unread} of={unread} />
      </Section>
    </Stack>
  )
}

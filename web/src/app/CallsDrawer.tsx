import { Code, Drawer, Group, Stack, Text } from '@mantine/core'
import { curl, useCalls } from '../api/calls'
import { appText } from '../text/app'
import { useText } from '../text/catalogue'
import { useFormat } from '../text/format'
import { uiText } from '../text/ui'
import { CopyText } from '../ui/CopyText'
import { State } from '../ui/State'
import { useFocusBack } from '../ui/useFocusBack'

/** CallsDrawer shows the calls behind the page, to copy as curl. */
export default function CallsDrawer({ onClose }: { onClose: () => void }) {
  const t = useText(appText)
  const words = useText(uiText)
  const f = useFormat()
  const calls = useCalls()
  useFocusBack()
  return (
    <Drawer opened onClose={onClose} title={t.calls} position="right" size="lg" closeButtonProps={{ 'aria-label': words.close }}>
      <Stack gap="sm">
        <Text size="sm" c="dimmed">{t.callsHint}</Text>
        {calls.length === 0 && <Text size="sm">{t.noCalls}</Text>}
        {calls.map((c) => (
          <div key={c.n}>
            <Group gap="xs" wrap="nowrap" justify="space-between">
              <Code style={{ overflowWrap: 'anywhere' }}>{c.method} {c.path}</Code>
              <CopyText text={curl(c)}>{t.copyCurl}</CopyText>
            </Group>
            <Group gap="sm" mt={2}>
              <Text size="xs" component="div">
                <State tone={c.running ? 'quiet' : c.status > 0 && c.status < 400 ? 'good' : 'bad'}>
                  {c.running ? '…' : c.status || '–'}
                </State>
              </Text>
              <Text size="xs" c="dimmed">{f.time(c.at)}</Text>
              <Text size="xs" c="dimmed" className="figure">{c.ms} ms</Text>
              {c.requestId && <Text size="xs" c="dimmed"><CopyText text={c.requestId} /></Text>}
            </Group>
          </div>
        ))}
      </Stack>
    </Drawer>
  )
}

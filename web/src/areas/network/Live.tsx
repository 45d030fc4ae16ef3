import { Button, Group, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { serverNow } from '../../app/clock'
import { useText } from '../../text/catalogue'
import { networkText } from '../../text/network'
import { RefreshCw } from '../../ui/icons'
import { Loaded, type Read } from '../../ui/Loaded'
import { Section } from '../../ui/Page'
import { ProblemNote } from '../../ui/ProblemNote'
import { When } from '../../ui/When'

/** Live is a part that was read from the router itself. A silent router shows its problem here and nowhere else. */
export function Live<Data>({ title, hint, read, height, actions, children }: {
  title: ReactNode
  hint?: ReactNode
  read: Read<Data> & { isFetching: boolean; dataUpdatedAt: number; asking?: boolean }
  height: number
  actions?: ReactNode
  children: (data: Data) => ReactNode
}) {
  const t = useText(networkText)
  return (
    <Section
      title={title}
      actions={
        <>
          {actions}
          <ReadAgain busy={read.isFetching || read.asking === true} onClick={() => void read.refetch()} />
        </>
      }
    >
      <Group gap="xs">
        <Text size="sm" c="dimmed">
          {hint} {t.readFrom}
          {read.dataUpdatedAt > 0 && <> · <When at={new Date(read.dataUpdatedAt + serverNow() - Date.now()).toISOString()} /></>}
        </Text>
      </Group>
      {read.data !== undefined && read.error ? <ProblemNote of={read.error} /> : null}
      <Loaded read={read} height={height}>{children}</Loaded>
    </Section>
  )
}

/** ReadAgain asks the router once more. */
export function ReadAgain({ busy, onClick }: { busy: boolean; onClick: () => void }) {
  const t = useText(networkText)
  return (
    <Button variant="default" size="xs" loading={busy} leftSection={<RefreshCw size={14} aria-hidden />} onClick={onClick}>
      {t.readAgain}
    </Button>
  )
}

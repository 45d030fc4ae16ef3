import { Button, Group, Text } from '@mantine/core'
import { useWrite } from '../../api/write'
import { useMay } from '../../app/person'
import { useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import { networkText } from '../../text/network'
import { Activity } from '../../ui/icons'
import { ProblemNote } from '../../ui/ProblemNote'
import { State } from '../../ui/State'

/** Ping asks the router now, and shows its answer beside the button. It also closes the breaker of one that answers. */
export function Ping({ id, label, ...look }: { id: string; label: string; variant?: string; size?: string }) {
  const t = useText(networkText)
  const f = useFormat()
  const may = useMay()
  const write = useWrite('post', '/nas/devices/{id}/ping')
  const answer = write.data && 'reachable' in write.data ? write.data : null
  if (!may('POST /nas/devices/{id}/ping')) return null
  return (
    <Group gap={answer ? 'xs' : 0} justify="flex-end" maw={620}>
      <Text component="div" size="sm" role="status" className="sentence">
        {answer && (
          <>
            <State tone={answer.reachable ? 'good' : 'bad'}>{null}</State>{' '}
            {answer.reachable
              ? t.answers(f.number(answer.responseMs ?? 0), [answer.boardName, answer.version].filter(Boolean).join(', '))
              : t.silent(answer.error ?? '')}
          </>
        )}
      </Text>
      <Button
        variant="default"
        {...look}
        leftSection={<Activity size={14} aria-hidden />}
        loading={write.isPending}
        onClick={() => write.mutate({ params: { path: { id } } })}
      >
        {label}
      </Button>
      {write.error && <ProblemNote of={write.error} />}
    </Group>
  )
}

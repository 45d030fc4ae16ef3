import { Text } from '@mantine/core'
import { useText } from '../../text/catalogue'
import { partHelp, partsText } from '../../text/parts'
import { systemText } from '../../text/system'
import { Facts } from '../../ui/Facts'
import { State } from '../../ui/State'
import { isDown, type Part, waits } from './amiss'
import { AllStopped, Stopped } from './Stopped'

/** Parts shows whether each part of the program works, and of one that does not the step that helps. */
export function Parts({ of }: { of: Part[] }) {
  const t = useText(systemText)
  const parts = useText(partsText)
  const named = (name: string) => parts.names[name] ?? name.replaceAll('_', ' ')
  const down = of.filter(isDown)
  return (
    <>
      {down.length > 0 && (
        <AllStopped>
          {down.map((p) => (
            <Stopped key={p.name} name={parts.down[p.name] ?? parts.otherDown(named(p.name))} error={p.detail}>
              <Text size="sm">{partHelp(p.name, parts, waits(p, of))}</Text>
            </Stopped>
          ))}
        </AllStopped>
      )}
      <Facts
        of={of.map((p) => [
          named(p.name),
          <State key="s" tone={isDown(p) ? 'bad' : 'good'}>{t.partStates[p.state]}</State>,
        ])}
      />
    </>
  )
}

import { NumberInput, type NumberInputProps } from '@mantine/core'
import { useState } from 'react'
import { useText } from '../text/catalogue'
import { useFormat } from '../text/format'
import { uiText } from '../text/ui'
import { type Bounds, type Fault, faultOf, figureOf } from './bounds'

type Props = Omit<NumberInputProps, 'value' | 'onChange' | 'min' | 'max' | 'allowDecimal' | 'clampBehavior' | keyof Bounds> & Bounds & {
  value: number | string
  onChange: (value: number | '') => void
}

/**
 * NumberField is every field of numbers. It says beside the number what is wrong with it, and never puts another one in
 * its place: nobody looks again at what was typed. A Form with a fault is not sent.
 */
export function NumberField({ value, onChange, min, max, whole, error, ...others }: Props) {
  const [typed, setTyped] = useState(value)
  // While somebody types, "2." and "2.0" stand for 2 and stay as they are.
  const shown = figureOf(typed) === figureOf(value) ? typed : value
  const fault = faultOf(shown, { min, max, whole })
  const words = useFaultWords({ min, max })
  const refused = useUntilChanged(error, shown)
  return (
    <NumberInput
      {...others}
      value={shown}
      onChange={(next) => {
        setTyped(next)
        onChange(figureOf(next))
      }}
      min={min}
      max={max}
      clampBehavior="none"
      trimLeadingZeroesOnBlur={false}
      error={fault ? words(fault) : refused}
      data-fault={fault ?? undefined}
    />
  )
}

/** useFaultWords says what is wrong with a number. */
function useFaultWords({ min, max }: Bounds): (fault: Fault) => string {
  const t = useText(uiText)
  const f = useFormat()
  return (fault) => {
    if (fault === 'number') return t.noNumber
    if (fault === 'whole') return t.notWhole
    if (min !== undefined && max !== undefined) return t.between(f.number(min), f.number(max))
    return fault === 'min' ? t.atLeast(f.number(min ?? 0)) : t.atMost(f.number(max ?? 0))
  }
}

/** useUntilChanged gives what the server said about a number as long as that number stands there. */
function useUntilChanged(error: NumberInputProps['error'], shown: number | string): NumberInputProps['error'] {
  const [of, setOf] = useState({ error, shown })
  if (of.error !== error) setOf({ error, shown })
  return of.error === error && of.shown !== shown ? undefined : error
}

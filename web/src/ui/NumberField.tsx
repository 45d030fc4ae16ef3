import { TextInput, type TextInputProps } from '@mantine/core'
import { type KeyboardEvent, useState } from 'react'
import { useText } from '../text/catalogue'
import { useFormat } from '../text/format'
import { uiText } from '../text/ui'
import { type Bounds, type Fault, faultOf, figureOf, largest } from './bounds'
import { decimalsOf, grouping, type Marks, readFigure } from './decimals'
import { ChevronDown, ChevronUp } from './icons'

type Props = Omit<TextInputProps, 'value' | 'onChange' | 'onBlur' | 'onKeyDown' | 'min' | 'max' | 'type' | 'rightSection'> & Bounds & {
  value: number | string
  onChange: (value: number | '') => void
  /** decimalScale is how many decimals there may be. */
  decimalScale?: number
  /** allowedDecimalSeparators is commaOrPoint for a number that is no amount. */
  allowedDecimalSeparators?: string[]
  /** amountIn is the currency of an amount, which has two decimals at most and commas between thousands. */
  amountIn?: string
  /** suffix is the unit, with the space before it. */
  suffix?: string
  /** hideControls leaves out the buttons for one more and one less. The arrow keys do the same. */
  hideControls?: boolean
}

/**
 * NumberField is every field of numbers. It says beside the number what is wrong with it, and never puts another one in
 * its place: nobody looks again at what was typed. A Form with a fault is not sent. What was typed stands as it is until
 * the field is left, and longer when it is no number.
 */
export function NumberField(props: Props) {
  const { value, onChange, min, max, whole, amountIn, decimalScale = amountIn ? 2 : undefined, allowedDecimalSeparators, suffix, hideControls, error, ...others } = props
  const bounds = { min, max, whole }
  const marks: Marks = { comma: allowedDecimalSeparators?.includes(','), decimals: decimalScale, whole, unit: suffix ?? amountIn }
  const written = (n: number | '', typed?: number) =>
    n === '' ? '' : grouping(n, { decimals: decimalScale, typed, thousands: Boolean(amountIn) }) + (suffix ?? '')
  const { text, touched, type, settle } = useTyped(value, () => written(figureOf(value)))
  const [judged, setJudged] = useState(true)
  const fault = touched && others.required && figureOf(text, marks) === '' && text.trim() === '' ? 'required' : faultOf(text, bounds, marks)
  const words = useFaultWords(bounds, marks)
  const refused = useUntilChanged(error, text)
  const put = (next: string) => {
    type(next)
    onChange(figureOf(next, marks))
  }
  const step = (by: number) => {
    if (fault && text.trim() !== '') return
    const next = (figureOf(text, marks) || 0) + by
    if (faultOf(next, bounds) === null) put(written(next))
  }
  const onKeyDown = (e: KeyboardEvent) => {
    if (e.key === 'Enter') setJudged(true)
    if (e.key !== 'ArrowUp' && e.key !== 'ArrowDown') return
    e.preventDefault()
    step(e.key === 'ArrowUp' ? 1 : -1)
  }
  return (
    <TextInput
      inputMode={whole ? 'numeric' : 'decimal'}
      autoComplete="off"
      {...others}
      value={text}
      // What is typed takes the place of what the field has.
      onFocus={(e) => e.currentTarget.select()}
      onChange={(e) => {
        setJudged(false)
        put(e.currentTarget.value)
      }}
      onBlur={() => {
        setJudged(true)
        if (!fault) settle(written(figureOf(text, marks), decimalsOf(text, marks)))
      }}
      onKeyDown={onKeyDown}
      rightSection={!hideControls && !others.disabled && <Steps onStep={step} />}
      rightSectionWidth={hideControls ? undefined : 24}
      error={fault && (judged || !isBeginning(text)) ? words(fault, text) : refused}
      data-fault={fault ?? undefined}
    />
  )
}

/** isBeginning: what is typed next may be the rest of a group of thousands. */
const isBeginning = (text: string) => /^-?[1-9]\d{0,2}([, ]\d{3})*[, ]\d{0,2}$/.test(text)

/** Steps are buttons for one more and one less. The keyboard has its arrows for that. */
function Steps({ onStep }: { onStep: (by: number) => void }) {
  return (
    <div className="number-steps" aria-hidden onMouseDown={(e) => e.preventDefault()}>
      <button type="button" tabIndex={-1} onClick={() => onStep(1)}><ChevronUp size={12} /></button>
      <button type="button" tabIndex={-1} onClick={() => onStep(-1)}><ChevronDown size={12} /></button>
    </div>
  )
}

/** useTyped keeps what was typed until the field is left, or until its form gives it another number. */
function useTyped(value: number | string, written: () => string) {
  const [typed, setTyped] = useState<{ text: string; for?: { value: number | string } } | null>(null)
  // What the form makes of the text comes with the same drawing.
  if (typed && !typed.for) setTyped({ ...typed, for: { value } })
  const kept = typed && (!typed.for || typed.for.value === value)
  return {
    text: kept ? typed.text : written(),
    touched: Boolean(kept),
    type: (text: string) => setTyped({ text }),
    settle: (text: string) => setTyped((t) => t && text ? { ...t, text } : null),
  }
}

/** useFaultWords says what is wrong with a number, and what to type instead. */
function useFaultWords({ min, max, whole }: Bounds, marks: Marks): (fault: Fault, text: string) => string {
  const t = useText(uiText)
  const f = useFormat()
  return (fault, text) => {
    if (fault === 'marks') {
      const read = readFigure(text, { ...marks, whole })
      return t.typeNumber(read.figure === null ? read.meant : [])
    }
    if (fault === 'required') return t.needed
    if (fault === 'number') return t.noNumber(whole ? '1500' : '1500.50')
    if (fault === 'decimals') return t.fewerDecimals(marks.decimals ?? 0)
    if (fault === 'whole') return t.notWhole
    if (min !== undefined && max !== undefined) return t.between(f.number(min), f.number(max))
    return fault === 'min' ? t.atLeast(f.number(min ?? -largest)) : t.atMost(f.number(max ?? largest))
  }
}

/** useUntilChanged gives what the server said about a number as long as that number stands there. */
function useUntilChanged(error: TextInputProps['error'], shown: string): TextInputProps['error'] {
  const [of, setOf] = useState({ error, shown })
  if (of.error !== error) setOf({ error, shown })
  return of.error === error && of.shown !== shown ? undefined : error
}

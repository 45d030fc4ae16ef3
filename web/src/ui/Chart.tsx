import { useComputedColorScheme } from '@mantine/core'
import { useElementSize } from '@mantine/hooks'
import { useEffect, useMemo, useRef } from 'react'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { catalogue, useText } from '../text/catalogue'
import { useFormat } from '../text/format'

const texts = catalogue({ at: 'When' }, { at: 'Wakati' })

/** Series is one line or row of bars of a chart. */
export interface Series {
  label: string
  values: (number | null)[]
  /** color is one of the theme's, such as "var(--chart-1)". */
  color: string
  bars?: boolean
}

/** Mark is an event on a chart's time axis. */
export interface Mark {
  at: number
  label: string
  color: string
}

const css = (name: string) => {
  const inner = /^var\((--[^)]+)\)$/.exec(name)?.[1]
  return inner ? getComputedStyle(document.documentElement).getPropertyValue(inner).trim() || '#888' : name
}

/** Chart draws values over time, with marks for what happened. Its page shows the same figures as text or table, too. */
export function Chart({ times, series, marks = [], height = 200, write, label }: {
  /** times in milliseconds, ascending. */
  times: number[]
  series: Series[]
  marks?: Mark[]
  height?: number
  /** write gives a value with its unit. */
  write: (value: number) => string
  label: string
}) {
  const f = useFormat()
  const t = useText(texts)
  const scheme = useComputedColorScheme()
  const { ref: frame, width } = useElementSize()
  const host = useRef<HTMLDivElement>(null)
  const data = useMemo(() => [times.map((ms) => ms / 1000), ...series.map((s) => s.values)] as uPlot.AlignedData, [times, series])
  useEffect(() => {
    if (!host.current || width < 50) return
    const axis = css('var(--mantine-color-dimmed)')
    const grid = { stroke: css('var(--line)'), width: 1 }
    const plot = new uPlot(
      {
        width,
        height,
        legend: { live: true },
        cursor: { points: { size: 6 } },
        tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), f.zone.timezone),
        scales: { x: { range: (_, min, max) => sides(times, series.some((s) => s.bars), min, max) }, y: { range: (_, min, max) => [Math.min(0, min ?? 0), (max ?? 1) * 1.05 || 1] } },
        axes: [
          {
            stroke: axis, grid: { show: false }, ticks: grid, space: 64,
            values: (_, splits, _axis, _space, step) => splits.map((s) => (step < 86_400 ? f.time(s * 1000) : f.dayOfYear(s * 1000))),
          },
          { stroke: axis, grid, ticks: { show: false }, size: 64, values: (_, splits) => splits.map(write) },
        ],
        series: [
          { label: t.at, value: (_, seconds) => (seconds === null ? '–' : f.short(seconds * 1000)) },
          ...series.map((s): uPlot.Series => ({
            label: s.label,
            stroke: css(s.color),
            fill: s.bars ? `${css(s.color)}55` : undefined,
            paths: s.bars ? uPlot.paths.bars!({ size: [0.7, 40] }) : undefined,
            points: { show: false },
            value: (_, v) => (v === null ? '–' : write(v)),
          })),
        ],
        hooks: { draw: [(u) => drawMarks(u, marks)] },
      },
      data,
      host.current,
    )
    return () => plot.destroy()
  }, [data, times, series, marks, width, height, write, f, t, scheme]) // a canvas does not follow the scheme's colours
  return (
    <div ref={frame} className="chart" role="img" aria-label={label} style={{ minHeight: height + 32 }}>
      <div ref={host} />
    </div>
  )
}

// Bars stand in the middle of their time: the first and the last need room for their half.
function sides(times: number[], bars: boolean, min: number, max: number): [number, number] {
  const half = bars && times.length > 1 ? (max - min) / (times.length - 1) / 2 : 0
  return [min - half, max + half]
}

function drawMarks(u: uPlot, marks: Mark[]) {
  const { ctx, bbox } = u
  ctx.save()
  ctx.lineWidth = devicePixelRatio
  ctx.setLineDash([4, 3])
  for (const m of marks) {
    const x = u.valToPos(m.at / 1000, 'x', true)
    if (x < bbox.left || x > bbox.left + bbox.width) continue
    ctx.strokeStyle = css(m.color)
    ctx.beginPath()
    ctx.moveTo(x, bbox.top)
    ctx.lineTo(x, bbox.top + bbox.height)
    ctx.stroke()
  }
  ctx.restore()
}

/** Spark draws a small line of values, from the oldest to the newest; null is a gap. */
export function Spark({ values, label, max }: { values: (number | null)[]; label: string; max?: number }) {
  const width = 96
  const height = 20
  const top = Math.max(max ?? 0, 1, ...values.map((v) => v ?? 0))
  const step = width / Math.max(1, values.length - 1)
  let path = ''
  let pen = false
  values.forEach((v, i) => {
    if (v === null) {
      pen = false
      return
    }
    path += `${pen ? 'L' : 'M'}${(i * step).toFixed(1)} ${(height - 1 - (v / top) * (height - 2)).toFixed(1)}`
    pen = true
  })
  return (
    <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`} role="img" aria-label={label} className="spark">
      <path d={path} fill="none" stroke="currentColor" strokeWidth="1.5" />
    </svg>
  )
}

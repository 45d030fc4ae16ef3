import type { Shape } from '../../api/types'

type Resource = Shape<'ResourceDrift'>

/** Line is one field of a resource: as it should be and as it is; null = not there. */
interface Line {
  field: string
  expected: string | null
  actual: string | null
  differs: boolean
}

/** linesOf sets both sides of a resource beside each other, the fields that differ first. */
export function linesOf({ expected, actual }: Pick<Resource, 'expected' | 'actual'>): Line[] {
  const fields = [...new Set([...Object.keys(expected ?? {}), ...Object.keys(actual ?? {})])]
  const lines = fields.map((field) => {
    const [should, is] = [expected?.[field] ?? null, actual?.[field] ?? null]
    return { field, expected: should, actual: is, differs: should !== is }
  })
  return [...lines.filter((l) => l.differs), ...lines.filter((l) => !l.differs)]
}

/** countOf counts what a repair of these resources writes: what is added, put back and removed. */
export function countOf(resources: Pick<Resource, 'kind'>[]): { missing: number; changed: number; gone: number } {
  const of = (...kinds: Resource['kind'][]) => resources.filter((r) => kinds.includes(r.kind)).length
  return { missing: of('missing'), changed: of('changed'), gone: of('extra', 'orphan') }
}

/**
 * ratesOf reads a limit of a queue, "upload/download" in bits a second, as download and upload in kbit/s; null = none.
 * RouterOS also writes 5M and 512k.
 */
export function ratesOf(limit: string): { down: number | null; up: number | null } {
  const [up, down] = limit.split('/').map((part) => {
    const read = /^(\d+(?:\.\d+)?)([kMG]?)$/.exec(part.trim())
    if (!read) return null
    const factor = { '': 0.001, k: 1, M: 1000, G: 1_000_000 }[read[2] as '' | 'k' | 'M' | 'G']
    return Number(read[1]) * factor || null
  })
  return { down: down ?? null, up: up ?? null }
}

import { encode } from 'uqr'

/** Drawn is a QR code as one path of an SVG whose sides have `size` units, its quiet border included. */
export interface Drawn {
  size: number
  path: string
}

/** border is the quiet zone that readers need, in units. */
const border = 4

/** drawQR draws a text in this browser: no server that makes pictures learns of it. */
export function drawQR(text: string): Drawn {
  const { data, size } = encode(text, { ecc: 'M', border })
  const runs: string[] = []
  data.forEach((row, y) => {
    for (let x = 0; x < row.length; x++) {
      if (!row[x]) continue
      const from = x
      while (row[x + 1]) x++
      runs.push(`M${from} ${y}h${x + 1 - from}v1h-${x + 1 - from}z`)
    }
  })
  return { size, path: runs.join('') }
}

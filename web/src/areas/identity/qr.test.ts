import { expect, test } from 'vitest'
import { drawQR } from './qr'

const uri = 'otpauth://totp/Acme:ada%40acme.test?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&issuer=Acme&algorithm=SHA1&digits=6&period=30'

/** unitsOf reads the path back into the squares that are dark. */
function unitsOf(path: string): Set<string> {
  const dark = new Set<string>()
  for (const [, x, y, w] of path.matchAll(/M(\d+) (\d+)h(\d+)v1h-\d+z/g)) {
    for (let i = 0; i < Number(w); i++) dark.add(`${Number(x) + i} ${y}`)
  }
  return dark
}

test('a secret is drawn with the three corners by which readers find a code, and a quiet border', () => {
  const { size, path } = drawQR(uri)
  const dark = unitsOf(path)
  for (const [left, top] of [[4, 4], [size - 11, 4], [4, size - 11]] as const) {
    for (let i = 0; i < 7; i++) {
      for (const unit of [`${left + i} ${top}`, `${left + i} ${top + 6}`, `${left} ${top + i}`, `${left + 6} ${top + i}`]) {
        expect(dark.has(unit)).toBe(true)
      }
    }
    expect(dark.has(`${left + 1} ${top + 1}`)).toBe(false)
    expect(dark.has(`${left + 3} ${top + 3}`)).toBe(true)
  }
  for (const unit of dark) {
    for (const at of unit.split(' ').map(Number)) {
      expect(at).toBeGreaterThanOrEqual(4)
      expect(at).toBeLessThan(size - 4)
    }
  }
})

test('another secret is another picture, and the same one the same', () => {
  expect(drawQR(uri)).toEqual(drawQR(uri))
  expect(drawQR(uri).path).not.toBe(drawQR(uri.replace('JBSWY', 'KBSWY')).path)
})

import { describe, expect, it, vi } from 'vitest'
import { columnOf, failedRows, faultTable } from './told'

vi.hoisted(() => {
  vi.stubGlobal('localStorage', { getItem: () => 'en' })
  vi.stubGlobal('document', { documentElement: {} })
})

const { importsText } = await import('../../text/imports')

describe('what is told of an import', () => {
  it('counts rows with faults without those whose customers are here', () => {
    expect(failedRows({ rows: 10, valid: 3, skipped: 5 })).toBe(2)
    expect(failedRows({ rows: 4, valid: 0, skipped: 4 })).toBe(0)
  })

  it('names the column as the file does, in the saved table too', () => {
    const faults = [
      { row: 3, field: 'openingBalance', column: 'Opening Balance', message: 'must be a number' },
      { row: 4, field: 'phone', column: null, message: 'is wrong' },
      { row: 5, field: '', column: null, message: 'has more cells than the header' },
    ]
    expect(faults.map(columnOf)).toEqual(['Opening Balance', 'phone', ''])
    expect(faultTable(['Row', 'Column', 'What'], faults)).toEqual([
      ['Row', 'Column', 'What'], ['3', 'Opening Balance', 'must be a number'], ['4', 'phone', 'is wrong'],
      ['5', '', 'has more cells than the header'],
    ])
  })

  it('says in both languages who is here already, and whose columns a file has', () => {
    expect(importsText.en.here(1)).toBe('1 customer is here already and is left out')
    expect(importsText.en.here(1200)).toBe('1,200 customers are here already and are left out')
    expect(importsText.sw.here(2)).toBe('Wateja 2 wapo tayari na wanaachwa')
    for (const words of [importsText.en, importsText.sw]) {
      expect(words.looksLike(words.sources.phpnuxbill)).toContain('PHPNuxBill')
    }
  })
})

/** Piece is a part of a text, with the mark whether it was typed. */
interface Piece {
  text: string
  hit: boolean
}

// Large and small letters, and letters with and without accents, are the same to the search. One letter stays one, so
// that positions hold.
const folded = (c: string) => c.normalize('NFD').charAt(0).toLowerCase()
const counts = (c: string) => /[\p{L}\p{N}]/u.test(c)

/** marked finds in a text what was typed: the beginnings of its words, or a number whatever stands between its digits. */
export function marked(text: string, typed: string): Piece[] {
  const letters = [...text]
  const fold = letters.map(folded)
  const hit = letters.map(() => false)
  for (const word of typed.split(/\s+/).filter(Boolean)) {
    const wanted = [...word].map(folded)
    for (let i = 0; i + wanted.length <= fold.length; i++) {
      const begins = i === 0 || !counts(fold[i - 1] ?? '')
      if (begins && wanted.every((c, j) => fold[i + j] === c)) hit.fill(true, i, i + wanted.length)
    }
  }
  if (!hit.includes(true)) markNumber(fold, typed, hit)
  const pieces: Piece[] = []
  letters.forEach((c, i) => {
    const last = pieces.at(-1)
    if (last && last.hit === hit[i]) last.text += c
    else pieces.push({ text: c, hit: hit[i] ?? false })
  })
  return pieces
}

// "0712 345" is a part of "+254 712 345678", and "aabbcc" of "AA:BB:CC:00:11:22".
function markNumber(fold: string[], typed: string, hit: boolean[]) {
  const at = fold.flatMap((c, i) => (counts(c) ? [i] : []))
  const bare = at.map((i) => fold[i]).join('')
  const whole = [...typed].map(folded).filter(counts).join('')
  if (whole.length < 3 || !/\d/.test(whole)) return
  for (const wanted of [whole, whole.replace(/^0+/, '')]) {
    const from = bare.lastIndexOf(wanted)
    if (wanted === '' || from < 0) continue
    hit.fill(true, at[from], (at[from + wanted.length - 1] ?? 0) + 1)
    return
  }
}

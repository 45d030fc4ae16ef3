// Syllables without letters that look or sound like others, so that a password can be said on the phone.
const consonants = 'bdfgkmprstvz'
const vowels = 'aeiou'

/**
 * readablePassword makes a password for the first sign-in of somebody else, such as "mado-kive-rusa-4827": 47 bits,
 * which nobody guesses in five tries. `random` gives numbers below a bound.
 */
export function readablePassword(random: (below: number) => number = secure): string {
  const pick = (of: string) => of[random(of.length)]!
  const word = () => pick(consonants) + pick(vowels) + pick(consonants) + pick(vowels)
  const digits = Array.from({ length: 4 }, () => String(2 + random(8)))
  return [word(), word(), word(), digits.join('')].join('-')
}

/** secure draws from the browser's generator, each number equally often. */
function secure(below: number): number {
  const limit = Math.floor(2 ** 32 / below) * below
  for (;;) {
    const n = crypto.getRandomValues(new Uint32Array(1))[0]!
    if (n < limit) return n % below
  }
}

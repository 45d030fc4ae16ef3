import type { Shape } from '../../api/types'
import type { Tone } from '../../ui/State'

type Campaign = Pick<Shape<'CpeCampaign'>, 'state' | 'failed'>

/** toneOfCampaign says whether a deployment needs somebody. */
export const toneOfCampaign = (c: Campaign): Tone =>
  c.state === 'stopped' ? 'bad' : c.failed > 0 ? 'attention' : c.state === 'finished' ? 'good' : 'quiet'

const tones: Record<Shape<'CpeCampaignDevice'>['state'], Tone> = {
  pending: 'quiet', sent: 'quiet', succeeded: 'good', failed: 'bad', skipped: 'quiet',
}

/** toneOfPart is how well a device of a deployment has done. */
export const toneOfPart = (d: Pick<Shape<'CpeCampaignDevice'>, 'state'>): Tone => tones[d.state]

/** lives reports whether a deployment changes by itself. */
export const lives = (c: Pick<Campaign, 'state'> | undefined): boolean => c?.state === 'running'

/** largest is the size up to which a file is taken, in bytes. */
export const largest = 64 * 1024 * 1024

/** fileNameOf makes a name that is taken of that of a file on somebody's disk. */
export const fileNameOf = (name: string): string => name.replace(/[^A-Za-z0-9._-]+/g, '-').replace(/^-+|-+$/g, '').slice(0, 100)

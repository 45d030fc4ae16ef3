import type { Row } from '../../api/rows'

/** Owner is whose a device is to be. */
export interface Owner {
  customer: Row<'/subscribers'> | null
  /** subscriptionId names one of several services; null = there are no several; undefined = they are not read yet. */
  subscriptionId: string | null | undefined
}

/** noOwner is nobody. */
export const noOwner: Owner = { customer: null, subscriptionId: null }

const anId = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi

/** idIn finds the id in what was copied: the id itself, or the address of a page, whose last one it is; null = none. */
export const idIn = (text: string): string | null => text.match(anId)?.at(-1)?.toLowerCase() ?? null

/** loginsOf leaves the services whose login a device can have. */
export const loginsOf = <S extends Pick<Row<'/subscriptions'>, 'state'>>(all: S[]): S[] => all.filter((s) => s.state !== 'ended')

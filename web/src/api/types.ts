import type { components } from './schema.gen'

/** Shape is a named shape of the API. */
export type Shape<Name extends keyof components['schemas']> = components['schemas'][Name]

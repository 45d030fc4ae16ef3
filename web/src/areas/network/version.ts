import { useQuery } from '@tanstack/react-query'
import { client } from '../../api/client'
import type { Device, Service } from './words'

/** Version is a resource as it was read, with the tag by which a change of it names what it was made from. */
export interface Version<R> {
  of: R
  tag: string | null
}

/** useDeviceVersion reads a router for a form. */
export function useDeviceVersion(id: string) {
  return useQuery({
    queryKey: ['get', '/nas/devices/{id}', { params: { path: { id } } }, 'version'],
    gcTime: 0,
    queryFn: async ({ signal }): Promise<Version<Device>> => {
      const { data, response } = await client.GET('/nas/devices/{id}', { params: { path: { id } }, signal })
      return { of: data!, tag: response.headers.get('ETag') }
    },
  })
}

/** useServiceVersion reads a service for a form. */
export function useServiceVersion(id: string) {
  return useQuery({
    queryKey: ['get', '/nas/services/{id}', { params: { path: { id } } }, 'version'],
    gcTime: 0,
    queryFn: async ({ signal }): Promise<Version<Service>> => {
      const { data, response } = await client.GET('/nas/services/{id}', { params: { path: { id } }, signal })
      return { of: data!, tag: response.headers.get('ETag') }
    },
  })
}

/** matching is the header that has a change refused when the resource is no longer the one that was read. */
export const matching = (tag: string | null): { headers: Record<string, string> } => ({ headers: tag ? { 'If-Match': tag } : {} })

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { TestProject } from 'vitest/node'
import { patience } from './patience'

/** Addresses are where a demo listens, each without a slash at its end. */
export interface Addresses {
  isp: string
  root: string
  provider: string
  routers: string
  tax: string
  devices: string
}

declare module 'vitest' {
  interface ProvidedContext {
    programs: Addresses[]
  }
}

// So many files go at a time, each with a program that no other file uses meanwhile.
const atATime = 2

/** setup starts demos of its own on free ports, or takes the one at LASTMILE_AT that somebody has started. */
export default async function setup(project: TestProject) {
  const running = process.env.LASTMILE_AT
  if (running) {
    project.provide('programs', [addressesBeside(running)])
    return
  }
  const { testFiles } = await project.globTestFiles(process.argv.filter((a) => a.startsWith('flows/')))
  const programs = Array.from({ length: Math.min(atATime, testFiles.length) }, start)
  const stop = async () => {
    await Promise.all(programs.map((p) => p.stop()))
  }
  try {
    project.provide('programs', await Promise.all(programs.map((p) => p.addresses)))
  } catch (cause) {
    await stop()
    throw cause
  }
  return stop
}

/** start starts a demo with a directory of its own. */
function start() {
  const dir = mkdtempSync(join(tmpdir(), 'lastmile-flows-'))
  const child = spawn(resolve(process.env.LASTMILE_BIN ?? '../bin/lastmile'), ['demo'], {
    env: { ...process.env, ...ports, DATA_DIR: join(dir, 'data') },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGTERM')
      await once(child, 'exit')
    }
    await rm(dir, { recursive: true, force: true })
  }
  return { addresses: printed(child), stop }
}

const free = '127.0.0.1:0'

// Free ports, and limits that a browser without pauses does not meet.
const ports = {
  HTTP_ADDR: free,
  EVENTSTORE_ADDR: free,
  RADIUS_AUTH_ADDR: free,
  RADIUS_ACCT_ADDR: free,
  WALLED_GARDEN_ADDR: free,
  RATE_LIMIT_USER: '100000',
  RATE_LIMIT_LOGIN: '10000',
}

/** printed waits for the screen that the demo prints when its data is there, and reads the addresses from it. */
function printed(child: ChildProcess): Promise<Addresses> {
  return new Promise((done, failed) => {
    let screen = ''
    const timer = setTimeout(() => failed(new Error(`The demo did not start in time:\n${screen}`)), patience)
    child.on('error', failed)
    child.on('exit', (code) => failed(new Error(`The demo ended with ${code}:\n${screen}`)))
    child.stdout?.on('data', (part: Buffer) => {
      screen += part.toString()
      const at = (name: string) => new RegExp(`${name} +(http://[^/\\s]+)`).exec(screen)?.[1]
      const [root, isp, provider, routers, tax, devices] = [
        'Platform \\(super_admin\\)', 'Demo ISP', 'Payment provider', 'Routers', 'Tax authority', "Customers' devices",
      ].map(at)
      if (!root || !isp || !provider || !routers || !tax || !devices || !screen.includes('What to try')) return
      clearTimeout(timer)
      done({ root, isp, provider, routers, tax, devices })
    })
  })
}

/**
 * addressesBeside gives the addresses of a demo whose ISP is at an address. Where its simulators are not at their usual
 * ones, LASTMILE_PROVIDER, LASTMILE_ROUTERS, LASTMILE_TAX and LASTMILE_DEVICES say so: flows change what they simulate.
 */
function addressesBeside(isp: string): Addresses {
  const url = new URL(isp)
  return {
    isp: url.origin,
    root: `http://${url.host.slice(url.host.indexOf('.') + 1)}`,
    provider: process.env.LASTMILE_PROVIDER ?? 'http://127.0.0.1:8090',
    routers: process.env.LASTMILE_ROUTERS ?? 'http://127.0.0.1:8091',
    tax: process.env.LASTMILE_TAX ?? 'http://127.0.0.1:8093',
    devices: process.env.LASTMILE_DEVICES ?? 'http://127.0.0.1:8096',
  }
}

package commands

import (
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// Job has the arguments of one call to an outside system, made by a worker of jobs/<area>. They are ids only, never
// phones, codes or texts (docs/rules/engine.md#jobs). Each job is a struct in <area>_jobs.go.
type Job interface {
	// Kind is the durable name of the job: rows of the queue have it, so it never changes.
	Kind() string
}

// OnDevice is a job that calls one router or CPE. The queue lets devices that do not answer take few of its places.
type OnDevice interface {
	Job
	Device() id.Device
}

// Timed is a job that runs from an instant on; zero = at once.
type Timed interface {
	Job
	From() time.Time
}

// Yielding is a job of which some come in thousands at once, and that lets others of its organization in its queue go
// first.
type Yielding interface {
	Job
	// Yields reports whether the job stands behind those of its organization in its queue that do not yield.
	Yields() bool
}

// Asked is a job that may be asked for again while the one that was asked for before still waits for its turn: a
// process cannot see the queue when no report came in time. The queue keeps one job of a kind and a request that waits
// or runs. One that has ended, or whose row was lost, is no obstacle.
type Asked interface {
	Job
	// Request names what is asked for. It holds ids only; "" is the job alone, whose id says which one it is.
	Request() string
}

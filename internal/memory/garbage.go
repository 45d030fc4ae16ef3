package memory

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strings"
)

// Garbage says how much of it may lie about before it is collected: so much in percent of what is in use, and at least
// so many bytes, or an eighth of the memory where that is less. Near the limit, if there is one, it is collected in any
// case: a percentage that was right for little is followed for a moment when much comes at once.
type Garbage struct {
	percent int
	least   int64
	limit   int64 // bytes that the program is to take in all; 0 = none
}

// OfProgram is for the whole program. A collection takes a quarter of the processors and more for as long as it lasts.
// With the percentage alone a program that uses little collects several times a second in a storm of packets, and the
// packets wait.
var OfProgram = Garbage{percent: 200, least: 2 << 30}

// OfNode is for an event store node alone, which has a bound of its own on its memory.
var OfNode = Garbage{percent: 100, least: 64 << 20, limit: 384 << 20}

// Where the least garbage follows from the memory of the machine.
const (
	memoryShare    = 8
	unknownGarbage = 64 << 20 // where the size of the memory cannot be found out
)

// CollectSeldom makes the program collect its garbage as seldom as it may. Values that the environment has for GOGC and
// GOMEMLIMIT go before its own.
func CollectSeldom(environ []string, allowed Garbage) {
	set := func(name string) bool {
		return slices.ContainsFunc(environ, func(e string) bool { return strings.HasPrefix(e, name+"=") })
	}
	if allowed.limit > 0 && !set("GOMEMLIMIT") {
		debug.SetMemoryLimit(allowed.limit)
	}
	if set("GOGC") {
		return
	}
	c := collector{allowed.with(Limit("/"))}
	debug.SetGCPercent(c.percent)
	c.watch()
}

// with is the garbage that is allowed on a machine with so much memory; 0 = not known.
func (g Garbage) with(memory int64) Garbage {
	if memory == 0 {
		memory = unknownGarbage * memoryShare
	}
	return Garbage{g.percent, min(g.least, memory/memoryShare), g.limit}
}

// collector sets the percentage of the runtime after each collection.
type collector struct{ Garbage }

// watch runs adjust after the next collection, and watches again: the runtime tells the end of a collection by the
// objects that it has found unused.
func (c collector) watch() {
	type unused [64]byte // larger than what the runtime puts together in one block
	runtime.AddCleanup(&unused{}, func(c collector) {
		c.adjust()
		c.watch()
	}, c)
}

// adjust sets the percentage for what the last collection has left.
func (c collector) adjust() {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	if live[0].Value.Kind() != metrics.KindUint64 {
		return
	}
	debug.SetGCPercent(c.over(int64(live[0].Value.Uint64()))) //nolint:gosec // bytes of this program
}

// over is the garbage that may lie about, in percent of what is in use, so that it is least at least.
func (g Garbage) over(live int64) int {
	return int(max(int64(g.percent), g.least*100/max(live, 1<<20)))
}

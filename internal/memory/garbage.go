package memory

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
)

// How much garbage may lie about before it is collected: twice what is in use, and at least leastGarbage, or an eighth
// of the memory where that is less. A collection takes a quarter of the processors and more for as long as it lasts.
// With twice alone a program that uses little collects several times a second in a storm of packets, and the packets
// wait.
const (
	garbagePercent = 200
	leastGarbage   = 2 << 30
	memoryShare    = 8
	unknownGarbage = 64 << 20 // where the size of the memory cannot be found out
)

// CollectSeldom makes the program collect its garbage as seldom as its memory allows. It does nothing where the
// environment has a value for GOGC; GOMEMLIMIT bounds it.
func CollectSeldom(environ []string) {
	for _, e := range environ {
		if strings.HasPrefix(e, "GOGC=") {
			return
		}
	}
	c := collector{least: least(Limit("/"))}
	debug.SetGCPercent(garbagePercent)
	c.watch()
}

// least is the garbage in bytes that is left about at least, on a machine with so much memory; 0 = not known.
func least(memory int64) int64 {
	if memory == 0 {
		return unknownGarbage
	}
	return min(leastGarbage, memory/memoryShare)
}

// collector sets the percentage of the runtime after each collection.
type collector struct {
	least int64
}

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
	debug.SetGCPercent(percent(int64(live[0].Value.Uint64()), c.least)) //nolint:gosec // bytes of this program
}

// percent is the garbage that may lie about, in percent of what is in use, so that it is least at least.
func percent(live, least int64) int {
	return int(max(garbagePercent, least*100/max(live, 1<<20)))
}

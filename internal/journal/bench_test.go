package journal

import (
	"os"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// countedFile counts the syncs of its journal.
type countedFile struct {
	diskFile
	syncs *atomic.Int64
}

// Sync adds one to the count before it syncs, also when it fails.
func (f countedFile) Sync() error {
	f.syncs.Add(1)
	return f.diskFile.Sync()
}

// BenchmarkAppend measures groups of 20 records of 300 octets as they come in a power cut, each taken 100 groups later.
// The syncs and the processor are those of the whole journal.
func BenchmarkAppend(b *testing.B) {
	var syncs atomic.Int64
	j, err := Open(b.Context(), Config{Dir: b.TempDir(), open: func(path string, flags int) (file, error) {
		f, err := os.OpenFile(path, flags, 0o600)
		return countedFile{diskFile{f}, &syncs}, err
	}}, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer j.Close()
	group := slices.Repeat([][]byte{make([]byte, 300)}, 20)
	var waiting [][]Place
	var took []time.Duration
	syncs.Store(0)
	before := processor(b)
	for b.Loop() {
		began := time.Now()
		places, err := j.Append(group...)
		if err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(began))
		if waiting = append(waiting, places); len(waiting) > 100 {
			if err := j.Taken(waiting[0]...); err != nil {
				b.Fatal(err)
			}
			waiting = waiting[1:]
		}
	}
	groups := float64(len(took))
	slices.Sort(took)
	b.ReportMetric(float64(syncs.Load())/groups, "syncs/group")
	b.ReportMetric(float64((processor(b)-before).Microseconds())/groups, "cpu-µs/group")
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
}

// processor is the time that the program has had of it.
func processor(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

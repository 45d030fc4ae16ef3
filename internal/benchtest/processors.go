package benchtest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// ReportProcessors runs a measurement of one turn, which gives a rate, once more. It reports how much processor time
// each of what it counts takes: in this program, with the clients that are in it, and in all processes of the
// database's server, which has to run on this machine. It reports what it can find out, so a figure may be missing.
func ReportProcessors(b *testing.B, pool *pgxpool.Pool, measured func() float64) {
	b.Helper()
	Processors(b, pool, measured).report(b)
}

// ReportProcessorsWithin is ReportProcessors with the most that both figures may be together, and most/got as their
// ratio, of which 1 is wanted. Without the figure of the database there is no ratio. Microseconds are a property of a
// machine, so that most has to be one for the machine.
func ReportProcessorsWithin(b *testing.B, pool *pgxpool.Pool, most float64, measured func() float64) {
	b.Helper()
	b.ReportMetric(0, "ns/op") // removes the time per round, which has no meaning here
	each := Processors(b, pool, measured)
	each.report(b)
	b.ReportMetric(most, "limit_us")
	if each.Database > 0 {
		report(b, most/each.Both(), 1)
	}
}

// Used is processor time in microseconds for each of what was counted. A Database of 0 is not known.
type Used struct{ Program, Database float64 }

// Both is the sum.
func (u Used) Both() float64 { return u.Program + u.Database }

// report leaves out what is not known.
func (u Used) report(b *testing.B) {
	b.ReportMetric(u.Program, "program_us")
	if u.Database > 0 {
		b.ReportMetric(u.Database, "postgresql_us")
	}
}

// Processors measures what ReportProcessors reports.
func Processors(b *testing.B, pool *pgxpool.Pool, measured func() float64) Used {
	b.Helper()
	server := serverOf(b, pool)
	before, own := used(server), ownTime()
	count := measured() * Turn(b).Seconds()
	found := Used{Program: float64((ownTime() - own).Microseconds()) / count}
	if database := used(server) - before; server != 0 && database > 0 {
		found.Database = float64(database.Microseconds()) / count
	}
	return found
}

// ownTime is the processor time of this program so far.
func ownTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// serverOf is the process that has started a backend of the pool; 0 when it cannot be found.
func serverOf(b *testing.B, pool *pgxpool.Pool) (pid int) {
	b.Helper()
	var backend int
	if err := pool.QueryRow(b.Context(), `select pg_backend_pid()`).Scan(&backend); err != nil {
		b.Fatal(err)
	}
	return parentOf(backend)
}

// parentOf is the process that has started another one; 0 when that is not known.
func parentOf(pid int) (parent int) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	// Behind the name, which may have any character: state and parent.
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if len(fields) > 1 {
		parent, _ = strconv.Atoi(string(fields[1]))
	}
	return parent
}

// used is the processor time of a server and its backends so far.
func used(server int) (all time.Duration) {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		pid, err := strconv.Atoi(filepath.Base(dir))
		if err != nil || pid != server && parentOf(pid) != server {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, "schedstat"))
		if fields := bytes.Fields(text); err == nil && len(fields) > 0 {
			nanoseconds, _ := strconv.ParseInt(string(fields[0]), 10, 64)
			all += time.Duration(nanoseconds)
		}
	}
	return all
}

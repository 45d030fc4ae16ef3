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
	server := serverOf(b, pool)
	before, own := used(server), ownTime()
	count := measured() * Turn(b).Seconds()
	b.ReportMetric(float64((ownTime()-own).Microseconds())/count, "program_us")
	if database := used(server) - before; server != 0 && database > 0 {
		b.ReportMetric(float64(database.Microseconds())/count, "postgresql_us")
	}
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

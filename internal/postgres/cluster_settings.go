package postgres

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"

	"github.com/lastmile-isp/lastmile/internal/memory"
)

// Bounds of shared_buffers, in bytes. Between them it is a quarter of the memory that this program may use: the rest is
// for the kernel's cache and for this program.
const (
	leastBuffers   = 128 << 20
	mostBuffers    = 4 << 30
	unknownBuffers = 256 << 20 // where the size of the memory cannot be found out
	scratchBuffers = 128 << 20 // of a server for tests, which goes over all of them when it copies or drops a database
)

// serverCommand builds the server's command line. All settings are on it, so that an upgrade of this program changes
// them for existing clusters too. Nothing personal may reach the log: no statements, no parameters, no row details.
func (p place) serverCommand(cfg ClusterConfig, state clusterState) []string {
	args := []string{filepath.Join(p.bin, "postgres"), "-D", p.data}
	set := func(settings ...string) {
		for _, s := range settings {
			args = append(args, "-c", s)
		}
	}
	set("listen_addresses=127.0.0.1", "port="+strconv.Itoa(state.Port),
		"unix_socket_directories="+p.sockets, "unix_socket_permissions=0700",
		"max_connections="+strconv.Itoa(cfg.MaxConnections), "max_locks_per_transaction=256",
		"synchronous_commit=on", "jit=off", "random_page_cost=1.1", "timezone=UTC", "log_timezone=UTC",
		"log_min_error_statement=panic", "log_error_verbosity=terse", "log_parameter_max_length=0",
		"log_parameter_max_length_on_error=0", "log_statement=none", "logging_collector=off")
	if cfg.Scratch {
		// Tests make and drop thousands of tables. What is left of those in the catalogs costs every later one more,
		// until it is vacuumed; but each vacuum begins with a connection to a database, and many tests have one of
		// their own. They also make thousands of connections: SCRAM takes a third of the time of each. And
		// each would plan a statement five times before it kept a plan, though such small tables have but one.
		set("fsync=off", "full_page_writes=off", "autovacuum_naptime=20s", "autovacuum_vacuum_cost_delay=0",
			"max_wal_size=2GB", "wal_level=minimal", "max_wal_senders=0", "password_encryption=md5",
			"plan_cache_mode=force_generic_plan", "shared_buffers="+kilobytes(scratchBuffers))
		return args
	}
	set("password_encryption=scram-sha-256")
	// After each checkpoint, the first change of a page writes the whole page to the write-ahead log. So checkpoints
	// are rare, and these pages are compressed. In exchange the log takes up to max_wal_size, all of which is read
	// after a crash.
	set("fsync=on", "full_page_writes=on", "checkpoint_timeout=15min", "max_wal_size=4GB",
		"shared_buffers="+kilobytes(sharedBuffers(memory.Limit("/"))))
	if p.compression != "" {
		set(p.compression)
	}
	return args
}

// compressionSetting asks the server's program whether it can compress pages in the write-ahead log by lz4, which is a
// choice at its compilation; "" when it cannot.
func (p place) compressionSetting(ctx context.Context) string {
	const setting = "wal_compression=lz4"
	runtime.LockOSThread() // the parent-death signal belongs to the thread, not to the process
	defer runtime.UnlockOSThread()
	cmd := exec.CommandContext(ctx, filepath.Join(p.bin, "postgres"), "-C", "wal_compression", "-D", p.data, "-c",
		setting)
	cmd.Dir, cmd.Env, cmd.SysProcAttr = "/", serverEnv(), p.attributes()
	if cmd.Run() != nil {
		return ""
	}
	return setting
}

// sharedBuffers is the setting for a machine with so much memory, in bytes; 0 means that it is not known.
func sharedBuffers(memory int64) int64 {
	if memory == 0 {
		return unknownBuffers
	}
	return min(max(memory/4, leastBuffers), mostBuffers)
}

// kilobytes writes a size as PostgreSQL reads it.
func kilobytes(bytes int64) string { return fmt.Sprint(bytes>>10, "kB") }

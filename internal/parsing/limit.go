package parsing

import (
	"fmt"
	"runtime/debug"
	"time"

	"golang.org/x/sys/unix"
)

// Bounds of every child: of one stack in bytes, and how far it stands behind the program that serves.
const (
	childStack = 64 << 20
	childNice  = 10
)

// limit bounds the process that calls it. The kernel kills it at the end of its processor time; a page that it may not
// have ends it with a fatal error of Go's runtime. RLIMIT_DATA counts what is written to, also of memory maps; the
// address space is no measure, because Go reserves much more than it uses.
func limit(l Limits) error {
	debug.SetMaxStack(childStack)
	seconds := uint64(l.CPU / time.Second)
	for resource, most := range map[int]uint64{
		unix.RLIMIT_CPU: seconds, unix.RLIMIT_DATA: uint64(l.Memory), unix.RLIMIT_CORE: 0, unix.RLIMIT_FSIZE: 0,
	} {
		if err := unix.Setrlimit(resource, &unix.Rlimit{Cur: most, Max: most}); err != nil {
			return fmt.Errorf("limit %d to %d: %w", resource, most, err)
		}
	}
	if err := unix.Setpriority(unix.PRIO_PROCESS, 0, childNice); err != nil {
		return fmt.Errorf("lower the priority: %w", err)
	}
	return nil
}

// Package memory finds how much memory the program may use, and lets a part of it be garbage.
package memory

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Limit is the memory in bytes that this program may use: that of the machine, or less in a container; 0 when the
// system does not say it. root is "/" outside of tests.
func Limit(root string) int64 {
	limit := int64(0)
	lower := func(text string, unit int64) {
		n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
		if err == nil && n > 0 && n < 1<<62/unit && (limit == 0 || n*unit < limit) {
			limit = n * unit
		}
	}
	info, _ := os.ReadFile(filepath.Join(root, "proc/meminfo"))
	for _, line := range strings.Split(string(info), "\n") {
		if rest, ok := strings.CutPrefix(line, "MemTotal:"); ok {
			lower(strings.TrimSuffix(strings.TrimSpace(rest), "kB"), 1<<10)
		}
	}
	for _, file := range []string{"sys/fs/cgroup/memory.max", "sys/fs/cgroup/memory/memory.limit_in_bytes"} {
		if text, err := os.ReadFile(filepath.Join(root, file)); err == nil {
			lower(string(text), 1)
		}
	}
	return limit
}

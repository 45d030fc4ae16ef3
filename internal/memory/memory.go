// Package memory finds how much memory the program may use, and lets a part of it be garbage.
package memory

import (
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

// Limit is the memory in bytes that this program may use: that of the machine, or less in a container or as a service
// with a limit; 0 when the system does not say it. root is "/" outside of tests.
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
	for _, file := range limits(root) {
		if text, err := os.ReadFile(file); err == nil {
			lower(string(text), 1)
		}
	}
	return limit
}

// limits are the files with the limits of the control groups that this program is in: of its own group and of each one
// around it. Where the system shows only a part of the tree, as in a container, that part's root is the group.
func limits(root string) (files []string) {
	own := map[string]string{"": "/", "memory": "/"} // by controller; "" = all, in version 2
	list, _ := os.ReadFile(filepath.Join(root, "proc/self/cgroup"))
	for _, line := range strings.Split(string(list), "\n") {
		if fields := strings.SplitN(line, ":", 3); len(fields) == 3 {
			for _, controller := range strings.Split(fields[1], ",") {
				own[controller] = path.Clean("/" + fields[2])
			}
		}
	}
	for _, at := range around(own[""]) {
		at = filepath.Join(root, "sys/fs/cgroup", at)
		files = append(files, filepath.Join(at, "memory.max"), filepath.Join(at, "memory.high"))
	}
	for _, at := range around(own["memory"]) {
		files = append(files, filepath.Join(root, "sys/fs/cgroup/memory", at, "memory.limit_in_bytes"))
	}
	return files
}

// around are a group and those around it, up to the root.
func around(group string) (all []string) {
	for ; group != "/"; group = path.Dir(group) {
		all = append(all, group)
	}
	return append(all, "/")
}

package memory

import (
	"os"
	"path/filepath"
	"testing"
)

func TestLimit_IsThatOfTheMachineOrOfTheContainer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		meminfo, cgroup string
		want            int64
	}{
		{"MemTotal:        8388608 kB\nMemFree: 1 kB\n", "max\n", 8 << 30},
		{"MemTotal:        8388608 kB\n", "1073741824\n", 1 << 30},
		{"MemTotal:        8388608 kB\n", "", 8 << 30},
		{"MemTotal:       67108864 kB\n", "9223372036854771712\n", 64 << 30},
		{"", "", 0},
	} {
		root := t.TempDir()
		for file, text := range map[string]string{"proc/meminfo": c.meminfo, "sys/fs/cgroup/memory.max": c.cgroup} {
			if err := os.MkdirAll(filepath.Dir(filepath.Join(root, file)), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(root, file), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got := Limit(root); got != c.want {
			t.Errorf("%q, %q: %d MB, want %d MB", c.meminfo, c.cgroup, got>>20, c.want>>20)
		}
	}
}

// TestLimit_IsTheLeastOfTheGroupsThatTheProgramIsIn: as of a service of systemd with MemoryMax, or in a slice with it.
func TestLimit_IsTheLeastOfTheGroupsThatTheProgramIsIn(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		groups string // what the system says of this program
		limits map[string]string
		want   int64
	}{
		"own group": {"0::/system.slice/lastmile.service\n", map[string]string{
			"system.slice/memory.max": "max\n", "system.slice/lastmile.service/memory.max": "536870912\n",
			"system.slice/other.service/memory.max": "1048576\n",
		}, 512 << 20},
		"slice": {"0::/isp.slice/lastmile.service\n", map[string]string{
			"isp.slice/memory.max": "268435456\n", "isp.slice/lastmile.service/memory.max": "536870912\n",
		}, 256 << 20},
		"slowed down": {"0::/lastmile.service\n", map[string]string{
			"lastmile.service/memory.max": "536870912\n", "lastmile.service/memory.high": "268435456\n",
		}, 256 << 20},
		"version 1": {"5:cpu,cpuacct:/\n4:memory:/system.slice/lastmile.service\n0::/init.scope\n", map[string]string{
			"memory/memory.limit_in_bytes":                               "9223372036854771712\n",
			"memory/system.slice/lastmile.service/memory.limit_in_bytes": "536870912\n",
		}, 512 << 20},
		"container that does not see its group": {"4:memory:/docker/1f0c\n", map[string]string{
			"memory/memory.limit_in_bytes": "536870912\n",
		}, 512 << 20},
		"outside of its part of the tree": {"0::/../other.service\n", map[string]string{
			"memory.max": "536870912\n",
		}, 512 << 20},
	} {
		root := t.TempDir()
		files := map[string]string{"proc/self/cgroup": c.groups, "proc/meminfo": "MemTotal: 16777216 kB\n"}
		for file, text := range c.limits {
			files["sys/fs/cgroup/"+file] = text
		}
		for file, text := range files {
			if err := os.MkdirAll(filepath.Dir(filepath.Join(root, file)), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(root, file), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got := Limit(root); got != c.want {
			t.Errorf("%s: %d MB, want %d MB", name, got>>20, c.want>>20)
		}
	}
}

// TestPercent_LeavesRoomToASmallProgramAndTwiceToALargeOne: and no more of a small machine than its share.
func TestPercent_LeavesRoomToASmallProgramAndTwiceToALargeOne(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		of           Garbage
		memory, live int64
		garbage      int64
	}{
		{OfProgram, 16 << 30, 128 << 20, 2 << 30}, {OfProgram, 16 << 30, 2 << 30, 4 << 30},
		{OfProgram, 8 << 30, 128 << 20, 1 << 30}, {OfProgram, 1 << 30, 32 << 20, 128 << 20},
		{OfProgram, 1 << 30, 512 << 20, 1 << 30}, {OfProgram, 0, 16 << 20, 64 << 20},
		{OfNode, 16 << 30, 16 << 20, 64 << 20}, {OfNode, 16 << 30, 200 << 20, 200 << 20},
	} {
		if got := c.live / 100 * int64(c.of.with(c.memory).over(c.live)); got > c.garbage || got < c.garbage*98/100 {
			t.Errorf("memory %d MB, in use %d MB: garbage %d MB, want %d MB", c.memory>>20, c.live>>20, got>>20,
				c.garbage>>20)
		}
	}
}

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

// TestPercent_LeavesRoomToASmallProgramAndTwiceToALargeOne: and no more of a small machine than its share.
func TestPercent_LeavesRoomToASmallProgramAndTwiceToALargeOne(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		memory, live int64
		garbage      int64
	}{
		{16 << 30, 128 << 20, 1 << 30}, {16 << 30, 1 << 30, 2 << 30}, {1 << 30, 32 << 20, 128 << 20},
		{1 << 30, 512 << 20, 1 << 30}, {0, 16 << 20, 64 << 20},
	} {
		if got := c.live / 100 * int64(percent(c.live, least(c.memory))); got > c.garbage || got < c.garbage*98/100 {
			t.Errorf("memory %d MB, in use %d MB: garbage %d MB, want %d MB", c.memory>>20, c.live>>20, got>>20,
				c.garbage>>20)
		}
	}
}

package networkjobs

import (
	"strings"
	"testing"

	"github.com/lastmile-isp/lastmile/gateways/routeros"
)

// TestLoadOf_KeepsWhatCanBe: a router's answers go into shared columns and events, so absurd values must not
// overflow them.
func TestLoadOf_KeepsWhatCanBe(t *testing.T) {
	t.Parallel()
	for name, item := range map[string]routeros.Item{
		"numbers too large": {
			"cpu-load": "99999999999999", "total-memory": "9223372036854775807", "free-memory": "-9223372036854775808",
			"uptime": "2147483647w2147483647w",
		},
		"numbers too small": {
			"cpu-load": "-5", "total-memory": "1", "free-memory": "9000000000000000000", "uptime": "-1w",
		},
		"texts too long": {
			"version": strings.Repeat("7.16\n", 1<<16), "board-name": strings.Repeat("é", 1<<16), "cpu-load": "x",
		},
	} {
		got := loadOf(item)
		if got.CPUPercent < 0 || got.CPUPercent > 100 || got.MemoryPercent < 0 || got.MemoryPercent > 100 ||
			got.UptimeSeconds < 0 ||
			len([]rune(got.Version)) > maxAbout || len([]rune(got.BoardName)) > maxAbout ||
			strings.Contains(got.Version, "\n") {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if got := loadOf(routeros.Item{"cpu-load": "7", "total-memory": "100", "free-memory": "93", "uptime": "1w2d",
		"version": "7.16 (stable)"}); got.MemoryPercent != 7 ||
		got.UptimeSeconds != 9*24*3600 || got.Version != "7.16 (stable)" {
		t.Errorf("%+v", got)
	}
}

package routerplan_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
)

// TestParseRateLimit_FirstIsTheUpload: the router receives what the customer sends.
func TestParseRateLimit_FirstIsTheUpload(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]routerplan.RateLimit{
		"5M/10M":                     {Up: 5_000, Down: 10_000},
		"10M":                        {Up: 10_000, Down: 10_000},
		"512k/2M":                    {Up: 512, Down: 2_000},
		"2048000/4096000":            {Up: 2_048, Down: 4_096},
		"1.5M/1500":                  {Up: 1_500, Down: 2},
		" 1G/1G  ":                   {Up: 1_000_000, Down: 1_000_000},
		"5M/10M 0/0":                 {Up: 5_000, Down: 10_000},
		"5M/10M 5M/10M":              {Up: 5_000, Down: 10_000}, // a burst that is none
		"5M/10M 0/0 0/0 0s/0s 8 0/0": {Up: 5_000, Down: 10_000},
		"5M/10M 10M/20M": {
			Up: 5_000, Down: 10_000, BurstUp: 10_000, BurstDown: 20_000, ThresholdUp: 5_000, ThresholdDown: 10_000,
			Seconds: 1,
		},
		"5M/10M 10M/20M 4M/8M 16/16 6": {
			Up: 5_000, Down: 10_000, BurstUp: 10_000, BurstDown: 20_000, ThresholdUp: 4_000, ThresholdDown: 8_000,
			Seconds: 16, More: true,
		},
		"5M/10M 5M/20M 4M/30M 10s/500ms 8 1M/2M": { // one direction has a burst, and a threshold above it
			Up: 5_000, Down: 10_000, BurstUp: 5_000, BurstDown: 20_000, ThresholdUp: 4_000, ThresholdDown: 20_000,
			Seconds: 10, More: true,
		},
		"5M/10M 10M/20M 4M/8M 2h": {
			Up: 5_000, Down: 10_000, BurstUp: 10_000, BurstDown: 20_000, ThresholdUp: 4_000, ThresholdDown: 8_000,
			Seconds: 300,
		},
	} {
		got, ok := routerplan.ParseRateLimit(text)
		if diff := cmp.Diff(want, got); diff != "" || !ok {
			t.Errorf("%q: %v (-want +got):\n%s", text, ok, diff)
		}
	}
}

// TestParseRateLimit_NoSpeedForBothDirectionsIsNone: somebody has to give it.
func TestParseRateLimit_NoSpeedForBothDirectionsIsNone(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", " ", "0/0", "0", "0/10M", "10M/0", "unlimited", "-5M/5M", "5M/", "/5M", "5M/10M/15M", "5T/5T", "1e9/1e9",
		"999999999G/1M", "99999999999999999999/1", "1M/1M 2M 3M 4 5 6 7", "10 M/10 M", "5M\x00/5M",
		"5M/10M fast", "5M/10M 10M/20M x", "5M/10M 10M/20M 4M/8M soon",
	} {
		if got, ok := routerplan.ParseRateLimit(text); ok || got != (routerplan.RateLimit{}) {
			t.Errorf("%q is %+v", text, got)
		}
	}
}

// FuzzParseRateLimit: what is read can always be a plan's.
func FuzzParseRateLimit(f *testing.F) {
	for _, text := range []string{"5M/10M 10M/20M 4M/8M 16/16 8 1M/2M", "0.000001k", "1/1 2/1 9/9 1w/1", "1M 2M 0 0"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		l, ok := routerplan.ParseRateLimit(text)
		if !ok {
			return
		}
		if l.Down < 1 || l.Up < 1 || l.Down > 100_000_000 || l.Up > 100_000_000 {
			t.Fatalf("%q is %+v", text, l)
		}
		if l.Seconds == 0 {
			if l.BurstDown+l.BurstUp+l.ThresholdDown+l.ThresholdUp != 0 {
				t.Fatalf("%q is %+v", text, l)
			}
			return
		}
		if l.Seconds < 1 || l.Seconds > 300 || l.BurstDown < l.Down || l.BurstUp < l.Up || l.ThresholdDown < 1 ||
			l.ThresholdUp < 1 || l.ThresholdDown > l.BurstDown || l.ThresholdUp > l.BurstUp {
			t.Fatalf("%q is %+v", text, l)
		}
	})
}

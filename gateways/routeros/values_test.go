package routeros_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/gateways/routeros"
)

func TestParseDuration_TakesAllForms(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		"1w2d3h4m5s": 9*24*time.Hour + 3*time.Hour + 4*time.Minute + 5*time.Second, "5m": 5 * time.Minute, "0s": 0,
		"500ms": 500 * time.Millisecond, "00:05:00": 5 * time.Minute,
		"1d02:03:04": 26*time.Hour + 3*time.Minute + 4*time.Second, "300": 5 * time.Minute,
		"1s100ms": 1100 * time.Millisecond, "1w00:00:01.5": 7*24*time.Hour + time.Second,
	} {
		if got, err := routeros.ParseDuration(text); err != nil || got != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "never", "none", "5x", "m", "1:2", "99999999999999w", "-5s", "1d2:99:00", " 5s"} {
		if got, err := routeros.ParseDuration(text); err == nil {
			t.Errorf("%q was read as %v", text, got)
		}
	}
}

func TestParseDate_TakesBothReleases(t *testing.T) {
	t.Parallel()
	want := time.Date(2026, 11, 20, 6, 0, 0, 0, time.UTC)
	for _, text := range []string{"2026-11-20 06:00:00", "nov/20/2026 06:00:00", "Nov/20/2026 06:00:00"} {
		if got, err := routeros.ParseDate(text, time.UTC); err != nil || !got.Equal(want) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	if _, err := routeros.ParseDate("never", time.UTC); err == nil {
		t.Error("never is a date")
	}
}

func TestParseRate_ComparesNumerically(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]routeros.Rate{
		"10M/20M": {Upload: 10e6, Download: 20e6}, "10000000/20000000": {Upload: 10e6, Download: 20e6},
		"512k": {Upload: 512e3, Download: 512e3}, "1G/0": {Upload: 1e9}, "0/0": {},
	} {
		if got, err := routeros.ParseRate(text); err != nil || got != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "/", "M", "10m/1M", "-1/1", "9999999999999999999G", "1M/1M/1M"} {
		if got, err := routeros.ParseRate(text); err == nil {
			t.Errorf("%q was read as %v", text, got)
		}
	}
}

func TestParseVersion_Orders(t *testing.T) {
	t.Parallel()
	var last routeros.Version
	for _, text := range []string{
		"6.49.10 (stable)", "7.1", "7.6 (stable)", "7.16 (stable)", "7.20beta4", "7.23.7 (long-term)",
	} {
		v, err := routeros.ParseVersion(text)
		if err != nil || v.Compare(last) <= 0 {
			t.Errorf("%q: %v, %v", text, v, err)
		}
		last = v
	}
	if _, err := routeros.ParseVersion("MikroTik"); err == nil {
		t.Error("a name is a version")
	}
}

func FuzzParseDuration(f *testing.F) {
	for _, text := range []string{"1w2d3h4m5s", "500ms", "00:05:00", "1d02:03:04", "never", "", "300"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := routeros.ParseDuration(text)
		if err != nil {
			return
		}
		if d < 0 {
			t.Fatalf("%q is %v", text, d)
		}
		if again, err := routeros.ParseDuration(routeros.FormatDuration(d)); err != nil ||
			again != d.Truncate(time.Millisecond) {
			t.Fatalf("%q is %v, written %q, read %v, %v", text, d, routeros.FormatDuration(d), again, err)
		}
	})
}

func FuzzParseRate(f *testing.F) {
	for _, text := range []string{"10M/20M", "512k", "0/0", "1G/1", "x"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := routeros.ParseRate(text)
		if err != nil {
			return
		}
		if again, err := routeros.ParseRate(r.String()); err != nil || again != r || r.Upload < 0 || r.Download < 0 {
			t.Fatalf("%q is %v, read again %v, %v", text, r, again, err)
		}
	})
}

func FuzzParseVersion(f *testing.F) {
	for _, text := range []string{"7.16 (stable)", "6.49.10", "7.20beta4", "."} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, err := routeros.ParseVersion(text)
		if err != nil {
			return
		}
		if again, err := routeros.ParseVersion(v.String()); err != nil || again != v {
			t.Fatalf("%q is %v, read again %v, %v", text, v, again, err)
		}
	})
}

func FuzzParseDate(f *testing.F) {
	for _, text := range []string{"2026-11-20 06:00:00", "nov/20/2026 06:00:00", "never"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if at, err := routeros.ParseDate(text, time.UTC); err == nil && (at.Year() < 0 || at.Year() > 9999) {
			t.Fatalf("%q is %v", text, at)
		}
	})
}

package main

import (
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/benchtest"
	"github.com/lastmile-isp/lastmile/web"
)

// Numbers of the benchmarks in the browser, and what is wanted of pages, on a processor that is four times slower.
// Source: docs/development.md#pages-in-a-browser.
const (
	pageWarmWithin  = 1500 * time.Millisecond // a page that was opened before, until it answers a key
	firstLoadWithin = 250.0                   // kilobytes of the first page, compressed by gzip
	partWithin      = time.Second             // another part of a list of 100,000 rows
	benchLoads      = 5                       // of a page, in each round
	benchScroll     = 30                      // seconds of scrolling, at most
)

// chromiumProgram is Debian's Chromium, or the one at CHROMIUM.
func chromiumProgram() string {
	if of := os.Getenv("CHROMIUM"); of != "" {
		return of
	}
	return "/usr/bin/chromium"
}

// withoutBrowser reports whether the pages or what opens them are missing, and makes a row that says so.
func withoutBrowser(b *testing.B) bool {
	pages, err := web.New()
	if err != nil {
		b.Fatal(err)
	}
	_, errNode := exec.LookPath("node")
	_, errModules := os.Stat("../../web/node_modules/playwright-core")
	_, errChromium := os.Stat(chromiumProgram())
	if pages.Built() && errNode == nil && errModules == nil && errChromium == nil {
		return false
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(1, "browser_missing")
	b.Log("pages built by `make build`, nodejs and chromium are needed")
	return true
}

// newPagesKit starts the whole program with 100,000 customers, and a host that browsers take for a secure one.
func newPagesKit(b *testing.B) *kit {
	k := newBenchKit(b)
	k.fillSubscribers(b, k.organizationID("acme").String(), benchtest.Size(b, "ROWS", 100_000))
	return k
}

// browse runs a script of web/bench and reads what it found.
func (k *kit) browse(b *testing.B, script string, asks map[string]any, out any) {
	b.Helper()
	_, port, err := net.SplitHostPort(k.addr)
	if err != nil {
		b.Fatal(err)
	}
	asks["origin"], asks["token"] = "http://"+k.admin.host+":"+port, k.admin.token
	given, err := json.Marshal(asks)
	if err != nil {
		b.Fatal(err)
	}
	cmd := exec.CommandContext(b.Context(), "node", script, string(given))
	cmd.Dir, cmd.Stderr = filepath.Join("..", "..", "web", "bench"), os.Stderr
	found, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(found, out)
	}
	if err != nil {
		b.Fatalf("%s: %v: %s", script, err, found)
	}
}

// openedPage has milliseconds, as page.mjs gives them.
type openedPage struct {
	Cold, Warm, Shown, Worst, LimitCold, LimitWarm float64
	Files                                          []string
}

// BenchmarkPages measures, in Chromium on a processor that is four times slower, how long a page takes until it shows
// what it was opened for and a key opens the search: the first time, and later. The limit is a page without anything
// that asks for the same, writes it as text and knows the key.
func BenchmarkPages(b *testing.B) {
	if withoutBrowser(b) {
		return
	}
	k := newPagesKit(b)
	customer, _ := k.subscriber("254711000777")
	k.subscribe(customer, k.plan("HOME10", 1500))
	open := func(name, path, shown string, reads ...string) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				var p openedPage
				k.browse(b, "page.mjs", map[string]any{
					"path": path, "shown": shown, "reads": reads, "loads": benchLoads,
					"rounds": 1,
				}, &p)
				b.ReportMetric(0, "ns/op") // the time of the whole measurement has no meaning
				b.ReportMetric(p.Cold, "cold_ms")
				b.ReportMetric(p.Warm, "warm_ms")
				b.ReportMetric(p.Shown, "warm_shown_ms")
				b.ReportMetric(p.LimitWarm, "limit_warm_ms")
				b.ReportMetric(p.LimitWarm/p.Warm, "ratio")
				b.Logf("warm %.0f ms, the longest %.0f, aim below %v", p.Warm, p.Worst, pageWarmWithin)
				reportFirstLoad(b, p.Files)
			}
		})
	}
	open("Home", "/", "main .mantine-Grid-root", "/auth/me", "/settings/organization", "/reports/today")
	open("Customers", "/customers", `main tr[data-index="20"] a`,
		"/auth/me", "/settings/organization", "/plans?limit=100", "/subscribers?limit=100", "/reports/customers")
	open("Customer", "/customers/"+customer, "main .answer",
		"/auth/me", "/settings/organization", "/subscribers/"+customer, "/subscribers/"+customer+"/access")
}

// reportFirstLoad reports how much a browser fetches that opens the page for the first time.
func reportFirstLoad(b *testing.B, files []string) {
	b.Helper()
	sum := 0.0
	slices.Sort(files)
	for _, name := range slices.Compact(files) {
		if size := compressedSize(path.Base(name)); size > 0 {
			sum += size
			if size > 5 {
				b.Logf("%6.1f kB  %s", size, path.Base(name))
			}
		}
	}
	b.ReportMetric(sum, "first_load_kB")
	b.Logf("first load %.0f kB, aim below %.0f", sum, firstLoadWithin)
}

// compressedSize is the size of a file of the pages by gzip, in kilobytes.
func compressedSize(name string) float64 {
	file := filepath.Join("..", "..", "web", "dist", "assets", name)
	found, err := os.Stat(file + ".gz")
	if err != nil {
		found, err = os.Stat(file)
	}
	if err != nil {
		return 0
	}
	return float64(found.Size()) / 1000
}

// scrolled has milliseconds, shares and numbers of rows, as scroll.mjs gives them.
type scrolled struct{ P95, Longest, Long, Empty, LateP95, Reached, RowsEach, Part, Limit, Heap float64 }

// BenchmarkScroll measures, in Chromium on a processor that is four times slower, frames while the list of 100,000
// customers is scrolled by a dozen rows each, how many rows come when the bar is dragged to its end again and again,
// and the time from typing into the filter until another part of the list is there. The limit is the frames of a page
// as tall as the list with nothing to draw.
func BenchmarkScroll(b *testing.B) {
	if withoutBrowser(b) {
		return
	}
	k := newPagesKit(b)
	for b.Loop() {
		var s scrolled
		k.browse(b, "scroll.mjs", map[string]any{
			"rows": benchtest.Size(b, "ROWS", 100_000), "seconds": benchtest.Size(b, "SCROLL_SECONDS", benchScroll),
		}, &s)
		b.ReportMetric(0, "ns/op") // the time of the whole measurement has no meaning
		b.ReportMetric(s.Limit/s.P95, "ratio")
		b.ReportMetric(s.P95, "frame_p95_ms")
		b.ReportMetric(s.LateP95, "frame_late_p95_ms")
		b.ReportMetric(s.Longest, "frame_longest_ms")
		b.ReportMetric(100*s.Long, "over_50ms_%")
		b.ReportMetric(100*s.Empty, "empty_%")
		b.ReportMetric(s.Reached, "rows")
		b.ReportMetric(s.RowsEach, "rows/s")
		b.ReportMetric(s.Part, "part_ms")
		b.ReportMetric(s.Heap, "heap_MB")
		b.Logf("another part after %.0f ms, aim below %v", s.Part, partWithin)
	}
}

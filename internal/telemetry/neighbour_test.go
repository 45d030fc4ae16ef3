package telemetry_test

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
)

// neighbours are starts of a router of the kit's organization and one of another organization, with their routers.
func (k *kit) neighbours(n int) (crowd []telemetry.Report, calm telemetry.Report) {
	for i := range n {
		r := k.at(telemetry.Start, 0, 0, 0)
		r.Session, r.MAC = fmt.Sprintf("s%d", i), fmt.Sprintf("02:00:00:%02X:%02X:%02X", i>>16, i>>8&255, i&255)
		crowd = append(crowd, r)
	}
	calm = k.at(telemetry.Start, 0, 0, 0)
	calm.Org, calm.Device, calm.Session = id.New[id.Organization](), id.New[id.Device](), "calm"
	return crowd, calm
}

func TestRecorder_ManyReportsOfOneOrganizationLeaveTheOthersTheirTurns(t *testing.T) {
	t.Parallel()
	k := open(t)
	r := telemetry.NewRecorder(telemetry.Config{Store: k.Store, Directory: k.directory(), SpoolDir: t.TempDir()})
	crowd, calm := k.neighbours(32_000)
	answers := make(chan string, len(crowd)+1)
	for _, one := range append(crowd, calm) { // before the start, so that all of them wait
		r.Record(one, func(durable bool) {
			if !durable {
				t.Errorf("%s is refused", one.Session)
			}
			answers <- one.Session
		})
	}
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Stop)
	before := 0
	for got := ""; got != "calm"; before++ {
		got = <-answers
	}
	if before > 2000 {
		t.Errorf("%d reports of one organization were answered before the only one of another", before)
	}
}

func TestRecorder_ReportsOfOneOrganizationThatWaitLeaveRoomForOthers(t *testing.T) {
	t.Parallel()
	k := open(t)
	r := telemetry.NewRecorder(telemetry.Config{Store: k.Store, Directory: k.directory(), SpoolDir: t.TempDir()})
	crowd, calm := k.neighbours(1)
	refused := uint64(0)
	for range 201_000 {
		r.Record(crowd[0], func(bool) { refused++ })
	}
	r.Record(calm, func(bool) { t.Error("another organization's report is refused") })
	if got := r.Status().Refused.Waiting; refused == 0 || got != refused {
		t.Errorf("%d refused, %d counted", refused, got)
	}
}

func TestSpool_OneOrganizationHasAShareOfIt(t *testing.T) {
	t.Parallel()
	k := open(t)
	dir := t.TempDir()
	r := telemetry.NewRecorder(telemetry.Config{
		Store: k.away(t), Directory: k.directory(), SpoolDir: dir, SpoolLimit: 40_000,
	})
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Stop)
	crowd, calm := k.neighbours(1000)
	kept := record(r, crowd...)
	if got := r.Status(); kept == 0 || kept == len(crowd) || got.Refused.Spool != uint64(len(crowd)-kept) ||
		got.SpoolBytes > 20_000 || got.SpoolBytes < 19_000 {
		t.Errorf("%d kept, %+v", kept, got)
	}
	if record(r, crowd[len(crowd)-1]) != 0 || r.Status().Fault == "" {
		t.Errorf("no fault is shown: %+v", r.Status())
	}
	if record(r, calm) != 1 || r.Status().Fault != "" {
		t.Errorf("another organization is refused: %+v", r.Status())
	}
}

func TestSpool_IsTakenByOrganizationsInTurn(t *testing.T) {
	t.Parallel()
	k := open(t)
	dir := t.TempDir()
	gone := k.recorder(t, k.away(t), dir, nil)
	crowd, calm := k.neighbours(9000)
	if n := record(gone, crowd...) + record(gone, calm); n != len(crowd)+1 {
		t.Fatalf("%d kept", n)
	}
	gone.Stop()
	r := telemetry.NewRecorder(telemetry.Config{Store: k.Store, Directory: k.directory(), SpoolDir: dir})
	d := &telemetry.Death{At: 4, Dead: make(chan struct{})} // when the first group is taken
	r.Await(d)
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Stop)
	<-d.Dead
	if n, all := len(k.rows(t.Context(), t, calm.Device)), len(k.rows(t.Context(), t, k.device)); n != 1 || all > 2000 {
		t.Errorf("%d of another organization after %d of the first one", n, all)
	}
}

func TestSpool_FilesGoWhenAllTheyHaveIsTaken(t *testing.T) {
	t.Parallel()
	k := open(t)
	dir := t.TempDir()
	start := func(s *telemetry.Store) *telemetry.Recorder {
		r := telemetry.NewRecorder(telemetry.Config{Store: s, Directory: k.directory(), SpoolDir: dir})
		r.SmallFiles(300)
		if err := r.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(r.Stop)
		return r
	}
	gone := start(k.away(t))
	for _, one := range k.stops(k.device, 0, 12) {
		record(gone, one)
	}
	gone.Stop()
	files, err := filepath.Glob(filepath.Join(dir, "reports", "*"))
	if err != nil || len(files) < 4 {
		t.Errorf("only %v, %v", files, err)
	}
	r := start(k.Store)
	settle(t, r)
	r.Stop()
	files, err = filepath.Glob(filepath.Join(dir, "reports", "*"))
	if err != nil || len(files) > 2 { // the one that is written, and the one that is ready to be
		t.Errorf("%v, %v", files, err)
	}
	r = start(k.away(t)) // so that nothing could be taken
	if r.Spooled() {
		t.Error("what was taken is there again")
	}
	rows := k.rows(t.Context(), t, k.device)
	if len(rows) != 12 || !slices.IsSortedFunc(rows, func(a, b row) int { return int(a.Down - b.Down) }) {
		t.Errorf("%+v", rows)
	}
}

// TestSpool_FilesOfOlderProgramsAreRead: two files, and both forms of a report.
func TestSpool_FilesOfOlderProgramsAreRead(t *testing.T) {
	t.Parallel()
	k := open(t)
	dir := t.TempDir()
	first, second := k.at(telemetry.Interim, time.Minute, 1, 1), k.at(telemetry.Stop, time.Hour, 5, 7)
	for name, octets := range map[string][]byte{
		"accounting.spool":          telemetry.JSONRecord(t, first),
		"accounting.spool.00000007": telemetry.OldRecord(t, second),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), octets, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var heard []telemetry.Kind
	r := telemetry.NewRecorder(telemetry.Config{
		Store: k.Store, Directory: k.directory(), SpoolDir: dir,
		Heard: func(r telemetry.Report) { heard = append(heard, r.Kind) },
	})
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Stop)
	settle(t, r)
	if got := k.only(t); got.Down != 5 || got.Seconds != 3600 {
		t.Errorf("%+v", got)
	}
	if !slices.Equal(heard, []telemetry.Kind{telemetry.Interim, telemetry.Stop}) {
		t.Errorf("heard %v", heard)
	}
	if files, err := filepath.Glob(filepath.Join(dir, "accounting.spool*")); err != nil || len(files) != 0 {
		t.Errorf("%v are left, %v", files, err)
	}
}

// TestRecorder_ReportsThatCannotBeStoredHoldNoOtherOrganizationUp: their own good ones are stored, too, and the log has
// one line about them.
func TestRecorder_ReportsThatCannotBeStoredHoldNoOtherOrganizationUp(t *testing.T) {
	t.Parallel()
	const count = 20
	k := open(t)
	var log strings.Builder
	var commits, until atomic.Int64
	r := telemetry.NewRecorder(telemetry.Config{
		Store: k.Store, Directory: k.directory(), SpoolDir: t.TempDir(), Clock: clock.NewManual(noon),
		Logger: slog.New(slog.NewTextHandler(&log, nil)),
		Began: func(r telemetry.Report) {
			if r.Org != k.org {
				until.Store(commits.Load())
			}
		},
	})
	r.AlwaysSpool()
	filled, begun := make(chan struct{}), make(chan struct{})
	var first sync.Once
	r.Watch(func(step string) {
		if step == "before commit" {
			first.Do(func() { close(begun) })
			<-filled
			commits.Add(1)
		}
	}, func(time.Duration) {})
	crowd, calm := k.neighbours(2*count + 1)
	alone, crowd := crowd[0], crowd[1:] // it is taken by itself, and the others as one group after it
	var list []telemetry.Report
	for i, one := range crowd {
		if i%2 == 0 { // in a year that the database does not have
			one.At = time.Date(300000, 1, 1, 0, 0, 0, 0, time.UTC)
		} else {
			calm.Session, calm.MAC = one.Session, one.MAC
			list = append(list, calm)
		}
		list = append(list, one)
	}
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Stop)
	record(r, alone)
	<-begun
	record(r, list...)
	close(filled)
	settle(t, r)
	r.Stop()
	if n := until.Load(); n > 4 { // the first one, all together, and each organization by itself
		t.Errorf("the others are in the tables after %d commits of %d", n, commits.Load())
	}
	if bad, of := r.Status().Dropped, len(k.rows(t.Context(), t, calm.Device)); bad != count || of != count {
		t.Errorf("%d dropped, %d sessions of the others", bad, of)
	}
	if n := len(k.rows(t.Context(), t, k.device)); n != count+1 {
		t.Errorf("%d sessions of the organization itself", n)
	}
	if n := strings.Count(log.String(), "level=ERROR"); n != 1 {
		t.Errorf("%d lines: %s", n, log.String())
	}
}

// TestRecorder_WhatReportsCostThatCannotBeStoredTheOthersHaveFirst: each try takes a second, and the groups of others
// nothing.
func TestRecorder_WhatReportsCostThatCannotBeStoredTheOthersHaveFirst(t *testing.T) {
	t.Parallel()
	const count = 16
	k, clocks := open(t), clock.NewManual(noon)
	var began, tries, before atomic.Int64 // of the others' sessions; tries before the last one
	r := telemetry.NewRecorder(telemetry.Config{
		Store: k.Store, Directory: k.directory(), SpoolDir: t.TempDir(), Clock: clocks,
		Began: func(r telemetry.Report) {
			if r.Org != k.org && began.Add(1) == 5*count {
				before.Store(tries.Load())
			}
		},
	})
	r.AlwaysSpool()
	r.SmallGroups(2 * count)
	filled, done := make(chan struct{}), began.Load()
	r.Watch(func(step string) {
		switch step {
		case "before commit":
			<-filled
			done = began.Load()
		case "committed":
			if began.Load() == done {
				tries.Add(1)
				clocks.Advance(time.Second)
			}
		}
	}, func(time.Duration) {})
	bad, calm := k.neighbours(count)
	var list []telemetry.Report
	for _, one := range bad {
		one.At = time.Date(300000, 1, 1, 0, 0, 0, 0, time.UTC)
		list = append(list, one)
	}
	for i := range 5 * count {
		calm.Session, calm.User, calm.MAC = fmt.Sprintf("calm%d", i), fmt.Sprintf("calm%d", i), ""
		list = append(list, calm)
	}
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Stop)
	record(r, list...)
	close(filled)
	settle(t, r)
	r.Stop()
	if n := before.Load(); n == 0 || n > 3 { // both together, the one that is put aside, and one try
		t.Errorf("%d of %d transactions without a report of the others are before their last one", n, tries.Load())
	}
	if got := r.Status().Dropped; got != count || began.Load() != 5*count {
		t.Errorf("%d dropped, %d sessions of the others", got, began.Load())
	}
}

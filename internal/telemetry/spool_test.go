package telemetry_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/internal/waittest"
)

// away is a kit on the same tables whose database never answers.
func (k *kit) away(t *testing.T) *telemetry.Store {
	t.Helper()
	db := pgtest.Open(t, k.db.URL, k.db.Namespace)
	s, err := telemetry.Open(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	db.Close()
	return s
}

// recorder starts a recorder on a directory; the test ends it.
func (k *kit) recorder(
	t *testing.T, s *telemetry.Store, dir string, d *telemetry.Death,
	prepare ...func(*telemetry.Recorder),
) *telemetry.Recorder {
	t.Helper()
	r := telemetry.NewRecorder(telemetry.Config{Store: s, Directory: k.directory(), SpoolDir: dir})
	if d != nil {
		r.Await(d)
		r.SmallFiles(200) // a kill finds several
	}
	for _, change := range prepare {
		change(r)
	}
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Stop)
	return r
}

// settle waits until nothing is spooled.
func settle(t *testing.T, r *telemetry.Recorder) {
	t.Helper()
	for end := time.Now().Add(waittest.Limit); r.Spooled(); runtime.Gosched() {
		if time.Now().After(end) {
			t.Fatal("the spool is not taken")
		}
	}
}

// stops are reports of whole sessions, each of a name and with bytes of its own.
func (k *kit) stops(device id.Device, from, n int) []telemetry.Report {
	var list []telemetry.Report
	for i := range n {
		r := k.at(telemetry.Stop, time.Hour, uint64(from+i+1), 1)
		r.Device, r.Session, r.User = device, fmt.Sprintf("81%06x", from+i), fmt.Sprintf("user%06x", from+i)
		list = append(list, r)
	}
	return list
}

// tell records reports one by one, until the recorder dies, and returns those that were acknowledged.
func tell(r *telemetry.Recorder, d *telemetry.Death, reports []telemetry.Report) (acknowledged []telemetry.Report) {
	for _, report := range reports {
		answer := make(chan bool, 1)
		r.Record(report, func(durable bool) { answer <- durable })
		select {
		case durable := <-answer:
			if durable {
				acknowledged = append(acknowledged, report)
			}
		case <-d.Dead:
			return acknowledged
		}
	}
	return acknowledged
}

func TestSpool_AKillBetweenAnyTwoStepsLosesNothingAndDoublesNothing(t *testing.T) {
	t.Parallel()
	k := open(t)
	gone := k.away(t)
	t.Run("the database is away and comes back", func(t *testing.T) {
		t.Parallel()
		k.kill(t, gone, func(*telemetry.Recorder) {})
	})
	t.Run("reports come faster than the database takes them", func(t *testing.T) {
		t.Parallel()
		k.kill(t, k.Store, (*telemetry.Recorder).AlwaysSpool)
	})
}

// kill kills recorders at each of their steps. The first one has a store of its own, and prepare changes the first two.
func (k *kit) kill(t *testing.T, store *telemetry.Store, prepare func(*telemetry.Recorder)) {
	seen := map[string]bool{}
	for n := 1; ; n++ {
		device, dir := id.New[id.Device](), t.TempDir()
		death := &telemetry.Death{At: n, Dead: make(chan struct{})}
		reports := k.stops(device, 0, 6)
		first := k.recorder(t, store, dir, death, prepare)
		acknowledged := tell(first, death, reports[:3])
		first.Stop()
		second := k.recorder(t, k.Store, dir, death, prepare)
		acknowledged = append(acknowledged, tell(second, death, reports[3:])...)
		for len(death.Names()) < n && second.Spooled() {
			runtime.Gosched()
		}
		second.Stop()
		third := k.recorder(t, k.Store, dir, nil)
		settle(t, third)
		rows := k.rows(t.Context(), t, device)
		for _, r := range acknowledged {
			if !slices.ContainsFunc(rows, func(have row) bool { return have.Key == r.Session }) {
				t.Errorf("killed at step %d %v: %s was acknowledged and is lost", n, death.Names(), r.Session)
			}
		}
		record(third, reports...) // routers repeat what was not answered
		settle(t, third)
		third.Stop()
		rows = k.rows(t.Context(), t, device)
		if len(rows) != len(reports) {
			t.Errorf("killed at step %d: %d sessions", n, len(rows))
		}
		for i, have := range rows {
			if have.Down != int64(i+1) {
				t.Errorf("killed at step %d: %+v", n, have)
			}
		}
		for _, name := range death.Names() {
			seen[name] = true
		}
		if len(death.Names()) < n {
			break
		}
	}
	if len(seen) < 7 { // whether another file is begun depends on who is quicker
		t.Errorf("tried only %v", seen)
	}
}

func TestSpool_ADatabaseThatIsTooSlowForAGroupTakesSmallerOnes(t *testing.T) {
	t.Parallel()
	k := open(t)
	k.BoundDay(1, 1, 600) // all are of one subscription
	dir := t.TempDir()
	gone := k.recorder(t, k.away(t), dir, nil)
	if n := record(gone, k.stops(k.device, 0, 600)...); n != 600 {
		t.Fatalf("%d acknowledged", n)
	}
	gone.Stop()
	slow := strings.ReplaceAll(`create function {schema}.slow() returns trigger language plpgsql as
		$$begin perform pg_sleep(0.002); return new; end$$;
		create trigger slow before insert on {schema}.sessions for each row execute function {schema}.slow()`,
		"{schema}", k.schema())
	if _, err := k.db.Owner.Exec(t.Context(), slow); err != nil {
		t.Fatal(err)
	}
	r := telemetry.NewRecorder(telemetry.Config{Store: k.Store, Directory: k.directory(), SpoolDir: dir})
	r.Hurry(time.Second) // 600 rows take more
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Stop)
	settle(t, r)
	if n := len(k.rows(t.Context(), t, k.device)); n != 600 {
		t.Errorf("%d sessions", n)
	}
}

func TestSpool_ReportsAreHeardWhenTheyComeAndAgainAfterAKill(t *testing.T) {
	t.Parallel()
	k := open(t)
	dir, gone := t.TempDir(), k.away(t)
	reports := k.stops(k.device, 0, 5)
	for range 2 { // the second one gets them from the file, although the database is still away
		heard := make(chan string, 5)
		r := telemetry.NewRecorder(telemetry.Config{
			Store: gone, Directory: k.directory(), SpoolDir: dir,
			Heard: func(r telemetry.Report) { heard <- r.Session },
		})
		if err := r.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		record(r, reports...)
		r.Stop()
		for n := range 5 {
			if got, want := <-heard, fmt.Sprintf("81%06x", n); got != want {
				t.Errorf("heard %q, want %q", got, want)
			}
		}
		reports = nil
	}
}

func TestSpool_ATornEndIsCutOffAndTheRestIsTaken(t *testing.T) {
	t.Parallel()
	k := open(t)
	gone, whole := k.away(t), t.TempDir()
	r := k.recorder(t, gone, whole, nil)
	if n := record(r, k.stops(k.device, 0, 3)...); n != 3 {
		t.Fatalf("%d acknowledged", n)
	}
	r.Stop()
	file := filepath.Join("reports", "00000001")
	body, err := os.ReadFile(filepath.Join(whole, file))
	if err != nil {
		t.Fatal(err)
	}
	const head = 512
	body = bytes.TrimRight(body, "\x00")
	for len(body) < head || (len(body)-head)%3 != 0 { // the last octets of a record can be zeros
		body = append(body, 0)
	}
	var old []byte
	for _, r := range k.stops(k.device, 0, 3) {
		old = append(old, telemetry.OldRecord(t, r)...)
	}
	for _, c := range []struct {
		name string
		body []byte
		head int
	}{{file, body, head}, {"accounting.spool", old, 0}} {
		name, body, record1 := c.name, c.body, (len(c.body)-c.head)/3
		for _, torn := range [][]byte{
			body[:len(body)-1], body[:c.head+2*record1+1],
			append(slices.Clone(body[:c.head+2*record1]), make([]byte, 4096)...),
			append(slices.Clone(body[:len(body)-1]), body[len(body)-1]^1),
		} {
			k.torn(t, name, torn)
		}
	}
}

// torn takes a file that has two whole reports.
func (k *kit) torn(t *testing.T, name string, torn []byte) {
	t.Helper()
	device, dir := k.device, t.TempDir()
	if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), torn, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := k.db.Owner.Exec(t.Context(), "delete from "+k.schema()+".sessions"); err != nil {
		t.Fatal(err)
	}
	r := k.recorder(t, k.Store, dir, nil)
	settle(t, r)
	if got := k.rows(t.Context(), t, device); len(got) != 2 {
		t.Errorf("%s of %d bytes: %+v", name, len(torn), got)
	}
	if n := record(r, k.stops(device, 3, 1)...); n != 1 || len(k.rows(t.Context(), t, device)) != 3 {
		t.Errorf("%s of %d bytes: nothing follows", name, len(torn))
	}
	r.Stop()
	if _, err := os.Stat(filepath.Join(dir, "accounting.spool")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the old file is still there: %v", err)
	}
}

func TestSpool_OneProgramAtATimeAndAtMostItsLimit(t *testing.T) {
	t.Parallel()
	k := open(t)
	dir, gone := t.TempDir(), k.away(t)
	r := telemetry.NewRecorder(telemetry.Config{Store: gone, Directory: k.directory(), SpoolDir: dir, SpoolLimit: 1000})
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Stop)
	other := telemetry.NewRecorder(telemetry.Config{Store: gone, Directory: k.directory(), SpoolDir: dir})
	if err := other.Start(t.Context()); err == nil {
		t.Error("a second program has the same spool")
	}
	if n := record(r, k.stops(k.device, 0, 1)...); n != 1 {
		t.Error("the first report is refused")
	}
	if n := record(r, k.stops(k.device, 1, 9)...); n == 9 {
		t.Error("the limit is exceeded")
	}
}

func TestSpool_WhileTheServerIsAwayReportsAreAcknowledgedAndTakenInLater(t *testing.T) {
	t.Parallel()
	cluster, err := postgres.StartCluster(t.Context(), postgres.ClusterConfig{
		DataDir: t.TempDir() + "/pg", Scratch: true, MaxConnections: 100,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cluster.Stop(context.WithoutCancel(t.Context())) })
	db, err := postgres.Open(t.Context(), postgres.Config{URL: cluster.URL(), Namespace: "outage", MaxConns: 4})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	k := openOn(t, db)
	r := k.recorder(t, k.Store, t.TempDir(), nil)
	reports := k.stops(k.device, 0, 30)
	for i := 0; i < 30; i += 10 {
		if n := record(r, reports[i:i+10]...); n != 10 {
			t.Errorf("%d of 10 acknowledged", n)
		}
		if i == 0 {
			stopServer(t, cluster)
		}
		if i == 10 {
			if !r.Spooled() {
				t.Error("nothing was spooled")
			}
			if err := cluster.Restart(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	settle(t, r)
	got := k.rows(t.Context(), t, k.device)
	var want []row
	for i := range 30 {
		want = append(want, row{
			fmt.Sprintf("81%06x", i), fmt.Sprintf("user%06x", i), noon, noon.Add(time.Hour), telemetry.ReasonStopped,
			int64(i + 1), 1, 3600,
		})
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// stopServer kills the server and waits for its end.
func stopServer(t *testing.T, c *postgres.Cluster) {
	t.Helper()
	p, err := os.FindProcess(c.PID())
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	<-c.Done()
}
